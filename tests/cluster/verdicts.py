"""Verdicts of `where` beside what a scheduler does: pools that accept, the preferred one, and reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from policykit import api
from policykit.manifests.writer import dump
from policykit.placement.landing import Landing
from tests.cluster.api_server import NODES, PODS, ApiServer, RefusedError
from tests.cluster.pods import Outcome, Words, outcomes
from tests.cluster.scenarios import Machine, Scenario

_REASONS = {
    "were unschedulable": ("unschedulable",),
    "had untolerated taint": ("untolerated-taint",),
    "didn't match Pod's node affinity/selector": ("selector", "affinity"),
    "Insufficient": ("resources",),
}
"""The scheduler's words to those of `where`, which tells a selector from an affinity."""
_UNREADABLE = 'running PreScore plugin "NodeAffinity"'
_CONFLICT = "pod affinity terms conflict"
"""Said before any filter where the pod names other nodes than the one of the test."""


def reasons(outcome: Outcome) -> tuple[str, ...]:
    """What `where` may give as the reason."""
    if _CONFLICT in outcome.message:
        return ("unschedulable", "untolerated-taint", "selector", "affinity", "resources")
    found = [ours for theirs, ours in _REASONS.items() if theirs in outcome.message]
    return tuple(reason for each in found for reason in each)


Outcomes = Sequence[tuple[Machine, Outcome]]
"""Of the copies of a pod, by the node that each may go to."""


class Table:
    """Agreements by verdict, and every disagreement."""

    def __init__(self, title: str) -> None:
        self._title = title
        self.agreed: Counter[str] = Counter()
        self.disagreed: list[str] = []
        self.scenarios = 0

    def compare(self, scenario: Scenario, landing: Landing, outcomes: Outcomes) -> None:
        """A pool's verdict with what became of the copies that were pinned to its nodes."""
        bound = any(outcome.node for _, outcome in outcomes)
        given = {reason for _, outcome in outcomes for reason in reasons(outcome)}
        if landing.verdict == "undecidable":
            self.agreed["undecidable, left to the cluster"] += 1
        elif landing.accepts != bound:
            self._disagree(scenario, landing, outcomes)
        elif bound:
            self.agreed["accepted"] += 1
        elif landing.reason in given:
            self.agreed[f"refused: {landing.reason}"] += 1
        elif landing.reason == "resources" and _has_unknown_labels(scenario, landing):
            self.agreed["refused: resources, whatever labels the policy leaves to the cluster"] += 1
        else:
            self._disagree(scenario, landing, outcomes)

    def prefer(self, scenario: Scenario, pool: str, outcome: Outcome, *, own: bool = False) -> None:
        """The pool where the pod went that could choose among those that accept it.

        `own`: other scores may outweigh its preferences, as the generated configuration says.
        """
        wanted = [each.pool.name for each in scenario.review.landings if each.verdict == "preferred"]
        if pool in wanted:
            self.agreed["preferred"] += 1
        elif outcome.message.startswith(_UNREADABLE) and has_error(scenario):
            self.agreed["unreadable: the scheduler fails on a preferred term, an error of lint"] += 1
        elif pool and own:
            self.agreed[
                "preferred elsewhere: a preference of the pod's own, which generated weights leave out"
            ] += 1
        elif pool and "unheeded-preference" in _found(scenario):
            self.agreed["preferred elsewhere: the scheduler heeds no preference, which lint says"] += 1
        else:
            went = f"{pool or 'no pool'}: {outcome.node or outcome.message}"
            self.disagreed.append(
                f"scenario {scenario.number}: prefers {', '.join(wanted)}, went to {went}\n"
                f"{dump(scenario.pod)}"
            )

    def _disagree(self, scenario: Scenario, landing: Landing, outcomes: Outcomes) -> None:
        said = "\n".join(
            f"  {machine.name} {dict(machine.shape.allocatable)}: {outcome.node or outcome.message}"
            for machine, outcome in outcomes
        )
        self.disagreed.append(
            f"scenario {scenario.number}, pool {landing.pool.name}: {landing.verdict} {landing.reason} "
            f"({landing.detail})\n{said}\n{dump(scenario.pod)}"
        )

    def show(self) -> str:
        rows = [f"{count:6} {what}" for what, count in sorted(self.agreed.items())]
        return "\n".join(
            [
                f"{self._title}: {self.scenarios} scenarios",
                *rows,
                f"{len(self.disagreed):6} disagreements",
                *self.disagreed,
            ]
        )


