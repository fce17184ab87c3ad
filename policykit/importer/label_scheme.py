"""The scheme of labels and taints that nodes follow: usages, a preset, and the differences from it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from policykit.catalogue import labels as known
from policykit.importer import node_labels
from policykit.importer.nodes import Group, is_control_plane
from policykit.model.inventory import Component, Inventory, Node
from policykit.model.pool import Taint
from policykit.namedtuple import NamedTuple
from policykit.policy.presets import PRESETS, USAGE_KEY

_WORDS = {
    "training": ("training", "train", "trainer", "pretrain", "finetune"),
    "inference": ("inference", "infer", "serving", "serve", "online"),
    "hybrid": ("hybrid", "mixed"),
}
_USAGES = {word: usage for usage, words in _WORDS.items() for word in words}
_AMBIGUOUS = frozenset({"mixed"})
"""Words that mean a usage only in a usage label: `mig-mixed` is not one."""
_ALSO = frozenset(
    {"shared", "batch", "dev", "development", "notebook", "test", "debug", "general", "system", "cpu"}
)
"""Other values that a usage label may have; alone they do not make one."""
_PART = re.compile(r"[^a-z0-9]+|(?<=[a-z])(?=[0-9])")
_ENDING = "/node.usage"
"""End of the seed scheme's key."""


class UsageKey(NamedTuple):
    """The label or taint key that states usages."""

    key: str = ""
    labelled: bool = False
    guess: str = ""
    """Why the key is a guess; empty: generated files name it, or it has the seed scheme's form."""


def usage_key(groups: Iterable[Group], components: Iterable[Component], cards: frozenset[str]) -> UsageKey:
    """The key that states usages; empty: no label or taint does.

    Generated components name it. Otherwise its form is the seed scheme's, or all its values are words
    for usages; among several keys the one on most nodes wins.
    """
    groups = tuple(groups)
    named = [key for c in components for key, _ in c.required if key not in cards]
    named += [key for c in components for _, key, _ in c.preferred]
    carried = _values(groups)
    for key in dict.fromkeys(named):
        if key in carried:
            return UsageKey(key, _labelled(groups, key))
    likely = [key for key in carried if key not in cards and _states(key, carried[key])]
    likely.sort(key=lambda key: (not key.endswith(_ENDING), -len(carried[key]), key))
    if not likely:
        return UsageKey()
    first = likely[0]
    guess = "" if first.endswith(_ENDING) else f"guessed from its values: {_listed(carried[first])}"
    return UsageKey(first, _labelled(groups, first), guess)


def usage(group: Group, key: UsageKey) -> str:
    """The usage that a group's nodes state with a key; empty: none."""
    if key.labelled:
        return group.labels.get(key.key, "")
    return next((taint.value for taint in group.taints if key.key and taint.key == key.key), "")


def guessed_usage(group: Group) -> tuple[str, str]:
    """(usage, what it was guessed from), from words in the names of its node pool and nodes; empty: none."""
    sources = [
        (f"{key}={group.all_labels[key]}", group.all_labels[key])
        for key in node_labels.NODE_POOLS
        if key in group.all_labels
    ]
    sources += [(f"{key}={value}", value) for key, value in sorted(group.labels.items())]
    sources += [(f"the node name {name}", name) for name in group.names[:1]]
    for source, text in sources:
        for word in _PART.split(text.lower()):
            if word in _USAGES and word not in _AMBIGUOUS:
                return _USAGES[word], source
    return "", ""


def kind_of(usage: str) -> str:
    """training, inference or hybrid for a usage value; empty: something else."""
    return _USAGES.get(usage.lower(), "")


def _values(groups: Iterable[Group]) -> dict[str, list[str]]:
    """Label and taint keys to their values, one for each group."""
    found: dict[str, list[str]] = {}
    for group in groups:
        pairs = {**{taint.key: taint.value for taint in group.taints}, **group.labels}
        for key, value in pairs.items():
            found.setdefault(key, []).append(value)
    return found


def _listed(values: Iterable[str]) -> str:
    return ", ".join(sorted(set(values)))


def _labelled(groups: Iterable[Group], key: str) -> bool:
    return any(key in group.labels for group in groups)


def _states(key: str, values: list[str]) -> bool:
    if key in node_labels.NODE_POOLS:
        return False
    if key.endswith(_ENDING):
        return all(values)
    words = {value.lower() for value in values}
    return bool(words & _USAGES.keys()) and words <= _USAGES.keys() | _ALSO


_CLOUDS = {
    "karpenter-aws": "eks",
    "karpenter-azure": "aks",
    **{name: name for name in PRESETS if PRESETS[name].cloud},
}
_USAGE_ENDING = USAGE_KEY.format(domain="")
_CONTROL_PLANE_ENDING = "/control-plane"


class Scheme(NamedTuple):
    """`scheme` and related fields of a policy."""

    preset: str
    parts: Mapping[str, Any]
    domain: str
    provider: str
    """`provider` of the policy; empty if the preset is the cloud's."""

    @property
    def data(self) -> str | dict[str, Any]:
        return {"preset": self.preset, **self.parts} if self.parts else self.preset


