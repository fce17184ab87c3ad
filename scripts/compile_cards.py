"""Compiles profiles/cards/ to the JSON tables that policykit reads at run time.

    python -m scripts.compile_cards [--check]

One table per question: `cards` (vendors and products), `resources`, `labels`, `daemons`.
With `--check` nothing is written, and the exit code is 1 if a table is out of date.
"""

import json
import re
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

import yaml

from policykit.catalogue.listing import CONFIDENCE, EVIDENCE, GRADES

PROFILES = Path(__file__).resolve().parent.parent / "profiles"
SOURCES = PROFILES / "cards"
COMPILED = PROFILES / "compiled"

Entry = dict[str, Any]

_LABEL_ROLES = ("product", "count", "memory", "driver", "vendor")
_MEMORY_IS_INTEGER = "MiB"
_FACTS = frozenset(
    {
        *("topology_dims", "cores_per_card", "ai_cores", "devices_per_card", "memory_units", "rack"),
        *("logical_cores", "request_step", "ring", "chip_label"),
        *("memory_disputed_gb", "memory_ecc_on", "memory_ecc_off"),
    }
)
"""What is known of few cards, and shown as it is written."""
_PRODUCT_FIELDS = (
    *("product", "name", "evidence", "aliases", "short", "wrong", "resource", "cards_per_node"),
    *("generation", "compute", "formats", "arch", "clique", "slices"),
)


def compile_cards() -> dict[str, bytes]:
    """File name below profiles/compiled/ to its bytes."""
    written = {path.parent.name: _load(path) for path in sorted(SOURCES.glob("*/vendor.yaml"))}
    tables = {
        "cards.json": {"vendors": vendors(written), "products": products(written)},
        "resources.json": resources(written),
        "labels.json": labels(written),
        "daemons.json": daemons(),
    }
    return {name: _text(table) for name, table in tables.items()}


def vendors(written: dict[str, Entry]) -> Entry:
    """Vendor id to the fields of `catalogue.cards.Vendor`. Raises ValueError for an unknown grade."""
    for name, entry in written.items():
        _check(f"{name}/vendor.yaml", "grade", entry["grade"], GRADES)
    return {name: _vendor(entry) for name, entry in written.items()}


def _vendor(entry: Entry) -> Entry:
    known = entry["labels"]
    dra = entry.get("dra", {})
    counts = entry.get("counts", {})
    return _filled(
        {
            **_kept(entry, "name", "domain", "card", "resource", "grade", "makers", "other_cards"),
            "vendor": entry["vendor"],
            "hardware": entry.get("hardware", entry["vendor"]),
            **{f"{role}_key": known.get(role) for role in ("product", "count", "memory", "driver")},
            **_kept(known, "set_by", "memory_format", "gfd"),
            "label_keys": [known[role] for role in _LABEL_ROLES if role in known] + known.get("other", []),
            **_kept(entry, "suffixes", "templates_mib", "taints", "passing_taints", "daemon_tolerations"),
            "allowed_counts": counts.get("allowed"),
            "allowed_when": counts.get("when"),
            "dra_driver": dra.get("driver"),
            "dra_classes": dra.get("device_classes"),
            "dra_resource": dra.get("extended_resource_name"),
        }
    )


def products(written: dict[str, Entry]) -> Entry:
    """Product label value to the fields of `catalogue.cards.Product`."""
    found: Entry = {}
    for vendor in written:
        for path in sorted((SOURCES / vendor).glob("*.yaml")):
            if path.name != "vendor.yaml":
                entry = _load(path)
                if path.stem != entry["product"] or entry["product"] in found:
                    raise ValueError(f"{path.name} does not contain exactly the card it is named after")
                found[entry["product"]] = product(vendor, entry)
    return found


def _check(name: str, what: str, value: str, known: Collection[str]) -> None:
    """Raises ValueError for a value that nothing reads."""
    if value not in known:
        raise ValueError(f"{name}: {what} {value!r} is not one of {', '.join(sorted(known))}")


