"""Checks the keys and values of a scheme."""

from __future__ import annotations

from policykit.kube.names import label_key_problem, label_value_problem
from policykit.manifests.path import Path
from policykit.model.topology import LEVELS
from policykit.policy.compile.draft import Draft
from policykit.policy.models.scheme import KeyPart, PoolScheme, Scheme, TaintPart


def check_schemes(draft: Draft) -> None:
    """Reports malformed keys and values in the cluster's scheme and in those of pools."""
    scheme = draft.policy.scheme
    if isinstance(scheme, Scheme):
        _check_parts(draft, ("scheme",), scheme)
        _check_taint(draft, ("scheme", "controlPlane"), scheme.control_plane)
        for level in LEVELS:
            _check_key(draft, ("scheme", "topology", level), getattr(scheme.topology, level))
    for name, pool in draft.policy.pools.items():
        if isinstance(pool.scheme, PoolScheme):
            _check_parts(draft, ("pools", name, "scheme"), pool.scheme)


def _check_parts(draft: Draft, path: Path, scheme: PoolScheme) -> None:
    for name, part in (("usage", scheme.usage), ("product", scheme.product)):
        if isinstance(part, KeyPart):
            _check_key(draft, (*path, name, "key"), part.key)
            _check_taint(draft, (*path, name, "taint"), part.taint)


def _check_taint(draft: Draft, path: Path, taint: bool | TaintPart | None) -> None:
    if isinstance(taint, TaintPart):
        _check_key(draft, (*path, "key"), taint.key)
        value = taint.value or ""
        draft.check((*path, "value"), f"taint value {value!r}", label_value_problem(value))


def _check_key(draft: Draft, path: Path, key: str) -> None:
    if key:
        draft.check(path, f"key {key!r}", label_key_problem(key))
