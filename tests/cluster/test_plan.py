"""Plans on a real API server: commands run by kubectl, pods bound by kube-scheduler, objects replaced."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from policykit.plan.replacements import REPLACED, replacement
from tests.cluster.api_server import NODES, PODS, ApiServer, RefusedError, api_server
from tests.cluster.cluster import Cluster, node
from tests.cluster.pods import outcomes
from tests.cluster.scheduler import kube_scheduler
from tests.clusters import policy
from tests.plan.pairs import Pair, pair
from tests.plan.simulator import Node, Spec, World, cards_of, commands_of
from tests.plan.stages import nodes_of, planned, specs, stages

PAIRS = 20
CONFIGURATION = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
_HOSTNAME = "kubernetes.io/hostname"


def machine(name: str, like: Node) -> dict[str, Any]:
    taints = [{"key": key, "value": value, "effect": effect} for (key, effect), value in like.taints.items()]
    # Room for every probe at once: what is tried are labels and taints.
    amounts = {"cpu": "100", "memory": "100Gi", "pods": "110"}
    return node(name, like.labels, taints, {**amounts, **({"nvidia.com/gpu": "800"} if like.cards else {})})


def probes(world: World) -> Iterator[tuple[str, str, Spec, bool]]:
    """For each template and node that is large enough: a name, the node, the PodSpec, and whether the
    simulation accepts it."""
    for workload, templates in world.templates.items():
        for number, spec in enumerate(templates):
            for name, there in world.nodes.items():
                if cards_of(spec) <= there.cards:
                    yield f"{workload}-{number}-{name}", name, spec, there.accepts(spec)


def compare(server: ApiServer, world: World, least: Mapping[str, int], at: str) -> int:
    """Simulated nodes have the labels and taints of the real ones, and accept what the scheduler binds."""
    real = {one["metadata"]["name"]: one for one in server.items(NODES)}
    assert set(real) == set(world.nodes), at
    for name, there in world.nodes.items():
        labels = dict(real[name]["metadata"]["labels"])
        del labels[_HOSTNAME]
        taints = {(t["key"], t["effect"]): t.get("value", "") for t in real[name]["spec"].get("taints", ())}
        assert (labels, taints) == (there.labels, there.taints), f"{at}: {name}"
    expected = {}
    for name, on, spec, accepted in probes(world):
        selector = {**spec.get("nodeSelector", {}), _HOSTNAME: on}
        body = {**spec, "nodeSelector": selector, "terminationGracePeriodSeconds": 0}
        body["schedulerName"] = "default-scheduler"  # of gangs, too: what is tried is one pod at a time
        server.create(PODS, {"metadata": {"name": name}, "spec": body})
        expected[name] = accepted
    found = outcomes(server, expected)
    server.delete_all(PODS)
    wrong = {name: found[name] for name, accepted in expected.items() if bool(found[name].node) != accepted}
    assert not wrong, f"{at}: {wrong}"
    for workload, number in least.items():
        for one in range(len(world.templates[workload])):
            tried = (f"{workload}-{one}-{name}" for name in world.nodes)
            bound = sum(bool(found[each].node) for each in tried if each in found)
            assert bound >= number, f"{at}: {workload} has {bound} nodes, at least {number} are promised"
    return len(expected)


def follow(cluster: Cluster, server: ApiServer, one: Pair, seed: int) -> int:
    """Does every step of a plan, and compares after each; the number of pods that were tried."""
    plan = planned(one)
    assert plan.is_safe
    old, new = specs(one.old), specs(one.new)
    world = World(nodes_of(policy(one.before)), {}).with_templates(old)
    final = nodes_of(policy(one.after))
    was, will = world.accepting(), World(final, {}).with_templates(new).accepting()
    least = {name: min(was[name], will[name]) for name in was}
    server.create_nodes(machine(name, each) for name, each in world.nodes.items())
    tried, present = compare(server, world, least, f"pair {seed}: before"), old
    for stage in stages(one, plan):
        at = f"pair {seed}: {stage.step.when}: {stage.step.text}"
        if stage.manifests is not None:
            following = specs(stage.manifests)
            tried += compare(server, world.with_templates(present, following), least, at)
            world, present = world.with_templates(following), following
            continue
        if stage.joins:
            joining = {name: each for name, each in final.items() if name not in world.nodes}
            server.create_nodes(machine(name, each) for name, each in joining.items())
            world = World({**world.nodes, **joining}, world.templates)
        for text in stage.commands:
            words = [word for word in text.replace("\\\n", " ").split() if word != "kubectl"]
            if words[0] != "drain":
                cluster.kubectl(*words)
                world = world.changed(commands_of([text], world.nodes))
        tried += compare(server, world, least, at)
    server.delete_all(NODES)
    return tried


def test_plans_of_random_pairs_are_followed(cluster: Cluster, tmp_path: Path) -> None:
    seeds = [seed for seed in range(2 * PAIRS) if planned(pair(seed)).is_safe][:PAIRS]
    assert len(seeds) == PAIRS
    with (
        api_server(cluster.plane) as server,
        kube_scheduler(cluster.plane, tmp_path / "scheduler", CONFIGURATION),
    ):
        tried = sum(follow(cluster, server, pair(seed, workloads=2), seed) for seed in seeds)
    print(f"{PAIRS} plans followed, {tried} pods tried: none was placed otherwise than simulated")


TEMPLATE: dict[str, Any] = {
    "metadata": {"labels": {"app": "a"}},
    "spec": {"containers": [{"name": "a", "image": "registry.example/a:1"}]},
}
_ONCE = {**TEMPLATE, "spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}
_SELECTED = {"selector": {"matchLabels": {"app": "a"}}, "template": TEMPLATE}
OBJECTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "deployment": ("apps", "Deployment", _SELECTED),
    "recreate": ("apps", "Deployment", {**_SELECTED, "strategy": {"type": "Recreate"}}),
    "stateful set": ("apps", "StatefulSet", {**_SELECTED, "serviceName": "a"}),
    "daemon set": ("apps", "DaemonSet", _SELECTED),
    "replica set": ("apps", "ReplicaSet", _SELECTED),
    "replication controller": ("", "ReplicationController", {"selector": {"app": "a"}, "template": TEMPLATE}),
    "job": ("batch", "Job", {"template": _ONCE}),
    "suspended job": ("batch", "Job", {"template": _ONCE, "suspend": True}),
}
_NODES = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]}
CHANGES: dict[str, dict[str, Any]] = {
    "tolerations": {"tolerations": [{"key": "a", "operator": "Exists"}]},
    "nodeSelector": {"nodeSelector": {"a": "b"}},
    "affinity.nodeAffinity": {
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": _NODES}}
    },
    "schedulerName": {"schedulerName": "other"},
}


@pytest.mark.parametrize("name", OBJECTS)
@pytest.mark.parametrize("change", CHANGES)
def test_what_the_server_refuses_must_be_replaced(cluster: Cluster, name: str, change: str) -> None:
    group, kind, spec = OBJECTS[name]
    version = {"apps": "apps/v1", "batch": "batch/v1", "": "v1"}[group]
    one = {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": "a", "namespace": "default"},
        "spec": spec,
    }
    cluster.kubectl("apply", "-f", "-", text=yaml.safe_dump(one))
    after = copy.deepcopy(one)
    after["spec"]["template"]["spec"] |= CHANGES[change]  # type: ignore[index]
    expected = replacement(after, group, kind, frozenset({change}))
    assert expected is not None
    refused = expected.how == REPLACED
    said = cluster.kubectl("apply", "--dry-run=server", "-f", "-", text=yaml.safe_dump(after), fails=refused)
    assert ("immutable" in said) == refused, said


@pytest.mark.parametrize("change", [each for each in CHANGES if each != "tolerations"])
def test_a_pod_keeps_where_it_may_run(cluster: Cluster, change: str) -> None:
    """More tolerations are the exception, which `patch` cannot count on: it may also take some away."""
    pod = {"metadata": {"name": "a"}, "spec": TEMPLATE["spec"]}
    with api_server(cluster.plane) as server:
        server.create(PODS, pod)
        with pytest.raises(RefusedError):
            server.request("PATCH", f"{PODS}/a", {"spec": CHANGES[change]})


@pytest.mark.parametrize("field", [{"value": 20}, {"preemptionPolicy": "Never"}], ids=["value", "policy"])
def test_a_priority_class_is_immutable(cluster: Cluster, field: dict[str, Any]) -> None:
    one = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "a"},
        "value": 10,
    }
    cluster.kubectl("apply", "-f", "-", text=yaml.safe_dump(one))
    said = cluster.kubectl(
        "apply", "--dry-run=server", "-f", "-", text=yaml.safe_dump({**one, **field}), fails=True
    )
    assert "may not be changed in an update" in said or "immutable" in said
