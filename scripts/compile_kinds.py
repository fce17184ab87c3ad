"""Compiles profiles/kinds/*.yaml to profiles/compiled/kinds.json, which policykit reads at run time.

    python -m scripts.compile_kinds [--check]

An entry may inherit from another kind of its file with `like:` (of the same version if there are
several) and list the differences: `moved` (a path prefix to its replacement), `without`
(keys it does not have), `stored: true` (another object creates its pods), and any key that
overrides the inherited one.
"""

import json
import sys
from functools import reduce
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "profiles" / "kinds"
TARGET = ROOT / "profiles" / "compiled" / "kinds.json"
SELECTORS = "selectors.yaml"

Entry = dict[str, Any]


def compiled() -> bytes:
    """The table: selectors, entries in file order, and `apiVersion/kind` to the entry's number."""
    entries = sources()
    served: dict[str, int] = {}
    for number, entry in enumerate(entries):
        for version in api_versions(entry):
            key = f"{version}/{entry['kind']}"
            if key in served:
                raise ValueError(f"{key} is described twice")
            served[key] = number
    table = {
        "selectors": _load(SOURCES / SELECTORS)["selectors"],
        "served": dict(sorted(served.items())),
        "entries": entries,
    }
    return (json.dumps(table, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


def sources() -> list[Entry]:
    """Every entry of profiles/kinds/, complete, in the order of the files and in them."""
    files = (file for file in sorted(SOURCES.glob("*.yaml")) if file.name != SELECTORS)
    return [entry for file in files for entry in expanded(_load(file))]


def api_versions(entry: Entry) -> list[str]:
    """Every apiVersion of the entry, older forms of the same shape included."""
    group = entry["group"]
    return [*(f"{group}/{v}" if group else v for v in entry["versions"]), *entry.get("old", ())]


def expanded(file: Entry) -> list[Entry]:
    """The entries of one source, each complete."""
    entries: list[Entry] = []
    for written in file["kinds"]:
        entry = {"group": file["group"], **written}
        if "like" in entry:
            entry = _derived(entries, entry)
        entries.append(entry)
    return entries


def _derived(earlier: list[Entry], written: Entry) -> Entry:
    wanted = written.pop("like")
    models = [entry for entry in earlier if entry["kind"] == wanted]
    model = next((m for m in models if m["versions"] == written["versions"]), models[-1])
    derived = _moved(model, written.pop("moved", {}))
    for dotted in written.pop("without", ()):
        *keys, last = dotted.split(".")
        del reduce(dict.__getitem__, keys, derived)[last]
    derived = {key: value for key, value in derived.items() if key not in ("old", "cluster_scoped")}
    if written.pop("stored", False):
        for template in derived["templates"].values():
            if template.get("use", "pods") == "pods":
                template["use"] = "stored"
    entry: Entry = _laid_over(derived, written)
    return entry


def _moved(value: Any, prefixes: dict[str, str]) -> Any:
    """Copies `value` with every path below a prefix put below the other."""
    if isinstance(value, dict):
        return {k: v if k == "elsewhere" else _moved(v, prefixes) for k, v in value.items()}
    if isinstance(value, list):
        return [_moved(item, prefixes) for item in value]
    if isinstance(value, str):
        for old, new in prefixes.items():
            if value == old or value.startswith((f"{old}.", f"{old}[", f"{old}{{")):
                return new + value[len(old) :]
    return value


def _laid_over(below: Any, above: Any) -> Any:
    if isinstance(below, dict) and isinstance(above, dict):
        kept = {k: v for k, v in below.items() if k not in above}
        laid = {k: _laid_over(below[k], v) if k in below else v for k, v in above.items()}
        order = [*below, *(k for k in above if k not in below)]
        return {k: {**kept, **laid}[k] for k in order}
    return above


def _load(source: Path) -> Any:
    return yaml.safe_load(source.read_text(encoding="utf-8"))


def main(arguments: list[str]) -> int:
    """Returns 0 if the table was written or is up to date, 1 if `--check` finds it out of date."""
    fresh = compiled()
    if "--check" in arguments:
        if TARGET.is_file() and TARGET.read_bytes() == fresh:
            return 0
        print(
            f"{TARGET.relative_to(ROOT)} is out of date: run python -m scripts.compile_kinds", file=sys.stderr
        )
        return 1
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_bytes(fresh)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
