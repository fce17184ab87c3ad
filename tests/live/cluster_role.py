"""The ClusterRole that policykit needs, from the kinds that it reads."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.live.kinds import kinds
from policykit.manifests.writer import dump

COMPARED = (
    ("", "ServiceAccount"),
    ("rbac.authorization.k8s.io", "Role"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ("rbac.authorization.k8s.io", "RoleBinding"),
)
"""Kinds that `gen` writes and that are read for `audit` and `gen --diff --live` only."""
HEAD = """\
# What policykit reads of a cluster: lists of what decides about pods, no Secrets, and nothing is written.
# API groups that are not installed may stay or be left out.
"""


def text() -> str:
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "policykit"},
        "rules": [*rules()],
    }
    return HEAD + dump(role)


def rules() -> Iterator[dict[str, object]]:
    groups: dict[str, set[str]] = {"": {"events"}}
    for kind in kinds():
        groups.setdefault(kind.group, set()).add(plural(kind.name))
    for group, names in sorted(groups.items()):
        yield {"apiGroups": [group], "resources": sorted(names), "verbs": ["get", "list"]}
    for group in sorted({group for group, _ in COMPARED}):
        names = {plural(name) for each, name in COMPARED if each == group}
        yield {"apiGroups": [group], "resources": sorted(names), "verbs": ["get"]}


def plural(kind: str) -> str:
    """As controller-gen forms it."""
    name = kind.lower()
    if name.endswith(("y",)) and name[-2] not in "aeiou":
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith(("s", "x", "ch", "sh")) else f"{name}s"
