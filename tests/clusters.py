"""Clusters that tests compile once: bundled profiles and policies written in a test."""

from functools import cache
from typing import Any

from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster
from policykit.policy.load import load_profile, load_text
from policykit.workspace.files import read


@cache
def profile(name: str) -> Cluster:
    """The compiled bundled profile."""
    return load_profile(name).cluster


@cache
def _compiled(text: str) -> Cluster:
    return load_text(text.encode(), "policykit.yaml", read).cluster


def policy(data: dict[str, Any]) -> Cluster:
    """A policy given as data; apiVersion, kind and metadata are filled in."""
    head = {"apiVersion": "policykit.io/v1alpha1", "kind": "Policy", "metadata": {"name": "test"}}
    return _compiled(dump({**head, **data}))


def cluster(reference: object) -> Cluster | None:
    """`profile:NAME`, a mapping, or None."""
    if reference is None:
        return None
    if isinstance(reference, str):
        return profile(reference.removeprefix("profile:"))
    assert isinstance(reference, dict)
    return policy(reference)