def _has_unknown_labels(scenario: Scenario, landing: Landing) -> bool:
    """Whether a pod without requests would be undecidable: it selects a label that the policy does not state.
    The nodes here do not have it, so the scheduler refuses it before it compares amounts."""
    spec = scenario.pod["spec"]
    containers = [{**each, "resources": {}} for each in spec["containers"]]
    without = {**scenario.pod, "spec": {**spec, "containers": containers}}
    (review,) = api.where(dump(without).encode(), scenario.policy)
    return any(
        each.pool.name == landing.pool.name and each.verdict == "undecidable" for each in review.landings
    )


def _accepted_by_the_server(server: ApiServer, scenario: Scenario, table: Table) -> bool:
    """Whether the pod itself is valid. Lint has to say so of one that is not."""
    try:
        server.request("POST", f"{PODS}?dryRun=All&fieldValidation=Strict", scenario.pod)
    except RefusedError as refused:
        if has_error(scenario):
            table.agreed["invalid: refused by the API server, an error of lint"] += 1
        else:
            table.disagreed.append(
                f"scenario {scenario.number}: lint has no error: {refused}\n{dump(scenario.pod)}"
            )
        return False
    return True


def _of_policy(scenario: Scenario) -> bool:
    """Whether the pod prefers what its workload kind does."""
    kind = scenario.review.workload
    prefers = kind.prefer if kind else {}
    wanted = {(weight, "In", (usage,)) for usage, weight in prefers.items()}
    stated = scenario.review.affinity.preferred
    return {
        (each.weight, one.operator, one.values) for each in stated for one in each.term.expressions
    } == wanted


def _found(scenario: Scenario) -> set[str]:
    """Rules that lint finds broken."""
    report = api.lint_texts({"pod.yaml": dump(scenario.pod).encode()}, scenario.policy)
    return {finding.name for finding in report.findings}


def has_error(scenario: Scenario) -> bool:
    """Whether lint has an error of what is written in the pod, whatever the policy says."""
    report = api.lint_texts({"pod.yaml": dump(scenario.pod).encode()})
    return any(finding.severity == "error" for finding in report.findings)


class Judge(NamedTuple):
    """Holds verdicts beside what a running scheduler does."""

    server: ApiServer
    scheduler: str
    """schedulerName of the pods."""
    table: Table
    words: Words | None = None
    """None: the scheduler writes its words into the pods."""
    weighed: bool = False
    """Whether the scheduler has generated weights, which let preferences of the policy win, and no others."""
    tried: Callable[[Scenario], bool] = lambda _: True
    """Whether the pod may choose among nodes."""

    def judge(self, batch: Iterable[Scenario]) -> None:
        """Scenarios that the cluster has room for at once."""
        server, table = self.server, self.table
        valid = [one for one in batch if _accepted_by_the_server(server, one, table)]
        table.scenarios += len(valid)
        server.create_nodes(one.node(machine) for one in valid for machine in one.machines)
        try:
            pinned = {}
            for one in valid:
                accepting = {landing.pool.name for landing in one.review.landings if landing.accepts}
                for machine in one.machines:
                    name = one.node_name(machine)
                    server.create(PODS, one.pinned(name, [machine], self.scheduler))
                    pinned[name] = machine.pool.name in accepting and _is_the_pool(machine)
            found = outcomes(server, pinned, self.words)
            server.delete_all(PODS)
            for one in valid:
                for landing in one.review.landings:
                    machines = [machine for machine in one.machines if machine.pool.name == landing.pool.name]
                    made = [(machine, found[one.node_name(machine)]) for machine in machines]
                    table.compare(one, landing, made)
            self._prefer(valid)
        finally:
            server.delete_all(PODS, NODES)

    def _prefer(self, valid: Iterable[Scenario]) -> None:
        able = [one for one in valid if _has_preferred(one) and self.tried(one)]
        choosing = [(one, list(_accepting(one))) for one in able]
        for one, machines in choosing:
            self.server.create(PODS, one.pinned(f"s{one.number}", machines, self.scheduler))
        found = outcomes(self.server, {f"s{one.number}": True for one, _ in choosing}, self.words)
        for one, machines in choosing:
            outcome = found[f"s{one.number}"]
            pools = [machine.pool.name for machine in machines if one.node_name(machine) == outcome.node]
            own = self.weighed and not _of_policy(one)
            self.table.prefer(one, pools[0] if pools else "", outcome, own=own)


def _is_the_pool(machine: Machine) -> bool:
    """Whether the pool's verdict is that of the node: other pools may accept on one node alone."""
    return len(machine.pool.shapes) == 1 and len(machine.shape.node_names) < 2


def _has_preferred(scenario: Scenario) -> bool:
    verdicts = {landing.verdict for landing in scenario.review.landings}
    return "preferred" in verdicts and "undecidable" not in verdicts


def _accepting(scenario: Scenario) -> Iterator[Machine]:
    pools = {landing.pool.name for landing in scenario.review.landings if landing.accepts}
    return (machine for machine in scenario.machines if machine.pool.name in pools)
