"""How Multus reads the networks of a pod. Source: `parsePodNetworkAnnotation` (3.x and 4.2)."""

from __future__ import annotations

import json
from collections.abc import Iterator

from policykit.kube.placeholders import is_placeholder
from policykit.manifests.shape import mappings, text
from policykit.namedtuple import NamedTuple

NETWORKS = "k8s.v1.cni.cncf.io/networks"


class Network(NamedTuple):
    name: str
    namespace: str


def networks(written: str) -> Iterator[Network]:
    """Names with commas between, each perhaps with a namespace and an interface, or JSON."""
    if is_placeholder(written):
        return
    if is_json(written):
        named = [(text(each.get("name")), text(each.get("namespace"))) for each in mappings(_json(written))]
    else:
        split = [each.strip().partition("@")[0].rpartition("/") for each in written.split(",")]
        named = [(name, owner) for owner, _, name in split]
    for name, owner in named:
        if name and "/" not in name:
            yield Network(name, owner)


def is_json(written: str) -> bool:
    return any(sign in written for sign in '[{"')


def faults(written: str) -> Iterator[tuple[str, str]]:
    """What keeps the pods from starting, and what helps."""
    if not is_json(written) or is_placeholder(written):
        return
    found = _json(written)
    if not isinstance(found, list):
        what = "not JSON" if found is None else "not a list"
        yield f"is {what}", 'write names with commas between, or a list: [{"name": "NETWORK"}]'
        return
    for each in mappings(found):
        name = text(each.get("name"))
        owner, slash, rest = name.rpartition("/")
        if slash:
            advice = f'write {{"name": "{rest}", "namespace": "{owner}"}}'
            yield f"has the name {name}, but in JSON the namespace is a field of its own", advice
        elif not name:
            yield "has a network without a name", 'add "name"'


def _json(written: str) -> object:
    try:
        return json.loads(written)
    except (ValueError, RecursionError):
        return None
