"""The four changes of the chapter "Change the policy", step by step, with workloads that run meanwhile.

kube-scheduler places the pods under Volcano's name. After every step all workloads are restarted, and all of
them must run again before the next.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from policykit.plan.transition import DELETE, MERGE
from policykit.policy.load import load_text
from policykit.workspace.files import read
from tests.cli.commands import process
from tests.cluster.cluster import Cluster, node
from tests.cluster.kubelet import kubelet
from tests.cluster.scheduler import kube_scheduler
from tests.shared import ROOT

Data = dict[str, Any]
NAMESPACES = ("research", "serving")
CONFIGURATION = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"schedulerName": "volcano"}],
}
_STEP = 40
"""Seconds in which every pod runs again."""
_FORMER = re.compile(r"with `formerly: (\{.*?\})`")


def _nodes_moved(data: Data) -> None:
    data["pools"]["train"]["nodes"]["names"].append("infer-3")
    data["pools"]["infer"]["nodes"]["names"] = ["infer-[1-2]"]


def _usage_renamed(data: Data) -> None:
    data["pools"]["infer"]["usage"] = "serving"
    data["workloads"]["inference"]["usages"] = ["serving"]


def _domain_changed(data: Data) -> None:
    data["domain"] = "ml.example.com"


def _queue_renamed(data: Data) -> None:
    data["queues"]["science"] = data["queues"].pop("research")
    data["workloads"]["training"]["queue"] = "science"


CHANGES: dict[str, tuple[Callable[[Data], None], int]] = {
    "nodes moved": (_nodes_moved, 2),
    "usage renamed": (_usage_renamed, 6),
    "domain changed": (_domain_changed, 12),
    "queue renamed": (_queue_renamed, 5),
}
"""The change, and how many steps it takes."""


class Repository:
    """A repository as GitOps applies it."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster, self.folder = cluster, folder
        shutil.copytree(ROOT / "docs/change", folder, dirs_exist_ok=True)
        self.policykit("gen")
        self.git("init", "-q")
        self.commit()

    def git(self, *words: str) -> None:
        subprocess.run(["git", *words], cwd=self.folder, check=True)

    def commit(self) -> None:
        self.git("add", "-A")
        self.git(
            "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-q", "--allow-empty", "-m", "x"
        )

    def policykit(self, *words: str) -> str:
        done = process(*words, cwd=self.folder)
        assert done.code in (0, 1), done.err
        return done.out

    def write(self, data: Data) -> None:
        (self.folder / "policykit.yaml").write_text(yaml.safe_dump(data))

    def read(self) -> Data:
        found: Data = yaml.safe_load((self.folder / "policykit.yaml").read_text())
        return found

    def applied(self) -> None:
        """Merged, and applied as Flux or Argo CD does; nothing is pruned."""
        self.commit()
        for words in (("-k", str(self.folder / "generated")), ("-f", str(self.folder / "apps"))):
            self.cluster.kubectl("apply", *words)

    def create_nodes(self) -> None:
        raw = (self.folder / "policykit.yaml").read_bytes()
        pools = load_text(raw, "policykit.yaml", read).cluster.pools
        amounts = {"cpu": "200", "memory": "2000Gi", "pods": "110", "nvidia.com/gpu": "8"}
        self.cluster.create_nodes(
            [
                node(name, pool.labels, [taint._asdict() for taint in pool.taints], amounts)
                for pool in pools
                for shape in pool.shapes
                for name in shape.node_names
            ]
        )


def pending(cluster: Cluster) -> list[str]:
    """Pods of the workloads that do not run, and objects that have too few of them."""
    found = []
    for namespace in NAMESPACES:
        pods = cluster.get("pods", "-n", namespace)
        found += [pod["metadata"]["name"] for pod in pods if pod["status"]["phase"] != "Running"]
        for one in cluster.get("deployments,jobs", "-n", namespace):
            spec, status = one["spec"], one.get("status", {})
            wanted = spec.get("replicas", spec.get("parallelism"))
            there = status.get("updatedReplicas", 0) if "replicas" in spec else status.get("active", 0)
            if (there, status.get("replicas", there)) != (wanted, wanted):
                found.append(one["metadata"]["name"])
    return found


def run_again(repository: Repository, at: str) -> None:
    """Waits until everything runs, restarts all of it, and waits again."""
    cluster = repository.cluster
    for restart in (False, True):
        if restart:
            cluster.kubectl("delete", "pods", "--all", "-n", "serving", "--wait=true")
            # A Job waits ever longer before it replaces a pod that has failed.
            cluster.kubectl("replace", "--force", "-f", str(repository.folder / "apps/pretrain.yaml"))
        begun = time.monotonic()
        while waiting := pending(cluster):
            assert time.monotonic() - begun < _STEP, f"{at}: {waiting}"
            time.sleep(0.5)


def steps(repository: Repository, change: Callable[[Data], None]) -> Iterator[tuple[Data, Data]]:
    """Each step of the plan, and the policy that is planned."""
    data = repository.read()
    change(data)
    repository.write(data)
    repository.policykit("patch", "--from", "HEAD", "--in-place", "apps")
    planned = json.loads(repository.policykit("plan", "--format", "json"))
    assert planned["summary"]["safe"]
    repository.git("checkout", "-q", ".")
    for step in planned["steps"]:
        yield step, data


def do(repository: Repository, step: Data, after: Data) -> None:
    """What a step says, word for word; what it calls replaced is deleted."""
    cluster = repository.cluster
    if step["when"] == DELETE:
        cluster.kubectl("delete", "jobs", "--all", "-n", "research", "--wait=true")
        return
    if step["when"] == MERGE:
        former = _FORMER.search(step["text"])
        repository.write({**after, **({"formerly": yaml.safe_load(former[1])} if former else {})})
        changed = [one for one in step["commands"] if "patch" in one]
        if not changed and "manifests" in step["text"]:
            repository.policykit("patch", "--from", "HEAD", "--in-place", "apps")
    for command in step["commands"]:
        words = shlex.split(command.replace("\\\n", " "))
        if words[0] == "kubectl":
            cluster.kubectl(*words[1:])
        elif step["when"] == MERGE:
            repository.policykit(*words[1:])
    if step["when"] == MERGE:
        repository.applied()


@pytest.mark.parametrize("name", CHANGES)
def test_no_pod_waits_longer_than_a_step(cluster: Cluster, defined: None, tmp_path: Path, name: str) -> None:
    change, number = CHANGES[name]
    cluster.create_namespaces(NAMESPACES)
    repository = Repository(cluster, tmp_path / "repository")
    repository.create_nodes()
    done = 0
    with kube_scheduler(cluster.plane, tmp_path / "scheduler", CONFIGURATION), kubelet(cluster.plane):
        repository.applied()
        run_again(repository, "before")
        for step, after in steps(repository, change):
            do(repository, step, after)
            done += 1
            if step["when"] != DELETE:  # the merge that follows brings the objects back
                run_again(repository, f"step {done}, {step['when']}: {step['text']}")
    assert done == number
    (repository.folder / "nodes.json").write_text(cluster.kubectl("get", "nodes", "-o", "json"))
    said = process("nodes", "--check", "nodes.json", cwd=repository.folder)
    assert (said.code, said.out) == (0, ""), said.out + said.err
    said = process("lint", "apps", cwd=repository.folder)
    assert (said.code, said.out) == (0, ""), said.out + said.err
    queues = {one["metadata"]["name"] for one in cluster.get("queues.scheduling.volcano.sh")}
    assert queues == set(repository.read()["queues"])
    cluster.kubectl("delete", "queues.scheduling.volcano.sh", "--all")
