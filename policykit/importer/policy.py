"""From files to a policy: read, grouped, named, written, compiled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from policykit.catalogue import cards as catalogue
from policykit.errors import SourceError
from policykit.importer.cards import product_keys, product_named
from policykit.importer.correct import loadable, settled
from policykit.importer.draft import Draft
from policykit.importer.found import Component, Found, Node
from policykit.importer.groups import Group, groups, with_cards
from policykit.importer.inputs import Files, read
from policykit.importer.pools import add_pools
from policykit.importer.remarks import remark
from policykit.importer.scheme import scheme_of
from policykit.importer.targets import add_systems
from policykit.importer.topology import add_topology
from policykit.importer.usages import UsageKey, usage_key
from policykit.importer.weights import add_weights
from policykit.importer.workloads import add_workloads
from policykit.kube.names import dns_subdomain_problem
from policykit.model.cluster import Cluster
from policykit.policy.identity import API_VERSION, KIND
from policykit.policy.version import release

_NAME = "imported"
_HEAD = (
    "Written by `policykit import` from what is there. Read it before you use it: lines that\n"
    "rest on a guess say so, and `policykit nodes --check` compares it with the nodes."
)


class Imported(NamedTuple):
    """A policy made from what exists."""

    text: str
    cluster: Cluster
    remarks: tuple[str, ...]
    """What the policy does not say, for people."""


def policy_of(files: Files) -> Imported:
    """The policy of the nodes, queues and configurations in some files.

    Raises SourceError where they hold neither nodes nor generated pools, or cannot be read.
    """
    found = read(files)
    if not found.nodes and not found.described:
        one = len(files) == 1
        raise SourceError(
            "holds no Node" if one else "no file holds a Node",
            "give it the output of `kubectl get nodes -o json`, or a folder that `policykit gen` wrote",
            next(iter(files)) if one else "",
        )
    remark(found)
    named = named_cards(found)
    grouped = groups(found, frozenset(named))
    hidden = _hidden_card(found, grouped, named)
    if hidden:
        grouped = with_cards(grouped, hidden)
        found.say(
            f"no component is for pods without cards, so all generated pools should have {named[hidden]}"
        )
    key = usage_key(grouped, found.components, _card_keys(grouped))
    draft = Draft()
    preset = _head(draft, found, grouped, key)
    pools = add_pools(draft, grouped, key, preset, named)
    add_workloads(draft, found, key.key)
    add_topology(draft, found)
    add_systems(draft, found)
    draft.data["generate"] = {"out": "generated"}
    _captions(draft)
    add_weights(draft, found, settled(draft, pools, found.say))
    cluster = loadable(draft, found.say)
    return Imported(draft.text(), cluster, tuple(found.remarks))


def named_cards(found: Found) -> dict[str, str]:
    """Product, or resource outside the catalogue, to the name that generated components give the card."""
    by_product: dict[str, str] = {}
    unknown: dict[str, None] = {}
    for component in found.components:
        products = _products(component)
        if component.card and not products:
            unknown[component.card] = None
        by_product.update(dict.fromkeys(products, component.card) if component.card else {})
    resources = dict.fromkeys(
        resource
        for source in (*(node.allocatable for node in found.nodes.values()), *_fits(found))
        for resource in source
        if "/" in resource and catalogue.resource(resource) is None
    )
    for resource in resources:
        short = resource.rpartition("/")[2]
        if short in unknown:
            by_product[resource] = short
    return by_product


def _hidden_card(found: Found, grouped: tuple[Group, ...], named: Mapping[str, str]) -> str:
    """The resource of the only card that generated files speak of, where every pool must have one."""
    cards = {component.card for component in found.components}
    if "" in cards or len(cards) != 1 or any(group.card for group in grouped):
        return ""
    return next((resource for resource, name in named.items() if "/" in resource and name in cards), "")


def _fits(found: Found) -> Iterable[Iterable[str]]:
    return [target.get("fit", {}) for target in found.targets.values()]


def _products(component: Component) -> list[str]:
    """Products, as policies name them, that a component selects or tolerates."""
    stated = [(key, value) for key, listed in component.required for value in listed]
    stated += [(each.key, each.value) for each in component.tolerations if each.value]
    return list(dict.fromkeys(product for key, value in stated if (product := product_named(key, value))))


def _card_keys(grouped: Iterable[Group]) -> frozenset[str]:
    keys = {each.key for each in product_keys()}
    return frozenset(keys | {group.card.resource for group in grouped if group.card})


def _head(draft: Draft, found: Found, grouped: tuple[Group, ...], key: UsageKey) -> str:
    """Name, domain, version, scheme; the preset that pools are written under."""
    scheme = scheme_of(found, grouped, key)
    named = found.policy if not dns_subdomain_problem(found.policy) else _NAME
    draft.data.update({"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": named}})
    if named == _NAME:
        draft.note(("metadata", "name"), "the cluster's name: yours to give")
    if scheme.domain and not dns_subdomain_problem(scheme.domain):
        draft.data["domain"] = scheme.domain
    version = _kubernetes(found.nodes.values()) or found.release
    if version:
        draft.data["kubernetes"] = version
    if scheme.provider:
        draft.data["provider"] = scheme.provider
    draft.data["scheme"] = scheme.data
    if key.guess:
        draft.note(("scheme", "usage"), key.guess)
    draft.data["coverage"] = "partial"
    return scheme.preset


def _kubernetes(nodes: Iterable[Node]) -> str:
    """1.36: the newest release of a kubelet, which no API server is older than."""
    releases = Counter(found[:2] for node in nodes if (found := release(node.kubelet)))
    return ".".join(map(str, max(releases))) if releases else ""


def _captions(draft: Draft) -> None:
    draft.caption(("apiVersion",), _HEAD)
    draft.caption(
        ("scheme",), "How nodes are labelled and tainted: a preset, and where the nodes depart from it."
    )
    draft.caption(("coverage",), "complete, once the pools below are all there is.")
    draft.caption(("cards",), "Cards by the names used in this file.")
    draft.caption(("pools",), "Nodes that are alike. `allocatable` is what each of them has at least.")
    draft.caption(("placements",), "Ways of laying out pods on the nodes that fit, which kinds of work name.")
    draft.caption(("tenants",), "Teams, and the namespaces that are theirs.")
    draft.caption(("reservations",), "Capacity kept free until the pods come that it is meant for.")
    draft.caption(("workloads",), "Kinds of work: where each may run, and where it should.")
    draft.caption(("targets",), "What `policykit gen` writes configuration for, beside nodes and Kubernetes.")
