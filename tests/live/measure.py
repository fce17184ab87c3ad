"""Seconds, CPU seconds and memory of commands by the size of the cluster: `python -m tests.live.measure`.

The server is a process of its own, so that only policykit is measured.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from tests.live.api_server import api_server, kubeconfig
from tests.live.objects import deployment, node, pod, pod_spec
from tests.shared import ROOT

SIZES = ((1_000, 10_000), (2_500, 25_000), (5_000, 50_000), (10_000, 100_000))
"""Nodes and pods."""
COMMANDS = (("audit", "-A"), ("lint", "--live", "-A"), ("nodes", "--live"), ("why", "waits"))
_CARDS = 8
_OF_A_DEPLOYMENT = 50
POLICY = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {{name: large}}
domain: a.example.com
scheme: {{preset: seed, controlPlane: false}}
cards: {{h20: {{product: NVIDIA-H20}}}}
pools:
  train: {{usage: training, card: h20, nodes: {nodes}, allocatable: {{cpu: 100, memory: 1Ti}}}}
workloads:
  training: {{usages: [training]}}
priorities:
  urgent: {{value: 1000}}
"""


class Cost(NamedTuple):
    """What a command took."""

    seconds: float
    cpu_seconds: float
    """Of these, those in which it computed: the others it waited for the server."""
    peak: int
    """Bytes."""
    code: int


def serve(nodes: int, pods: int, sink: Connection) -> None:
    """A cluster whose pods are of deployments, in a process of its own, until the pipe ends."""
    with api_server() as server:
        server.add(*(node(f"n-{number}", _CARDS) for number in range(nodes)))
        for number in range(pods // _OF_A_DEPLOYMENT):
            server.add(deployment(f"d-{number}", pod_spec(1), replicas=_OF_A_DEPLOYMENT))
        for number in range(pods):
            owner = {"kind": "ReplicaSet", "name": "r", "uid": f"r-{number // _OF_A_DEPLOYMENT}"}
            spec = {**pod_spec(1), "nodeName": f"n-{number % nodes}"}
            server.add(pod(f"p-{number}", spec, "jobs", owner, phase="Running"))
        server.add(pod("waits", pod_spec(_CARDS)))
        server.serve("v1", "Event")
        server.serve("scheduling.k8s.io/v1", "PriorityClass")
        sink.send(server.url)
        sink.poll(None)


def measure(folder: Path, config: Path, words: Sequence[str]) -> Cost:
    """Runs a command; its own peak, without that of the server."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "KUBECONFIG": str(config)}
    begun = time.monotonic()
    command = [sys.executable, "-m", "policykit", *words]
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    computed = usage.ru_utime + usage.ru_stime
    return Cost(time.monotonic() - begun, computed, usage.ru_maxrss * 1024, process.returncode)


def costs(nodes: int, pods: int, commands: Sequence[Sequence[str]] = COMMANDS) -> list[Cost]:
    """Of each command on a cluster of a size."""
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("fork").Process(target=serve, args=(nodes, pods, theirs))
    server.start()
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / ".git").mkdir()
            (folder / "policykit.yaml").write_text(POLICY.format(nodes=nodes))
            config = kubeconfig(folder, ours.recv())
            return [measure(folder, config, words) for words in commands]
    finally:
        ours.send("end")
        server.join()
        ours.close()
        theirs.close()


def main() -> None:
    print(f"{'nodes':>7} {'pods':>8}  {'command':<18} {'seconds':>8} {'CPU':>7} {'peak MiB':>9}  exit")
    for nodes, pods in SIZES:
        for words, cost in zip(COMMANDS, costs(nodes, pods), strict=True):
            shown = " ".join(words)
            peak = cost.peak / (1 << 20)
            print(
                f"{nodes:>7} {pods:>8}  {shown:<18} {cost.seconds:>8.1f} {cost.cpu_seconds:>7.1f} "
                f"{peak:>9.0f}  {cost.code}",
                flush=True,
            )


if __name__ == "__main__":
    main()
