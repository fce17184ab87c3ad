"""Pods cannot be assigned to a workload kind, because two kinds overlap.

A pod has the first kind whose `match` applies, or else the only kind that prefers the usage it
selects. If two kinds prefer a usage, pods that select it have no kind, and rules that need one skip
them. A `match` that an earlier kind covers never applies.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from policykit.linter.rule import Context, DeclaredPolicy, Rule, Violation
from policykit.model.cluster import Cluster
from policykit.model.severity import Severity
from policykit.model.workload import Match

BAD = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: demo}
domain: ai.example.com
pools:
  train: {usage: training, nodes: 4}
workloads:
  pretraining: {usages: [training], prefer: {training: 100}}
  tuning: {usages: [training], prefer: {training: 50}}
"""
GOOD = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: demo}
domain: ai.example.com
pools:
  train: {usage: training, nodes: 4}
workloads:
  pretraining: {usages: [training], prefer: {training: 100}, match: {labels: {example.com/stage: pre}}}
  tuning: {usages: [training], prefer: {training: 50}, match: {labels: {example.com/stage: tune}}}
"""


def check(policy: DeclaredPolicy, context: Context) -> Iterator[Violation]:
    yield from _by_usage(policy.cluster)
    yield from _by_match(policy.cluster)


def _by_usage(cluster: Cluster) -> Iterator[Violation]:
    """Reports usages that several kinds prefer, if one of the kinds has no match."""
    preferring: dict[str, list[str]] = {}
    for name, workload in cluster.workloads.items():
        for usage in workload.prefer if cluster.usage_key else ():
            preferring.setdefault(usage, []).append(name)
    for usage, names in preferring.items():
        unmatched = [name for name in names if not cluster.workloads[name].match]
        if len(names) > 1 and unmatched:
            yield Violation(
                ("workloads", unmatched[-1], "prefer", usage),
                f"{' and '.join(names)} prefer usage {usage}, so a pod that selects it has no workload kind",
                "add match to each of them, or prefer the usage in only one of them",
                key=True,
            )


def _by_match(cluster: Cluster) -> Iterator[Violation]:
    """Reports matches that never apply."""
    before: list[tuple[str, Match]] = []
    for name, workload in cluster.workloads.items():
        for number, match in enumerate(workload.match):
            first = next((kind for kind, earlier in before if kind != name and _covers(earlier, match)), None)
            if first is not None:
                yield Violation(
                    ("workloads", name, "match", number),
                    f"this match never applies: {first}, declared before {name}, matches the same pods",
                    f"declare {name} before {first}, or make the match of {first} narrower",
                )
        before += [(name, match) for match in workload.match]


def _covers(wide: Match, narrow: Match) -> bool:
    """Whether `wide` matches everything that `narrow` matches."""
    return (
        (not wide.api_kinds or _all_kinds(wide.api_kinds, narrow.api_kinds))
        and (not wide.namespaces or _is_subset(narrow.namespaces, wide.namespaces))
        and wide.labels.items() <= narrow.labels.items()
        and (not wide.names or _all_names(wide.names, narrow.names))
    )


def _is_subset(narrow: tuple[str, ...], wide: tuple[str, ...]) -> bool:
    return bool(narrow) and {*narrow} <= {*wide}


def _all_kinds(wide: tuple[str, ...], narrow: tuple[str, ...]) -> bool:
    """`Job` covers `batch/Job` and `batch/v1/Job`; `batch/Job` covers the latter."""
    return bool(narrow) and all({kind, *_shorter(kind)} & {*wide} for kind in narrow)


def _shorter(kind: str) -> tuple[str, ...]:
    *group, name = kind.split("/")
    return (name, f"{group[0]}/{name}") if group else ()


def _all_names(wide: tuple[str, ...], narrow: tuple[str, ...]) -> bool:
    """A glob with no wildcards but `*` covers every glob that it matches as text."""
    return bool(narrow) and all(
        any(name == glob or (not {*"?["} & {*glob} and fnmatchcase(name, glob)) for glob in wide)
        for name in narrow
    )


RULE = Rule(
    code="PK910",
    name="ambiguous-workload-kind",
    severity=Severity.WARNING,
    subject=DeclaredPolicy,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
