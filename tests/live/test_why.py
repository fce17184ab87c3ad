"""`policykit why`: what a pod waits for, and what would help; or where it runs."""

from __future__ import annotations

import json
from typing import Any

from tests.cli.commands import Shell
from tests.live.api_server import ApiServer
from tests.live.objects import NODES, POLICY, deployment, node, pod, pod_spec

REPLICA_SET = {
    "apiVersion": "apps/v1",
    "kind": "ReplicaSet",
    "metadata": {
        "name": "chat-1",
        "namespace": "default",
        "uid": "rs",
        "ownerReferences": [{"kind": "Deployment", "name": "chat", "uid": "chat", "controller": True}],
    },
    "spec": {},
}
OWNER = {"kind": "ReplicaSet", "name": "chat-1", "uid": "rs"}


def bound(name: str, at: str, cards: int, namespace: str = "other") -> dict[str, Any]:
    return pod(name, {**pod_spec(cards), "nodeName": at}, namespace, phase="Running")


def cluster(server: ApiServer, *pods: dict[str, Any], cards: int = 4, placed: bool = True) -> None:
    """A deployment with one waiting pod, beside others."""
    made = deployment("chat", pod_spec(cards, placed=placed))
    made["metadata"]["uid"] = "chat"
    waiting = pod("chat-1-a", pod_spec(cards, placed=placed), owner=OWNER)
    server.add(*NODES, made, REPLICA_SET, waiting, *pods)
    server.serve("v1", "Event")


def event(message: str, time: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": time, "namespace": "default", "creationTimestamp": time},
        "involvedObject": {"kind": "Pod", "name": "chat-1-a"},
        "reason": "FailedScheduling",
        "message": message,
    }


