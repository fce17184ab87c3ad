"""The catalogue as text: every vendor and card, or the details of one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from policykit.catalogue.cards import Product, Vendor, product, products, vendor, vendors
from policykit.catalogue.resources import card_resources, examples, mig_resource, resource
from policykit.catalogue.suggestions import candidates
from policykit.errors import UsageError

_WIDTH = 100
EVIDENCE = {
    "label": "a component writes this value",
    "device-name": "the device's own name, by the naming rule",
    "derived": "built from the marketing name; compare with a node before use",
}
GRADES = {
    "A": "source of the vendor, a provider or Kubernetes",
    "B": "the vendor's own material, second-hand",
    "C": "community integrations only",
}
CONFIDENCE = {
    "measured": "read from a device",
    "reported": "stated by a component of the vendor",
    "recalled": "widely quoted, not checked",
    "nominal": "the marketing size; a device reports another number",
}


def listing() -> str:
    """All vendors with their cards, one line per card."""
    blocks = [_vendor_block(each) for each in vendors() if each.hardware == each.vendor]
    sharing = [each for each in vendors() if each.hardware != each.vendor]
    rows = [(each.vendor, each.resource, each.name) for each in sharing]
    blocks.append(["Systems that share cards of others", *_table(rows)])
    blocks.append(["`policykit cards NAME` tells more of a vendor, a product or a short name such as H100."])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def page(name: str) -> str:
    """Details for a vendor id, a product, an alias or a short name.

    Of a name that means several cards, the list of them. Raises UsageError for an unknown name.
    """
    known = vendor(name)
    if known is not None:
        return "\n".join([*_vendor_page(known), "", *_cards_of(known)]).rstrip() + "\n"
    exact = product(name)
    found = (exact,) if exact else candidates(name)
    if len(found) == 1:
        return "\n".join(_product_page(found[0], name)) + "\n"
    if found:
        head = f"{name!r} may mean {len(found)} cards; take the value your nodes show:"
        return "\n".join([head, *_table(_row(card) for card in found)]) + "\n"
    raise _unknown(name)


def _unknown(name: str) -> UsageError:
    values = {value.lower(): value for card in products() for value in (card.product, *card.short)}
    values.update({each.vendor: each.vendor for each in vendors()})
    near = [values[found] for found in get_close_matches(name.lower(), values, n=3, cutoff=0.7)]
    hint = f"names like it: {', '.join(near)}" if near else "`policykit cards` lists all that are known"
    return UsageError(f"no vendor, card or short name {name!r} is known", hint)


def _vendor_block(each: Vendor) -> list[str]:
    return [f"{each.name} ({each.vendor}): {each.resource}", *_cards_of(each)]


def _cards_of(each: Vendor) -> list[str]:
    return _table(_row(card) for card in products() if card.vendor == each.vendor)


def _row(card: Product) -> tuple[str, ...]:
    memory = f"{card.memory_mib} MiB" if card.memory_mib else "memory not known"
    return (card.product, memory, card.memory_confidence, card.name)


def _vendor_page(each: Vendor) -> list[str]:
    names = [name for name in (*card_resources(), *examples()) if _offers(each, name)]
    lines = _fields(
        {
            "vendor": f"{each.name} ({each.vendor})",
            "resource": each.resource,
            "product label": each.product_key or "none is set by the vendor",
            "count label": each.count_key,
            "memory label": f"{each.memory_key} ({each.memory_format})" if each.memory_key else "",
            "driver label": each.driver_key,
            "set by": each.set_by,
            "counts": _words(each.allowed_counts)
            + (f" with {each.allowed_when}" if each.allowed_when else ""),
            "daemons tolerate": ", ".join(str(toleration) for toleration in each.daemon_tolerations),
            "DRA driver": each.dra_driver,
            "how sure": GRADES[each.grade],
        }
    )
    return [*lines, "", "resources", *_table((name, _unit(name)) for name in names)] if names else lines


def _offers(each: Vendor, name: str) -> bool:
    found = resource(name)
    return found is not None and each.vendor in found.offered_by


def _unit(name: str) -> str:
    found = resource(name)
    if found is None:
        return ""
    when = f" ({found.when})" if found.when else ""
    return f"1 = {found.unit}{when}" + (", older" if found.older else "")


def _product_page(card: Product, asked: str) -> list[str]:
    maker = vendor(card.vendor)
    key = maker.product_key if maker else ""
    native = f"{card.native_key}={card.native_value or '(not seen)'}" if card.native_key else ""
    lines = _fields(
        {
            "product": card.product,
            "asked for": asked if asked != card.product else "",
            "card": card.name,
            "vendor": f"{maker.name} ({maker.vendor})" if maker else card.vendor,
            "resource": card.resource or (maker.resource if maker else ""),
            "node label": f"{key}={card.product}" if key and not native else "",
            "vendor's label": native,
            "value": EVIDENCE[card.evidence],
            "also right": _words(card.aliases),
            "short names": _words(card.short),
            "mistaken": _words(card.wrong),
            "memory": _memory(card),
            "cards per node": _words(card.cards_per_node),
            "generation": card.generation + (f", compute {card.compute}" if card.compute else ""),
            "formats": _words(card.formats),
            "host": card.arch,
            **{name.replace("_", " "): _words(value) for name, value in sorted(card.facts.items())},
        }
    )
    return [*lines, *_mig(card)]


def _memory(card: Product) -> str:
    if card.memory_mib is None:
        return "not known"
    seen = f"; also seen: {_words(card.memory_seen)}" if card.memory_seen else ""
    return f"{card.memory_mib} MiB, {card.memory_confidence} ({CONFIDENCE[card.memory_confidence]}){seen}"


def _mig(card: Product) -> list[str]:
    if not card.mig_profiles:
        return []
    taken = f", taken from {card.mig_taken_from}" if card.mig_taken_from else ""
    rows = [
        (profile, f"{count} per card", mig_resource(profile), mark)
        for profiles, mark in ((card.mig_profiles, ""), (card.older_mig_profiles, "older drivers"))
        for profile, count in profiles.items()
    ]
    return ["", f"MIG profiles{taken}", *_table(rows)]


def _words(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{amount} {name}" for name, amount in value.items())
    return ", ".join(str(each) for each in value) if isinstance(value, (tuple, list)) else str(value)


def _fields(values: Mapping[str, str]) -> list[str]:
    filled = {name: value for name, value in values.items() if value}
    width = max(len(name) for name in filled)
    return [line for name, value in filled.items() for line in _wrapped(f"{name:<{width}}  ", value)]


def _wrapped(head: str, value: str) -> list[str]:
    lines = [head]
    for word in value.split(" "):
        started = lines[-1].strip() and len(lines[-1]) > len(head)
        if started and len(lines[-1]) + 1 + len(word) > _WIDTH:
            lines.append(" " * len(head) + word)
        else:
            lines[-1] += f" {word}" if started else word
    return lines


def _table(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """A table: two spaces between columns and before the first."""
    every = list(rows)
    widths = [max(len(cell) for cell in column) for column in zip(*every, strict=True)]
    return [
        "  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in every
    ]