def product(vendor: str, entry: Entry) -> Entry:
    """The fields of a `catalogue.cards.Product`. Raises ValueError for what nothing reads."""
    rest = dict(entry)
    memory = dict(rest.pop("memory", {}))
    _check(entry["product"], "evidence", entry["evidence"], EVIDENCE)
    if "mib" in memory:
        _check(entry["product"], "confidence", memory["confidence"], CONFIDENCE)
    native = rest.pop("native", {})
    mig = rest.pop("mig", {})
    fields = {name: rest.pop(name, None) for name in _PRODUCT_FIELDS}
    memory_fields = {name: memory.pop(name, None) for name in ("mib", "confidence", "seen", "label")}
    facts = {**{f"memory_{name}": value for name, value in memory.items()}, **rest}
    for name in facts:
        _check(entry["product"], "field", name, _FACTS)
    return _filled(
        {
            **fields,
            "vendor": vendor,
            "native_key": native.get("key"),
            "native_value": native.get("value"),
            **{f"memory_{name}": value for name, value in memory_fields.items()},
            "mig_profiles": mig.get("profiles"),
            "older_mig_profiles": mig.get("older"),
            "mig_taken_from": mig.get("taken_from"),
            "mig_also": mig.get("also"),
            "facts": facts,
        }
    )


def resources(written: dict[str, Entry]) -> Entry:
    """Exact names, patterns by domain, names reserved in a domain, conflicts."""
    names: Entry = {}
    patterns: dict[str, list[Entry]] = {}
    for vendor in sorted(written, key=lambda name: (not _own(written[name]), name)):
        for entry in written[vendor]["resources"]:
            _add(names, patterns, vendor, entry)
    for entry in _load(SOURCES / "network.yaml")["resources"]:
        network = {**_without(entry, "examples"), "role": "network"}
        if entry.get("name") in names:
            names[entry["name"]].update(_without(network, "name", "role"))
        else:
            _add(names, patterns, "", network)
    return {
        "names": names,
        "patterns": patterns,
        "claims": _by_domain(written, "claims"),
        "main": {entry["domain"]: entry["resource"] for entry in written.values() if _own(entry)},
        "bare": _bare(written),
        "exclusive": {
            vendor: entry["exclusive"] for vendor, entry in written.items() if "exclusive" in entry
        },
    }


def _own(entry: Entry) -> bool:
    """Whether the vendor makes the cards itself; others only share them."""
    return bool(entry.get("hardware", entry["vendor"]) == entry["vendor"])


def _add(names: Entry, patterns: dict[str, list[Entry]], vendor: str, entry: Entry) -> None:
    found = _filled({**entry, "vendor": vendor})
    if "pattern" in entry:
        domain = entry["pattern"].partition("/")[0].lstrip("^").replace("\\", "")
        patterns.setdefault(domain, []).append(found)
        return
    first = names.setdefault(entry["name"], _without(found, "name"))
    first.setdefault("offered_by", [])
    if vendor:
        first["offered_by"].append(vendor)


def _by_domain(written: dict[str, Entry], field: str) -> Entry:
    found: Entry = {}
    for entry in written.values():
        found[entry["domain"]] = sorted({*found.get(entry["domain"], ()), *entry.get(field, ())})
    return found


def _bare(written: dict[str, Entry]) -> Entry:
    """Names without a domain to the resources they may mean, vendors with most cards first."""
    found: Entry = {}
    for vendor in sorted(written, key=lambda name: (-len(list((SOURCES / name).iterdir())), name)):
        entry = written[vendor]
        for card in (entry["card"], *entry.get("other_cards", ())):
            name = f"{entry['domain']}/{card}"
            known = any(_names(resource, name) for resource in entry["resources"])
            meant = found.setdefault(card.lower(), [])
            meant += [full for full in [name if known else entry["resource"]] if full not in meant]
    return found


def _names(resource: Entry, name: str) -> bool:
    return bool(re.search(resource["pattern"], name)) if "pattern" in resource else resource["name"] == name