def scheme_of(inventory: Inventory, groups: tuple[Group, ...], key: UsageKey) -> Scheme:
    """The scheme of the nodes in these groups; `key` states their usages."""
    provider = inventory.provider or _provider(inventory.nodes.values())
    with_cards = [group for group in groups if group.card]
    product = _usual(_product_taint(group) for group in with_cards)
    usages = [group for group in groups if usage(group, key)]
    usage_taint = _usual(_usage_taint(group, key) for group in usages)
    control_plane = inventory.control_plane or control_plane_taint(inventory.nodes.values())
    domain = _domain(key, control_plane)
    by_product = product is not None and product[0] == "product"
    preset = _preset(provider, by_product, bool(domain and (usage_taint or by_product)))
    parts: dict[str, Any] = {}
    part = _usage_part(preset, key, domain, usage_taint, bool(usages)) if key.key else _unstated(groups)
    if part is not None:
        parts["usage"] = part
    taint = _product_part(preset, product, with_cards)
    if taint is not None:
        parts["product"] = {"taint": taint}
    discovery = _discovery(preset, with_cards)
    if discovery:
        parts["discovery"] = discovery
    plane = _plane_part(preset, domain, control_plane)
    if plane is not None:
        parts["controlPlane"] = plane
    return Scheme(preset, parts, domain, provider if provider != preset else "")


def control_plane_taint(nodes: Iterable[Node]) -> Taint | None:
    """The taint of the control plane: a custom one before kubeadm's."""
    taints = {
        taint
        for node in nodes
        if is_control_plane(node)
        for taint in node.taints
        if taint.hard and node_labels.closes_control_plane(taint)
    }
    return min(taints, key=lambda taint: (taint.key in node_labels.CONTROL_PLANE, taint), default=None)


def _provider(nodes: Iterable[Node]) -> str:
    """The cloud whose labels at least half of the nodes carry; empty: no cloud with a preset."""
    nodes = list(nodes)
    clouds = Counter(
        cloud
        for node in nodes
        for cloud in {_CLOUDS.get(known.provider(key), "") for key in node.labels if "/" in key}
        if cloud
    )
    return next((cloud for cloud in sorted(clouds) if 2 * clouds[cloud] >= len(nodes)), "")


def _domain(key: UsageKey, control_plane: Taint | None) -> str:
    if key.key.endswith(_USAGE_ENDING):
        return key.key.removesuffix(_USAGE_ENDING)
    if control_plane and control_plane.key not in node_labels.CONTROL_PLANE and not key.key:
        return control_plane.key.removesuffix(_CONTROL_PLANE_ENDING)
    return ""


def _preset(provider: str, by_product: bool, like_seed: bool) -> str:
    if provider and not by_product:
        return provider
    return "seed" if by_product or like_seed else "plain"


def _usage_part(
    preset: str, key: UsageKey, domain: str, taint: tuple[str, ...] | None, used: bool
) -> dict[str, Any] | bool | None:
    """None: same as the preset; False: nodes do not state usages."""
    if not used:
        return False
    part: dict[str, Any] = {}
    if key.key != USAGE_KEY.format(domain=domain):
        part["key"] = key.key
    if not key.labelled:
        part["label"] = False
    usual = PRESETS[preset].usage_taint
    if taint is None and usual:
        part["taint"] = False
    elif taint is not None and taint[0] != "NoSchedule":
        part["taint"] = {"effect": taint[0]}
    elif taint is not None and not usual:
        part["taint"] = True
    return part or None


def _unstated(groups: Iterable[Group]) -> bool | None:
    """False if usages are guessed, because no node has a label or taint for them."""
    return False if any(guessed_usage(group)[0] for group in groups) else None


def _usage_taint(group: Group, key: UsageKey) -> tuple[str, ...] | None:
    stated = usage(group, key)
    found = [taint for taint in group.taints if taint.key == key.key and taint.value == stated]
    return (found[0].effect,) if found else None


def _product_taint(group: Group) -> tuple[str, ...] | None:
    """How a group's nodes are tainted for their cards: by product, or by one taint for all cards."""
    card = group.card
    assert card is not None
    for taint in group.taints:
        if card.key and (taint.key, taint.value) == (card.key, card.label_value):
            return ("product", taint.effect)
    for taint in group.taints:
        if taint.key == card.resource:
            return ("resource", *taint)
    return None


def _product_part(
    preset: str, product: tuple[str, ...] | None, groups: list[Group]
) -> dict[str, Any] | bool | None:
    if not groups:
        return None
    design = PRESETS[preset]
    if product is None:
        return False if design.product_taint else None
    if product[0] == "product":
        if product[1] != "NoSchedule":
            return {"effect": product[1]}
        return None if design.product_taint else True
    taint = Taint(*product[1:])
    if taint in design.card_taints.values():
        return None
    if design.cloud and not design.card_taints and not taint.value:
        return True if taint.effect == "NoSchedule" else {"effect": taint.effect}
    if len({group.card.resource for group in groups if group.card}) > 1:
        # A single taint for all cards would carry another card's resource.
        return False if design.product_taint else None
    effect = {"effect": taint.effect} if taint.effect != "NoSchedule" else {}
    return {"key": taint.key, "value": taint.value, **effect}


def _discovery(preset: str, groups: list[Group]) -> str:
    """The discovery of most cards; pools with another one state it."""
    writers = {group.card.writer for group in groups if group.card}
    if "vendor" in writers:
        return "vendor"
    return "gfd" if "gfd" in writers and "cloud" not in writers and PRESETS[preset].product_keys else ""


def _plane_part(preset: str, domain: str, taint: Taint | None) -> dict[str, Any] | bool | None:
    template = PRESETS[preset].control_plane
    usual = Taint(template.format(domain=domain)) if template and domain else None
    if taint == usual:
        return None
    if taint is None:
        return False
    part: dict[str, Any] = {"key": taint.key}
    if taint.value:
        part["value"] = taint.value
    if taint.effect != "NoSchedule":
        part["effect"] = taint.effect
    return part


def _usual(found: Iterable[tuple[str, ...] | None]) -> tuple[str, ...] | None:
    """The most common value; ties go to the first in order, None last."""
    counted = Counter(found)
    return min(counted, key=lambda each: (-counted[each], each is None, each or ()), default=None)
