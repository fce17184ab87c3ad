"""labels.sh, taints.sh and labels.yaml on real nodes, twice, and `nodes --check` afterwards."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, assume, given, settings

from policykit.generator.bundle import bundle
from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster as Policy
from policykit.model.pool import Pool, Shape
from policykit.model.quantity import amount_text
from policykit.policy.load import load_text
from policykit.targets.nodes.generate import generate
from policykit.workspace.files import read
from tests.cli.commands import process
from tests.cluster.api_server import NODES, ApiServer, api_server
from tests.cluster.cluster import Cluster
from tests.cluster.programs import folder
from tests.policies import policies
from tests.shared import ROOT

RANDOM_POLICIES = 12
_LABEL = re.compile(r"([\w./-]+)=")


def nodes(policy: Policy, files: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Nodes as they are before the scripts: with what no script adds to them."""
    for pool in policy.pools:
        for position, shape in enumerate(pool.shapes):
            names = shape.node_names or [
                f"{pool.name}.{position}.{number}" for number in range(max(1, shape.minimum))
            ]
            yield from (_node(name, pool, shape, files) for name in names)


def _node(name: str, pool: Pool, shape: Shape, files: dict[str, str]) -> dict[str, Any]:
    added = set(_LABEL.findall(files.get(f"nodes/{pool.name}/labels.sh", "")))
    labels = {**pool.labels, **shape.labels}
    there = {key: value for key, value in labels.items() if key not in added} | dict(shape.selector)
    tainted = files.get(f"nodes/{pool.name}/taints.sh", "").split()
    taints = [taint._asdict() for taint in pool.taints if str(taint) not in tainted]
    amounts = {"cpu": 8000, "memory": 1 << 34, "pods": 110, **shape.allocatable}
    allocatable = {resource: amount_text(resource, amount) for resource, amount in amounts.items()}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **there}},
        "spec": {"taints": taints, "unschedulable": pool.unschedulable},
        "status": {"allocatable": allocatable, "capacity": allocatable},
    }


def run(cluster: Cluster, script: Path) -> None:
    path = f"{folder()}{os.pathsep}{os.environ['PATH']}"
    plane = cluster.plane
    environment = {"PATH": path, "KUBECONFIG": str(plane.kubeconfig), "HOME": str(plane.folder)}
    done = subprocess.run(["sh", script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{script}\n{script.read_text()}\n{done.stderr}"


def stated(server: ApiServer) -> list[Any]:
    """Names, labels and taints of all nodes."""
    return [
        (node["metadata"]["name"], node["metadata"]["labels"], node["spec"].get("taints", []))
        for node in server.items(NODES)
    ]


def check(cluster: Cluster, server: ApiServer, text: str) -> list[str]:
    """Runs what is generated for the nodes of a policy; the names of the scripts."""
    policy = load_text(text.encode(), "policykit.yaml", read).cluster
    files = bundle(policy, generate(policy))
    scripts = sorted(path for path in files if path.endswith(("/labels.sh", "/taints.sh")))
    if not scripts:
        return []
    out = cluster.folder / "generated"
    for path, content in files.items():
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).write_text(content)
    server.create_nodes(nodes(policy, files))
    try:
        for path in scripts:
            run(cluster, out / path)
        first = stated(server)
        for path in scripts:
            run(cluster, out / path)
        for path in files:
            if path.endswith("/labels.yaml"):
                cluster.kubectl(
                    "apply", "--server-side", "--force-conflicts", "--validate=strict", "-f", str(out / path)
                )
        assert stated(server) == first
        (cluster.folder / "policykit.yaml").write_text(text)
        (cluster.folder / "nodes.json").write_text(cluster.kubectl("get", "nodes", "-o", "json"))
        said = process("nodes", "--check", "nodes.json", "-p", "policykit.yaml", cwd=cluster.folder)
        assert (said.code, said.out) == (0, ""), f"{said.out}{said.err}\n{text}\n{json.dumps(first)}"
    finally:
        server.delete_all(NODES)
    return scripts


def test_the_example(cluster: Cluster) -> None:
    with api_server(cluster.plane) as server:
        assert check(cluster, server, (ROOT / "examples/policykit.yaml").read_text())


def test_random_policies(cluster: Cluster) -> None:
    """A policy without a script for any pool is none of them."""
    ran: list[str] = []

    @settings(
        max_examples=RANDOM_POLICIES,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(policies())
    def apply(data: dict[str, Any]) -> None:
        with api_server(cluster.plane) as server:
            scripts = check(cluster, server, dump(data))
        assume(scripts)
        ran.extend(scripts)

    apply()
    assert len(ran) >= RANDOM_POLICIES
    print(f"{RANDOM_POLICIES} random policies: {len(ran)} scripts ran twice, `nodes --check` clean")
