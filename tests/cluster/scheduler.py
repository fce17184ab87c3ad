"""A kube-scheduler with a configuration, for a block."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tests.cluster.control_plane import ControlPlane, Program, free_ports

_START = 60
"""Seconds in which it must be ready; one that ends is noticed at once."""
_READY = "Serving securely"
"""Logged once its plugins are there; it listens on its port before."""


class Scheduler(NamedTuple):
    """One that runs."""

    log_file: Path

    def log(self) -> str:
        return self.log_file.read_text(errors="replace")


@contextmanager
def kube_scheduler(
    plane: ControlPlane, folder: Path, configuration: Mapping[str, Any], *arguments: str
) -> Iterator[Scheduler]:
    """Starts it, waits until it is ready, and stops it.

    Of the configuration only what no test is about is changed: how it reaches the API server, and that
    it elects no leader.
    """
    folder.mkdir(exist_ok=True)
    connection = {"kubeconfig": str(plane.kubeconfig), "qps": 5000, "burst": 5000}
    run_here = {**configuration, "clientConnection": connection}
    run_here["leaderElection"] = {**configuration.get("leaderElection", {}), "leaderElect": False}
    file = folder / "configuration.yaml"
    file.write_text(yaml.safe_dump(run_here))
    (port,) = free_ports(1)
    with ExitStack() as programs:
        program = Program(folder, programs)
        program.start(
            "kube-scheduler",
            f"--config={file}",
            f"--secure-port={port}",
            "--bind-address=127.0.0.1",
            f"--cert-dir={folder}",
            "--v=2",
            *arguments,
        )
        running = Scheduler(folder / "kube-scheduler.log")
        end = time.monotonic() + _START
        while _READY not in running.log():
            program.check_running()
            assert time.monotonic() < end, program.log("kube-scheduler")
            time.sleep(0.1)
        yield running
        program.check_running()
