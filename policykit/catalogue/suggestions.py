"""Suggestions for misspelt cards and resources. No suggestion if in doubt."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any

from policykit import bundled
from policykit.catalogue import labels
from policykit.catalogue.cards import (
    Product,
    Vendor,
    product,
    products,
    variant,
    vendor,
    vendors,
    without_suffixes,
)
from policykit.catalogue.resources import known_domain, mig_resource, resource
from policykit.nearest import one_edit_apart

NameProblem = tuple[str, tuple[str, ...]]
"""The problem, as a predicate, and a suggestion."""

_FEW = 4
_QUOTA_PREFIXES = ("requests.", "limits.")
_SHARED = "nvidia.com/"
"""Where HAMi's names of counts, memory and cores are."""
_OLD_NAMES = {"alpha.kubernetes.io/nvidia-gpu": "nvidia.com/gpu"}
"""Removed in Kubernetes 1.11."""


def candidates(value: str) -> tuple[Product, ...]:
    """The cards that a product value may mean, by product; empty: none.

    A right value means its card. Else, in this order: short and wrong forms; the same with
    case, `-` and `_` folded; the beginning of a name up to a `-`. So H20 is NVIDIA-H20 and
    never H200, and H100 is every H100.
    """
    card, _, _ = without_suffixes(value)
    exact = product(card)
    if exact is not None:
        return (exact,)
    folded = _fold(card)
    if folded in _makers():
        return ()
    forms = (folded, *_without_maker(folded))
    tables = (_written(right=True), _written(right=False), _shortened(right=True), _shortened(right=False))
    for form in forms:
        for table in tables:
            if form in table:
                return table[form]
    return next((found for form in forms if form and (found := _beginning(form))), ())


def resource_problem(name: str) -> NameProblem | None:
    """The problem of a resource name, as a predicate, and a suggestion.

    None for every name that may be valid: known ones, unknown domains, device names of
    virtual machines, network resources, and names without a vendor.
    """
    if resource(name) is not None:
        return None
    if "/" not in name:
        return _bare_problem(name)
    for find in (_old, _quota_key, _plus, _spelling, _label, _model, _domain, _claimed, _slip):
        problem = find(name)
        if problem is not None:
            return problem
    return None


_SIGNS = re.compile(r"[-_.]")
_DOMAIN_WORDS = 2
_LONG_NAME = 5
"""Letters from which one wrong letter makes no other company likely."""
_CARD_WORDS = frozenset({"accelerator", "card", "device", "gpu", "gpus", "npu", "npus"})


@lru_cache(maxsize=1024)  # pods of a tree request the same resources
def unlikely(name: str) -> NameProblem | None:
    """What no plugin that is known here offers, although some other may: a MIG profile of no card, a name
    under a domain that is nearly a vendor's, and a word for any card under a vendor's domain."""
    if name.startswith(mig_resource("")):
        profile = name.removeprefix(mig_resource("")).replace("+", ".")
        known = {each.replace("+", ".") for card in products() for each in card.mig_profiles}
        return None if profile in known else ("is a MIG profile of no card that is known", _similar(name, ""))
    written, _, rest = name.partition("/")
    if not rest or resource(name) is not None:
        return None
    if known_domain(name):
        main = main_resource(name)
        joined = f"{written}/{_SIGNS.sub('', rest)}"
        if joined != name and resource(joined) is not None:
            return ("is not a known resource", (joined,))
        return ("is not a known resource", main) if main and rest in _CARD_WORDS else None
    meant = [f"{domain}/{rest}" for domain in _table()["main"] if _is_near(written.lower(), domain)]
    found = tuple(each for each in meant if resource(each) is not None)
    return (f"has the domain {written!r}, which is not a vendor's", found) if found else None


def _is_near(written: str, domain: str) -> bool:
    """Whether one is below the other, or they differ only in the top level or in one letter of a name."""
    if written.endswith(f".{domain}") or domain.endswith(f".{written}"):
        return written.count(".") > 0
    one, two = written.split("."), domain.split(".")
    if one[1:] == two[1:] and len(two[0]) >= _LONG_NAME and one_edit_apart(one[0], two[0]):
        return True
    return len(one) == len(two) == _DOMAIN_WORDS and (one[0] == two[0] or two[0] == f"{one[0]}-tech")


