"""Writes schemas/policy.json from the policy models; with --check, checks whether it is up to date."""

import json
import sys
from pathlib import Path

from policykit.policy.schema import file_schema

PATH = Path(__file__).resolve().parent.parent / "schemas" / "policy.json"


def text() -> str:
    """The schema file, byte-stable."""
    return json.dumps(file_schema(), indent=2, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> int:
    wanted = text()
    if "--check" in arguments:
        if PATH.is_file() and PATH.read_text(encoding="utf-8") == wanted:
            return 0
        print(f"schemas/{PATH.name} is out of date: run scripts/export_policy_schema.py", file=sys.stderr)
        return 1
    PATH.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