def test_cards_are_free_in_pieces(server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    cluster(server, bound("a", "train-1", 7), bound("b", "train-2", 6))
    server.add(event("0/2 nodes are available", "2026-01-01T00:00:01Z"), event("old", "2026-01-01T00:00:00Z"))
    result = shell.run("why", "chat-1-a")
    assert result.out == (
        "Pod default/chat-1-a  pod  (1 pod, each requests 4 x nvidia.com/gpu)\n"
        "  waits for a node\n"
        "  accepted     train\n"
        "      no room now on 2 nodes\n"
        "      2 nodes: 3 nvidia.com/gpu free in pieces of 1 and 2, 4 needed on one\n"
        "  refused      web    affinity: required affinity a.example.com/node.usage In training, but "
        "its nodes do not have that label\n"
        "  default-scheduler: 0/2 nodes are available\n"
        "  help: pool train: free 4 nvidia.com/gpu on one node, or add a node\n"
    )
    assert result.code == 1


def test_room_on_one_node(server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    cluster(server, bound("a", "train-1", 7))
    result = shell.run("why", "deployment/chat")
    assert "      room now on 1 of 2 nodes, for 2 pods\n      1 node: 1 nvidia.com/gpu free" in result.out
    assert "  default-scheduler: has not tried it: check that it runs\n" in result.out


def test_cordoned_nodes(server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    server.add(node("train-3", 8, unschedulable=True))
    policy = POLICY.replace("train-[1-2]", "train-3")
    shell.write({"policykit.yaml": policy})
    server.add(pod("a", pod_spec(4)))
    server.serve("v1", "Event")
    result = shell.run("why", "pod/a")
    assert "      no room now on 1 node\n      train-3: cordoned\n" in result.out
    assert result.out.endswith("  help: pool train: cordoned\n        kubectl uncordon train-3\n")


def test_no_pool_accepts(server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    cluster(server, placed=False)
    result = shell.run("why", "pods/chat-1-a")
    assert result.out.endswith(
        "  help: no pool accepts it: place it as workload kind training\n"
        "        kubectl get deployments.apps/chat -n default -o yaml"
        " | policykit patch - | kubectl apply -f -\n"
    )


def test_running_pods(server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    server.add(*NODES, bound("right", "train-1", 4, "default"), bound("wrong", "web-1", 4, "default"))
    server.serve("v1", "Event")
    result = shell.run("why", "right", "wrong")
    assert result.code == 0
    assert "  runs on train-1, in pool train\n" in result.out
    assert "  runs on web-1, in pool web; the policy means it for train\n" in result.out
    assert "help" not in result.out


def test_alike_pods_are_told_once(server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    more = [pod(f"chat-1-{n}", pod_spec(4), owner=OWNER) for n in range(30)]
    cluster(server, *more)
    result = shell.run("why", "deploy/chat")
    assert result.code == 2
    result = shell.run("why", "deployments/chat")
    assert result.out.count("  waits for a node, and 30 more pods like it\n") == 1
    assert result.out.count("waits for a node") == 1
    assert len(server.lists("events")) == 1


def test_an_object_without_pods(server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    job = deployment("train", pod_spec(4))
    job |= {"apiVersion": "batch/v1", "kind": "Job"}
    job["spec"] |= {"suspend": True, "parallelism": 2}
    server.add(*NODES, job)
    server.serve("v1", "Event", "Pod")
    result = shell.run("why", "job/train")
    assert result.out.startswith(
        "Job default/train  pod  (2 pods, each requests 4 x nvidia.com/gpu)\n"
        "  has no pods\n"
        "  it is suspended\n"
    )
    assert (
        "  help: it is suspended: a queueing system resumes it, or else you\n"
        '        kubectl patch jobs.batch/train -n default --type merge -p \'{"spec":{"suspend":false}}\'\n'
    ) in result.out


def test_the_queue_and_the_gang(server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    spec = {**pod_spec(4), "schedulerName": "volcano"}
    waiting = pod("worker-0", spec)
    waiting["metadata"]["annotations"] = {
        "scheduling.k8s.io/group-name": "workers",
        "scheduling.volcano.sh/queue-name": "research",
    }
    group = {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "workers", "namespace": "default"},
        "spec": {"minMember": 2, "queue": "research"},
        "status": {
            "phase": "Inqueue",
            "conditions": [{"type": "Unschedulable", "message": "1/2 tasks in gang"}],
        },
    }
    queue = {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": "research"},
        "spec": {"capability": {"nvidia.com/gpu": 8}},
        "status": {"allocated": {"nvidia.com/gpu": "7", "cpu": "100m"}},
    }
    server.add(*NODES, waiting, group, queue)
    server.serve("v1", "Event")
    result = shell.run("why", "worker-0")
    assert (
        "  gang workers: needs 2 pods at once, 1 exist, 0 have a node; Inqueue: 1/2 tasks in gang\n"
        in result.out
    )
    assert "  queue research: uses 100m cpu, 7 nvidia.com/gpu; limit 8 nvidia.com/gpu\n" in result.out


def test_without_the_pods_of_other_namespaces(server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    server.add(*NODES, pod("a", pod_spec(4)))
    server.serve("v1", "Event")
    server.forbidden_everywhere.add("pods")
    result = shell.run("why", "a")
    assert "  room: unknown, because the pods of all namespaces may not be read\n" in result.out


def test_events_that_may_not_be_read(server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    said = [{"type": "PodScheduled", "status": "False", "message": "0/3 nodes\x1b[31m"}]
    server.add(*NODES, pod("a", pod_spec(4), conditions=said))
    server.serve("v1", "Event")
    server.forbidden.add("events")
    result = shell.run("why", "a")
    assert "  default-scheduler: 0/3 nodes\\x1b[31m\n" in result.out
    assert "policykit: events not read: may not read events: " in result.err


def test_json(server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    cluster(server, bound("a", "train-1", 7))
    (found,) = json.loads(shell.run("why", "chat-1-a", "--format", "json").out)["explanations"]
    assert found["rooms"][0]["open_nodes"] == ["train-2"]
    assert found["steps"] == []


def test_nodes_as_pools(server: ApiServer, shell: Shell) -> None:
    cluster(server)
    result = shell.run("why", "chat-1-a")
    assert "  accepted     train-1\n      room now on 1 of 1 node, for 2 pods\n" in result.out


def test_names_that_are_not_there(server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    cluster(server)
    assert shell.run("why", "x").err.startswith("policykit: no pod default/x\n")
    assert shell.run("why", "deployment/x").err.startswith("policykit: no Deployment default/x\n")
    assert shell.run("why", "elephant/x").err.startswith("policykit: no kind 'elephant' with pods\n")
    assert shell.run("why", "-A", "x").code == 2


def test_a_runtime_class_adds_tolerations(server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    runtime = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "kata"},
        "handler": "kata",
        "scheduling": {"tolerations": [{"operator": "Exists"}]},
    }
    server.add(*NODES, runtime, deployment("chat", {**pod_spec(4, placed=False), "runtimeClassName": "kata"}))
    result = shell.run("why", "deployment/chat")
    assert "  accepted     train\n" in result.out