def labels(written: dict[str, Entry]) -> Entry:
    """Node labels: what sets them, and whether their values are integers."""
    known = _load(SOURCES / "labels.yaml")
    providers = _load(SOURCES / "providers.yaml")
    taints, rows = providers["taints"], providers["labels"]
    table: Entry = {
        "keys": {},
        "prefixes": {},
        "by_hand": {},
        "switches": {},
        "retired": {},
        "integers": sorted({*known["integers"], *_integers(written)}),
        "texts": sorted({*_texts(written), *known["texts"], *(row["key"] for row in rows if _is_text(row))}),
        "any_card": sorted(known["any_card"]),
        "machines": sorted(known["machines"]),
        "pools": sorted(known["pools"]),
        "well_known": known["well_known"],
        "provider_keys": {row["key"]: _without(row, "key") for row in rows},
        "provider_prefixes": {
            prefix: provider for provider, prefixes in known["providers"].items() for prefix in prefixes
        },
        "provider_taints": {
            provider: [_without(row, "provider") for row in taints if row["provider"] == provider]
            for provider in {row["provider"] for row in taints}
        },
        "extended_resource_toleration": providers["extended_resource_toleration"],
    }
    for row in rows:
        if "also" in row:
            table["provider_keys"][row["also"]] = {"provider": row["provider"]}
    for vendor, entry in written.items():
        label = entry["labels"]
        for key in [label[role] for role in _LABEL_ROLES if role in label] + label.get("other", []):
            table["keys"].setdefault(key, vendor)
        table["prefixes"].update(dict.fromkeys(label.get("prefixes", ()), vendor))
        table["by_hand"].update(dict.fromkeys(label.get("by_hand", ()), vendor))
        table["switches"].update(dict.fromkeys(label.get("switches", ()), vendor))
        table["retired"].update(label.get("retired", {}))
    return table


def _labels(written: dict[str, Entry]) -> list[Entry]:
    return [entry["labels"] for entry in written.values()]


def _integers(written: dict[str, Entry]) -> list[str]:
    found = []
    for label in _labels(written):
        found += label.get("integers", [])
        found += [label["count"]] if "count" in label else []
        found += [label["memory"]] if label.get("memory_format") == _MEMORY_IS_INTEGER else []
    return found


def _texts(written: dict[str, Entry]) -> list[str]:
    found = []
    for label in _labels(written):
        found += [label[role] for role in ("product", "driver", "vendor") if role in label]
        if "memory" in label and label["memory_format"] != _MEMORY_IS_INTEGER:
            found.append(label["memory"])
    return found


def _is_text(row: Entry) -> bool:
    shown = [*row.get("values", ()), row.get("example", "")]
    return any(shown) and not any(value.isdigit() for value in shown)


def daemons() -> Entry:
    """Image names to role and vendor, and the tolerations that charts ship."""
    source = _load(SOURCES / "daemons.yaml")
    images: Entry = {}
    for role, by_vendor in source["images"].items():
        for vendor, found in by_vendor.items():
            for image in found:
                if image in images:
                    raise ValueError(f"image {image} is listed twice")
                images[image] = [role, "" if vendor == "any" else vendor]
    return {"images": images, "charts": {str(n): chart for n, chart in enumerate(source["charts"])}}


def _load(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def _kept(entry: Entry, *names: str) -> Entry:
    return {name: entry[name] for name in names if name in entry}


def _without(entry: Entry, *names: str) -> Entry:
    return {name: value for name, value in entry.items() if name not in names}


def _filled(entry: Entry) -> Entry:
    return {name: value for name, value in entry.items() if value not in (None, "", [], {})}


def _text(table: Entry) -> bytes:
    """One line per entry of each section, keys sorted, so that diffs are readable."""
    sections = [f"{_json(name)}: {_section(table[name])}" for name in sorted(table)]
    return ("{\n" + ",\n".join(sections) + "\n}\n").encode()


def _section(section: Any) -> str:
    if not isinstance(section, dict):
        return _json(section)
    return "{\n" + ",\n".join(f" {_json(key)}: {_json(section[key])}" for key in sorted(section)) + "\n}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def main(arguments: list[str]) -> int:
    """Writes the tables, or with --check compares them."""
    tables = compile_cards()
    if "--check" not in arguments:
        for name, content in tables.items():
            (COMPILED / name).write_bytes(content)
        return 0
    stale = [name for name, content in tables.items() if not _is_current(COMPILED / name, content)]
    for name in stale:
        print(f"profiles/compiled/{name} is out of date: run python -m scripts.compile_cards")
    return 1 if stale else 0


def _is_current(path: Path, content: bytes) -> bool:
    return path.is_file() and path.read_bytes() == content


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
