"""docs/reference/releases.md, from the tables of the program."""

from pathlib import Path

from policykit.targets.releases import reference

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "releases.md"


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
