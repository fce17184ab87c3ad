"""Two workload kinds between which nothing decides, so that pods of one are not recognised.

A pod is of the first kind whose `match` fits, else of the one kind that prefers the usage it selects.
A usage that two kinds prefer decides nothing: pods that select it are of no kind, and every rule that
needs one is silent about them. A `match` that an earlier kind's covers is never reached.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.subjects import Declared
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


def check(policy: Declared, context: Context) -> Iterator[Violation]:
    yield from _by_usage(policy.cluster)
    yield from _by_match(policy.cluster)


def _by_usage(cluster: Cluster) -> Iterator[Violation]:
    """Usages that several kinds prefer, one of them with nothing else to be known by."""
    preferring: dict[str, list[str]] = {}
    for name, workload in cluster.workloads.items():
        for usage in workload.prefer if cluster.usage_key else ():
            preferring.setdefault(usage, []).append(name)
    for usage, names in preferring.items():
        unmatched = [name for name in names if not cluster.workloads[name].match]
        if len(names) > 1 and unmatched:
            yield Violation(
                ("workloads", unmatched[-1], "prefer", usage),
                f"{' and '.join(names)} prefer usage {usage}, so a pod that selects it is of no kind",
                "add match to each of them, or let only one of them prefer the usage",
                key=True,
            )


def _by_match(cluster: Cluster) -> Iterator[Violation]:
    """Matches that are never reached."""
    before: list[tuple[str, Match]] = []
    for name, workload in cluster.workloads.items():
        for number, match in enumerate(workload.match):
            first = next((kind for kind, earlier in before if kind != name and _covers(earlier, match)), None)
            if first is not None:
                yield Violation(
                    ("workloads", name, "match", number),
                    f"all that this matches is {first} already, which stands before {name}",
                    f"put {name} before {first}, or match more closely",
                )
        before += [(name, match) for match in workload.match]


def _covers(wide: Match, narrow: Match) -> bool:
    """Whether all that `narrow` recognises, `wide` does: part by part, and where a part decides nothing."""
    return (
        (not wide.api_kinds or _all_kinds(wide.api_kinds, narrow.api_kinds))
        and (not wide.namespaces or _among(narrow.namespaces, wide.namespaces))
        and wide.labels.items() <= narrow.labels.items()
        and (not wide.names or _all_names(wide.names, narrow.names))
    )


def _among(narrow: tuple[str, ...], wide: tuple[str, ...]) -> bool:
    return bool(narrow) and {*narrow} <= {*wide}


def _all_kinds(wide: tuple[str, ...], narrow: tuple[str, ...]) -> bool:
    """`Job` covers `batch/Job` and `batch/v1/Job`; so does `batch/Job` the latter."""
    return bool(narrow) and all({kind, *_shorter(kind)} & {*wide} for kind in narrow)


def _shorter(kind: str) -> tuple[str, ...]:
    *group, name = kind.split("/")
    return (name, f"{group[0]}/{name}") if group else ()


def _all_names(wide: tuple[str, ...], narrow: tuple[str, ...]) -> bool:
    """A glob of stars alone covers every glob that it matches as a text."""
    return bool(narrow) and all(
        any(name == glob or (not {*"?["} & {*glob} and fnmatchcase(name, glob)) for glob in wide)
        for name in narrow
    )


RULE = Rule(
    code="PK910",
    name="ambiguous-workload-kind",
    severity=Severity.WARNING,
    subject=Declared,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
