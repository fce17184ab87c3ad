"""`where` against kube-scheduler: accepted pools, the preferred one, and why the others refuse."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from policykit import api
from policykit.manifests.writer import dump
from policykit.placement.landing import Landing
from tests.cluster.api_server import NODES, PODS, ApiServer, RefusedError, api_server
from tests.cluster.cluster import Cluster
from tests.cluster.conftest import UNTIL
from tests.cluster.pods import Outcome, outcomes
from tests.cluster.scenarios import PODS_OF_A_POLICY, Machine, Scenario, scenarios
from tests.cluster.scheduler import kube_scheduler

SCENARIOS = int(os.environ.get("POLICYKIT_CLUSTER_SCENARIOS", "1040"))
_BATCH = 260
_OF_A_BATCH = 120
"""Seconds that a batch may take."""
SCHEDULER = "by-preference"
CONFIGURATION: dict[str, Any] = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "percentageOfNodesToScore": 100,
    "profiles": [
        {
            "schedulerName": SCHEDULER,
            # Preferred affinity alone decides: nothing else adds up to one point of it.
            "plugins": {"score": {"enabled": [{"name": "NodeAffinity", "weight": 10000}]}},
        }
    ],
}
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

    def __init__(self) -> None:
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

    def prefer(self, scenario: Scenario, pool: str, outcome: Outcome) -> None:
        """The pool where the pod went that could choose among those that accept it."""
        wanted = [each.pool.name for each in scenario.review.landings if each.verdict == "preferred"]
        if pool in wanted:
            self.agreed["preferred"] += 1
        elif outcome.message.startswith(_UNREADABLE) and _has_error(scenario):
            self.agreed["unreadable: the scheduler fails on a preferred term, an error of lint"] += 1
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
                f"kube-scheduler: {self.scenarios} scenarios",
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
        if _has_error(scenario):
            table.agreed["invalid: refused by the API server, an error of lint"] += 1
        else:
            table.disagreed.append(
                f"scenario {scenario.number}: lint has no error: {refused}\n{dump(scenario.pod)}"
            )
        return False
    return True


def _has_error(scenario: Scenario) -> bool:
    """Whether lint has an error of what is written in the pod, whatever the policy says."""
    report = api.lint_texts({"pod.yaml": dump(scenario.pod).encode()})
    return any(finding.severity == "error" for finding in report.findings)


def _judge(server: ApiServer, batch: Iterable[Scenario], table: Table) -> None:
    valid = [one for one in batch if _accepted_by_the_server(server, one, table)]
    table.scenarios += len(valid)
    server.create_nodes(one.node(machine) for one in valid for machine in one.machines)
    try:
        pinned = {}
        for one in valid:
            accepting = {landing.pool.name for landing in one.review.landings if landing.accepts}
            for machine in one.machines:
                name = one.node_name(machine)
                server.create(PODS, one.pinned(name, [machine], SCHEDULER))
                pinned[name] = machine.pool.name in accepting and _is_the_pool(machine)
        found = outcomes(server, pinned)
        server.delete_all(PODS)
        for one in valid:
            for landing in one.review.landings:
                machines = [machine for machine in one.machines if machine.pool.name == landing.pool.name]
                made = [(machine, found[one.node_name(machine)]) for machine in machines]
                table.compare(one, landing, made)
        _judge_preferences(server, valid, table)
    finally:
        server.delete_all(PODS, NODES)


def _is_the_pool(machine: Machine) -> bool:
    """Whether the pool's verdict is that of the node: other pools may accept on one node alone."""
    return len(machine.pool.shapes) == 1 and len(machine.shape.node_names) < 2


def _judge_preferences(server: ApiServer, valid: Iterable[Scenario], table: Table) -> None:
    choosing = [(one, list(_accepting(one))) for one in valid if _has_preferred(one)]
    for one, machines in choosing:
        server.create(PODS, one.pinned(f"s{one.number}", machines, SCHEDULER))
    found = outcomes(server, {f"s{one.number}": True for one, _ in choosing})
    for one, machines in choosing:
        outcome = found[f"s{one.number}"]
        pools = [machine.pool.name for machine in machines if one.node_name(machine) == outcome.node]
        table.prefer(one, pools[0] if pools else "", outcome)


def _has_preferred(scenario: Scenario) -> bool:
    verdicts = {landing.verdict for landing in scenario.review.landings}
    return "preferred" in verdicts and "undecidable" not in verdicts


def _accepting(scenario: Scenario) -> Iterator[Machine]:
    pools = {landing.pool.name for landing in scenario.review.landings if landing.accepts}
    return (machine for machine in scenario.machines if machine.pool.name in pools)


def test_verdicts_are_those_of_kube_scheduler(cluster: Cluster, tmp_path: Path) -> None:
    drawn = scenarios(SCENARIOS // PODS_OF_A_POLICY)
    table = Table()
    with (
        api_server(cluster.plane) as server,
        kube_scheduler(cluster.plane, tmp_path / "scheduler", CONFIGURATION),
    ):
        for start in range(0, len(drawn), _BATCH):
            if time.time() > UNTIL - _OF_A_BATCH:
                break
            _judge(server, drawn[start : start + _BATCH], table)
    print(table.show())
    assert not table.disagreed, table.show()
    if time.time() > UNTIL - _OF_A_BATCH:
        pytest.skip(f"left out: the scenarios after {table.scenarios}, no time left")
    assert table.scenarios >= min(1000, SCENARIOS * 9 // 10)