def _bare_problem(name: str) -> NameProblem | None:
    table = _table()
    word = name.lower()
    meant = table["bare"].get(word) or table["bare"].get(word.removesuffix("s"))
    if meant:
        return "has no vendor's domain before it", tuple(meant[:_FEW])
    for domain, main in table["main"].items():
        if word in (domain, domain.partition(".")[0]):
            return "names a vendor but no resource", (main,)
    return None


def _old(name: str) -> NameProblem | None:
    return ("is no longer offered by Kubernetes", (_OLD_NAMES[name],)) if name in _OLD_NAMES else None


def _quota_key(name: str) -> NameProblem | None:
    for prefix in _QUOTA_PREFIXES:
        meant = name.removeprefix(prefix)
        if meant != name and resource(meant) is not None:
            return "is a key of a ResourceQuota", (meant,)
    return None


def _label(name: str) -> NameProblem | None:
    return ("is a node label, not a resource", main_resource(name)) if labels.listed(name) else None


def _plus(name: str) -> NameProblem | None:
    meant = name.replace("+", ".")
    if meant == name or resource(meant) is None:
        return None
    return "has a '+', which no resource name may have", (meant,)


def _spelling(name: str) -> NameProblem | None:
    """Wrong case: resource names are case-sensitive."""
    meant = _folded_resources().get(name.lower(), ())
    if not meant and resource(name.lower()) is not None:
        meant = (name.lower(),)
    return ("is written in the wrong case", meant) if meant else None


def _model(name: str) -> NameProblem | None:
    """nvidia.com/a100: a card model, although the resource is the same for every model."""
    if not known_domain(name):
        return None
    domain, _, written = name.partition("/")
    for card in candidates(written):
        maker = vendor(card.vendor)
        if maker is not None and maker.domain == domain:
            return "is a card model, which pods choose by node label", (card.resource or maker.resource,)
    return None


def _domain(name: str) -> NameProblem | None:
    """nvidia/gpu: the domain without `.com`."""
    written, _, rest = name.partition("/")
    for domain in _table()["main"]:
        meant = f"{domain}/{rest}"
        if domain.partition(".")[0] == written.lower() and resource(meant) is not None:
            return f"has the domain {written!r} instead of {domain!r}", (meant,)
    return None


def _claimed(name: str) -> NameProblem | None:
    """A name with a prefix of the vendor's plugin that is not one of its names."""
    domain, _, rest = name.partition("/")
    claims = _table()["claims"].get(domain, ())
    if rest != rest.lower() or not any(rest.startswith(claim) for claim in claims):
        return None
    return f"is not a resource of {domain}", _similar(name, domain)


def may_be_renamed(name: str, beside: Iterable[str]) -> bool:
    """Whether the plugin that shares cards may count them by this name.

    HAMi's is configured with the names of what it offers. `beside`: what is asked for or limited with it.
    """
    if not name.startswith(_SHARED) or _claimed(name) is None:
        return False
    shares = [resource(other) for other in beside if other.startswith(_SHARED)]
    return any(each and each.role in ("core", "memory") for each in shares)


def _slip(name: str) -> NameProblem | None:
    """Whether two names differ by one letter, added, missing, wrong or swapped, after the first.

    Digits and signs distinguish models, and the first letter kinds (vgpu, sgpu): they must match.
    """
    domain, _, written = name.partition("/")
    known = {full.partition("/")[2]: full for full in _fixed_names(domain)}
    meant = tuple(full for short, full in known.items() if len(short) > 2 and _one_slip(written, short))
    return ("is not a known resource", meant) if meant else None


def _one_slip(one: str, two: str) -> bool:
    if one[:1] != two[:1] or re.sub(r"[a-zA-Z]", "", one) != re.sub(r"[a-zA-Z]", "", two):
        return False
    start = 0
    while start < min(len(one), len(two)) and one[start] == two[start]:
        start += 1
    rest, other = one[start:], two[start:]
    return rest[1:] == other[1:] or rest[1:] == other or rest == other[1:] or _swapped(rest, other)


