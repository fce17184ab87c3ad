"""Node labels by key: who sets them, and whether their values are integers."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

from policykit import bundled
from policykit.model.node_labels import STANDARD
from policykit.model.pool import Taint
from policykit.namedtuple import NamedTuple
from policykit.nearest import one_edit_apart

DEPLOYS = ".deploy."
"""In labels of nodes by which an operator switches its daemons: nvidia.com/gpu.deploy.driver."""
_INTEGER = "integer"
_TEXT = "text"


class ProviderTaint(NamedTuple):
    """A taint on card nodes of a cloud."""

    taint: Taint
    automatic: bool
    when: str = ""
    """Condition under which it is set automatically; empty: always."""


@lru_cache(maxsize=1024)
def well_known(key: str) -> bool:
    """Whether Kubernetes, cloud providers or Node Feature Discovery set the label."""
    if meant(key):
        return False
    known = _table()["well_known"]
    if key in known["keys"] or key.startswith(tuple(known["prefixes"])):
        return True
    prefix, slash, _ = key.partition("/")
    return bool(slash) and prefix.endswith(tuple(known["suffixes"]))


_DOMAINS = ("kubernetes.io", "node.kubernetes.io", "topology.kubernetes.io")


@lru_cache(maxsize=1024)
def meant(key: str) -> str:
    """The label of Kubernetes, a cloud or cards that is meant by a key which nobody sets: it has a typing
    error, other signs, or the wrong domain, as topology.kubernetes.io/hostname. Empty: none."""
    domain, slash, name = key.partition("/")
    if not slash or key in STANDARD:
        return ""
    if domain in _DOMAINS:
        for standard in STANDARD.sorted:
            of, _, named = standard.partition("/")
            if of in _DOMAINS and named == name:
                return standard
    return STANDARD.misspelt(key) or _of_cards(key)


_OF_CARDS = (
    "amd.com/gpu.product-name",
    "cloud.google.com/gke-accelerator",
    "cloud.google.com/gke-nodepool",
    "cloud.google.com/gke-tpu-accelerator",
    "cloud.google.com/gke-tpu-topology",
    "eks.amazonaws.com/nodegroup",
    "karpenter.sh/nodepool",
    "kubernetes.azure.com/accelerator",
    "kubernetes.azure.com/agentpool",
    "nvidia.com/gpu.count",
    "nvidia.com/gpu.family",
    "nvidia.com/gpu.memory",
    "nvidia.com/gpu.present",
    "nvidia.com/gpu.product",
)
"""Labels that a cloud or a discovery gives nodes, and that pods often select."""
_SIGNS = str.maketrans("", "", "-_.")


def _of_cards(key: str) -> str:
    """The same in other signs, as nvidia.com/gpu-product, or with two letters of its name swapped."""
    if key in _OF_CARDS:
        return ""
    domain, _, name = key.rpartition("/")
    plain = name.translate(_SIGNS).lower()
    for label in _OF_CARDS:
        of, _, named = label.rpartition("/")
        if of == domain:
            known = named.translate(_SIGNS).lower()
            if known == plain or (len(plain) > _SHORT and one_edit_apart(known, plain)):
                return label
    return ""


_SHORT = 9
"""Names up to this length have others that are one letter apart."""


_OF_KUBELET = frozenset(
    {"beta.kubernetes.io/arch", "beta.kubernetes.io/os"}
    | {f"kubernetes.io/{name}" for name in ("arch", "hostname", "os")}
)


def on_every_node(key: str) -> bool:
    """Whether the kubelet sets the label: a node that nobody describes has it too, with some value."""
    return key in _OF_KUBELET


@lru_cache(maxsize=1024)
def provider(key: str) -> str:
    """The cloud, provisioner or scheduler that owns the label: gke, karpenter, ...; empty: none."""
    table = _table()
    if key in table["provider_keys"]:
        return str(table["provider_keys"][key]["provider"])
    prefixes = table["provider_prefixes"]
    if key in prefixes:
        return str(prefixes[key])
    prefix, slash, _ = key.partition("/")
    return str(prefixes.get(prefix + slash, "")) if slash else ""


def names_machine(key: str) -> bool:
    """Whether one value of this key is one node, machine type or card model, so one kind of card.

    A compute class of GKE counts too: whoever wrote it listed the machines in the order to try them.
    """
    return key in _machines()


def names_pool(key: str) -> bool:
    """Whether its values are pools or groups of nodes, of which a cluster may have any number."""
    return key in _pools()


def provider_values(key: str) -> tuple[str, ...]:
    """Known values of a provider's key; empty: not listed."""
    return tuple(_table()["provider_keys"].get(key, {}).get("values", ()))


def provider_taints(name: str) -> tuple[ProviderTaint, ...]:
    """Taints on the card nodes of a provider."""
    return tuple(
        ProviderTaint(
            Taint(entry["key"], entry["value"], entry["effect"]),
            bool(entry["automatic"]),
            entry["automatic"] if isinstance(entry["automatic"], str) else "",
        )
        for entry in _table()["provider_taints"].get(name, ())
    )


@lru_cache(maxsize=1024)
def discovery(key: str) -> str:
    """Id of the vendor whose discovery daemon sets this label; empty: none does."""
    table = _table()
    if key in table["keys"]:
        return str(table["keys"][key])
    if key in table["retired"] or key in table["by_hand"] or key in table["switches"]:
        return ""
    return next((vendor for prefix, vendor in table["prefixes"].items() if key.startswith(prefix)), "")


def switches_daemons(key: str) -> bool:
    """Whether an operator sets it on nodes with cards to choose its daemons: nvidia.com/gpu.deploy.driver."""
    return DEPLOYS in key and bool(discovery(key))


def of_any_card(key: str) -> bool:
    """Whether nodes of all vendors have this label, so that it does not identify one."""
    return key in _table()["any_card"]


def listed(key: str) -> bool:
    """Whether the exact key is known, not only its prefix: set by daemons, by hand, or retired."""
    table = _table()
    return any(key in table[section] for section in ("keys", "by_hand", "retired"))


def switch(key: str) -> str:
    """Id of the vendor whose daemons an administrator enables with this label (gpu=on)."""
    return str(_table()["switches"].get(key, ""))


def replaced_by(key: str) -> str | None:
    """The replacement of a key that no current daemon sets; None: not a retired key."""
    found = _table()["retired"].get(key)
    return None if found is None else str(found)


@lru_cache(maxsize=1024)
def label_format(key: str) -> str:
    """`integer` if every value is one, so Gt and Lt work; `text` if none is; empty: unknown."""
    if key in _integers():
        return _INTEGER
    return _TEXT if key in _texts() else ""


@cache
def _machines() -> frozenset[str]:
    return frozenset(_table()["machines"])


@cache
def _pools() -> frozenset[str]:
    return frozenset(_table()["pools"])


@cache
def _integers() -> frozenset[str]:
    return frozenset(_table()["integers"])


@cache
def _texts() -> frozenset[str]:
    return frozenset(_table()["texts"])


@cache
def _table() -> Any:
    return bundled.table("profiles", "compiled", "labels.json")
