"""kube-scheduler with each configuration that is generated for it: it starts, ignores nothing, and binds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from hypothesis import HealthCheck, Phase, assume, given, reject, settings

from policykit import api
from policykit.errors import PolicykitError
from policykit.generator.artifact import TargetOutput
from policykit.model.cluster import Cluster as Policy
from policykit.policy.load import load
from policykit.targets.kubernetes.scheduler.delivery import CONFIGURATION, SECOND
from policykit.workspace.files import read
from tests.cluster.api_server import NODES, PODS, api_server
from tests.cluster.cluster import Cluster, node
from tests.cluster.pods import outcomes
from tests.cluster.scheduler import kube_scheduler
from tests.policies import clusters
from tests.shared import ROOT

RANDOM_POLICIES = 8
_POLICIES = [ROOT / "profiles/packed-kube-scheduler.yaml", ROOT / "docs/schedulers/policykit.yaml"]


class Run(NamedTuple):
    """What starts a scheduler: its configuration and flags."""

    configuration: dict[str, Any]
    flags: tuple[str, ...] = ()

    @property
    def scheduler_names(self) -> list[str]:
        return [profile["schedulerName"] for profile in self.configuration["profiles"]]


def runs(generated: TargetOutput) -> Iterator[Run]:
    """Of the second scheduler's ConfigMap and Deployment, and of the cluster's own."""
    texts = {artifact.path: artifact.text for artifact in generated.artifacts}
    if CONFIGURATION in texts:
        yield Run(yaml.safe_load(texts[CONFIGURATION]))
    if SECOND in texts:
        found = {one["kind"]: one for one in yaml.safe_load_all(texts[SECOND])}
        (text,) = found["ConfigMap"]["data"].values()
        (container,) = found["Deployment"]["spec"]["template"]["spec"]["containers"]
        flags = [flag for flag in container["args"] if flag.startswith("--feature-gates=")]
        yield Run(yaml.safe_load(text), tuple(flags))


def check(cluster: Cluster, run: Run) -> None:
    """A pod for each of its schedulerNames is bound, and nothing of the configuration is ignored."""
    pods = {f"pod-{number}": name for number, name in enumerate(run.scheduler_names)}
    with (
        api_server(cluster.plane) as server,
        kube_scheduler(
            cluster.plane, cluster.folder / "scheduler", run.configuration, *run.flags
        ) as scheduler,
    ):
        server.create_nodes([node("node-1", {}, [], {"cpu": "64", "memory": "64Gi", "pods": "110"})])
        for name, scheduler_name in pods.items():
            container = {"name": "main", "image": "registry.example/app:1"}
            spec = {"schedulerName": scheduler_name, "containers": [container]}
            server.create(PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec})
        found = outcomes(server, dict.fromkeys(pods, True))
        server.delete_all(PODS, NODES)
        assert [(name, outcome) for name, outcome in found.items() if not outcome.node] == []
        assert scheduler.complaints() == []


@pytest.mark.parametrize("path", _POLICIES, ids=lambda path: str(path.relative_to(ROOT)))
def test_of_a_policy(cluster: Cluster, path: Path) -> None:
    found = list(runs(api.generate(load(str(path), read).cluster)))
    assert found
    for run in found:
        check(cluster, run)


def test_of_random_policies(cluster: Cluster) -> None:
    """A policy without a configuration of kube-scheduler is none of them."""
    names: list[str] = []

    @settings(
        max_examples=RANDOM_POLICIES,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(clusters())
    def start(policy: Policy) -> None:
        try:
            found = list(runs(api.generate(policy)))
        except PolicykitError:
            reject()
        assume(found)
        for run in found:
            check(cluster, run)
            names.extend(run.scheduler_names)

    start()
    print(f"{RANDOM_POLICIES} random policies: {len(names)} profiles of kube-scheduler bound a pod")
    assert len(names) >= RANDOM_POLICIES


def test_an_unknown_field_is_noticed(cluster: Cluster) -> None:
    """What this file looks for would be seen."""
    wrong = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "x", "plugin": {}}],
    }
    with (
        pytest.raises(AssertionError, match="unknown field"),
        kube_scheduler(cluster.plane, cluster.folder / "scheduler", wrong),
    ):
        pass