def _swapped(one: str, two: str) -> bool:
    return len(one) > 1 and one[:2] == two[1::-1] and one[2:] == two[2:]


def _similar(name: str, domain: str) -> tuple[str, ...]:
    from difflib import get_close_matches

    known = _fixed_names(domain)
    if name.startswith(mig_resource("")):
        known = tuple(sorted({mig_resource(profile) for card in products() for profile in card.mig_profiles}))
    by_name = {full.partition("/")[2]: full for full in known}
    close = get_close_matches(name.partition("/")[2], by_name, n=_FEW, cutoff=0.7)
    return tuple(by_name[found] for found in close) or main_resource(name)


def main_resource(name: str) -> tuple[str, ...]:
    meant = _table()["main"].get(name.partition("/")[0])
    return (meant,) if meant else ()


@lru_cache(maxsize=32)
def _fixed_names(domain: str) -> tuple[str, ...]:
    names = _table()["names"]
    return tuple(
        sorted(name for name in names if name.startswith(f"{domain}/") and not names[name].get("older"))
    )


def maker(name: str) -> Vendor | None:
    """The vendor whose prefix begins a product that nothing here is nearly called; None: no single one."""
    if variant(name) or candidates(name) or any(one_edit_apart(name, each.product) for each in products()):
        return None
    found = [each for each in vendors() if any(name.startswith(f"{prefix}-") for prefix in each.makers)]
    makers = [each for each in found if each.hardware in ("", each.vendor)]
    return makers[0] if len(makers) == 1 else None


def _fold(value: str) -> str:
    return re.sub(r"[\s_-]+", "-", value.strip()).lower()


@cache
def _makers() -> frozenset[str]:
    return frozenset(_fold(maker) for card in products() for maker in _of_maker(card))


def _of_maker(card: Product) -> tuple[str, ...]:
    maker = vendor(card.vendor)
    return maker.makers if maker else ()


def _without_maker(folded: str) -> tuple[str, ...]:
    """The text after a vendor name, longest name first; names overlap (NVIDIA, NVIDIA-Tesla)."""
    found = [folded[len(maker) + 1 :] for maker in sorted(_makers()) if folded.startswith(f"{maker}-")]
    return tuple(sorted(found, key=len))


def _beginning(folded: str) -> tuple[Product, ...]:
    found = {
        card.product: card
        for table in (_written(right=True), _shortened(right=True))
        for name, cards in table.items()
        if name.startswith(f"{folded}-")
        for card in cards
    }
    return tuple(found[name] for name in sorted(found))


@cache
def _written(right: bool) -> dict[str, tuple[Product, ...]]:
    """Normalized product values (right ones, or short and wrong forms) to their cards."""
    return _grouped((_fold(name), card) for card in products() for name in _names(card, right))


@cache
def _shortened(right: bool) -> dict[str, tuple[Product, ...]]:
    """The same without the vendor name."""
    return _grouped(
        (form, card)
        for card in products()
        for name in _names(card, right)
        for form in _without_maker(_fold(name))
    )


def _names(card: Product, right: bool) -> tuple[str, ...]:
    if right:
        return (card.product, *card.aliases, *([card.native_value] if card.native_value else []))
    return (*card.short, *card.wrong)


def _grouped(pairs: Iterable[tuple[str, Product]]) -> dict[str, tuple[Product, ...]]:
    found: dict[str, dict[str, Product]] = {}
    for form, card in pairs:
        found.setdefault(form, {})[card.product] = card
    return {form: tuple(cards[name] for name in sorted(cards)) for form, cards in found.items()}


@cache
def _folded_resources() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for name in sorted(_table()["names"]):
        found.setdefault(name.lower(), []).append(name)
    return {folded: tuple(names) for folded, names in found.items()}


def _table() -> Any:
    return bundled.table("profiles", "compiled", "resources.json")
