"""A scheduler with a configuration, for a block."""

from __future__ import annotations

import base64
import re
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from policykit import api
from policykit.model.cluster import Cluster as Policy
from policykit.targets.koordinator.generate import CONFIG_MAP_FILE
from policykit.targets.volcano import generate as volcano_files
from policykit.targets.volcano.names import CONFIG_FILE, CONFIG_OVERRIDE
from policykit.targets.yunikorn import generate as yunikorn_files
from tests.cluster.control_plane import ControlPlane, Program, free_ports
from tests.cluster.programs import path_of, variable

_START = 60
"""Seconds in which it must be ready; one that ends is noticed at once."""
_READY = "Serving securely"
"""Logged once its plugins are there; it listens on its port before."""
_COMPLAINT = re.compile(
    r"(?i)(?:[EWF][0-9]{4} |\S+\t(?:ERROR|WARN)\t).*(?:unknown|ignor|deprecat|unrecognized|duplicate field"
    r"|failed to get plugin|could not parse|is invalid:)"
)
"""In a message; the configuration that is logged too has fields with such names."""
_OF_EVERY_START = ("The manifest file is empty, ignoring.", "'userLabelKey' config is deprecated")
"""Said with any configuration, its own included."""
_CONFIGURATIONS = (
    volcano_files.VALUES,
    volcano_files.CONFIG_MAP,
    yunikorn_files.VALUES,
    yunikorn_files.CONFIG_MAP,
    f"koordinator/{CONFIG_MAP_FILE}",
    f"koordinator/post-render/{CONFIG_MAP_FILE}",
)
_NAMESPACE = "yunikorn"
_OF_THE_CHART = ("--enable-network-topology-manager=true",)


class Scheduler(NamedTuple):
    """One that runs."""

    log_file: Path

    def log(self) -> str:
        return self.log_file.read_text(errors="replace")

    def complaints(self) -> list[str]:
        """Lines about fields that it does not know or ignores."""
        said = [line for line in self.log().splitlines() if _COMPLAINT.match(line)]
        return [line for line in said if not any(known in line for known in _OF_EVERY_START)]


class System(NamedTuple):
    """A scheduler that is not built here."""

    target: str
    """Its name in policies."""
    version: str
    """Of the programs."""
    scheduler_name: str
    programs: tuple[str, ...]

    def require(self) -> None:
        """Skips the test where a program is not given."""
        absent = [variable(name) for name in self.programs if not path_of(name)]
        if absent:
            pytest.skip(f"{', '.join(absent)} not given")

    def configuration(self, policy: Policy) -> dict[str, str]:
        """Data of the ConfigMap that `gen` writes, or that the chart makes of its values; often empty."""
        texts = {artifact.path: artifact.text for artifact in api.generate(policy).artifacts}
        for path in texts.keys() & {each for each in _CONFIGURATIONS if each.startswith(self.target)}:
            data = yaml.safe_load(texts[path])
            return dict(next(data[key] for key in ("data", "custom", "yunikornDefaults") if key in data))
        return {}

    @contextmanager
    def run(self, plane: ControlPlane, folder: Path, configuration: Mapping[str, str]) -> Iterator[Scheduler]:
        """Starts it with the data of its ConfigMap. It must not complain about them."""
        with self.start(plane, folder, configuration) as scheduler:
            yield scheduler
        assert scheduler.complaints() == []

    def start(
        self, plane: ControlPlane, folder: Path, configuration: Mapping[str, str]
    ) -> AbstractContextManager[Scheduler]:
        """The same, whatever it says."""
        if self is YUNIKORN:
            return yunikorn(plane, folder, configuration)
        if self is VOLCANO:
            return volcano(plane, folder, configuration.get(CONFIG_FILE) or configuration[CONFIG_OVERRIDE])
        (text,) = configuration.values()
        return koord_scheduler(plane, folder, yaml.safe_load(text))


VOLCANO = System("volcano", "1.15.1", "volcano", ("volcano-scheduler", "volcano-controller-manager"))
KOORDINATOR = System("koordinator", "1.8.0", "koord-scheduler", ("koord-scheduler",))
YUNIKORN = System("yunikorn", "1.9.0", "yunikorn", ("yunikorn-scheduler",))
SYSTEMS = (VOLCANO, KOORDINATOR, YUNIKORN)
VOLCANO_WEBHOOK = "volcano-webhook-manager"
_HOOKS = {
    "/jobs/mutate": ("batch.volcano.sh", "jobs"),
    "/jobs/validate": ("batch.volcano.sh", "jobs"),
    "/podgroups/validate": ("scheduling.volcano.sh", "podgroups"),
    "/queues/mutate": ("scheduling.volcano.sh", "queues"),
    "/queues/validate": ("scheduling.volcano.sh", "queues"),
    "/hypernodes/validate": ("topology.volcano.sh", "hypernodes"),
}
"""Paths of the webhook to the API group and the resource that each is asked about."""


@contextmanager
def kube_scheduler(
    plane: ControlPlane,
    folder: Path,
    configuration: Mapping[str, Any],
    *arguments: str,
    name: str = "kube-scheduler",
) -> Iterator[Scheduler]:
    """Starts kube-scheduler, or koord-scheduler, waits until it is ready, and stops it.

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
            name,
            f"--config={file}",
            f"--secure-port={port}",
            "--bind-address=127.0.0.1",
            f"--cert-dir={folder}",
            "--v=2",
            *arguments,
        )
        running = Scheduler(folder / f"{name}.log")
        end = time.monotonic() + _START
        while _READY not in running.log():
            program.check_running()
            assert time.monotonic() < end, program.log(name)
            time.sleep(0.1)
        yield running
        program.check_running()


def koord_scheduler(
    plane: ControlPlane, folder: Path, configuration: Mapping[str, Any], *arguments: str
) -> AbstractContextManager[Scheduler]:
    """Koordinator's scheduler with the flags of its chart that say what it does."""
    name = KOORDINATOR.programs[0]
    # Without --port it takes a fixed port, which only one of several runs may have.
    return kube_scheduler(plane, folder, configuration, *_OF_THE_CHART, "--port=0", *arguments, name=name)


@contextmanager
def volcano(plane: ControlPlane, folder: Path, configuration: str) -> Iterator[Scheduler]:
    """Volcano's scheduler, and the controllers that make its PodGroups and the pods of its Jobs."""
    # A folder of its own: the scheduler reads its configuration again after every write there.
    file = folder / "configuration" / CONFIG_FILE
    file.parent.mkdir(parents=True)
    file.write_text(configuration)
    scheduler, controllers = VOLCANO.programs
    common = (
        f"--kubeconfig={plane.kubeconfig}",
        "--leader-elect=false",
        "--kube-api-qps=2000",
        "--kube-api-burst=2000",
    )
    with ExitStack() as programs:
        program = Program(folder, programs)
        program.start(controllers, *common)
        program.start(
            scheduler,
            *common,
            f"--scheduler-conf={file}",
            "--schedule-period=500ms",
            "--cache-dumper=false",
            "-v=4",
        )
        yield Scheduler(folder / f"{scheduler}.log")
        program.check_running()


@contextmanager
def yunikorn(plane: ControlPlane, folder: Path, configuration: Mapping[str, str]) -> Iterator[Scheduler]:
    """YuniKorn. It says of each node why it does not take a pod."""
    metadata = {"name": "yunikorn-defaults", "namespace": _NAMESPACE}
    data = {**configuration, "log.core.scheduler.level": "DEBUG"}
    made = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _NAMESPACE}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data},
    ]
    plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", text=yaml.safe_dump_all(made))
    folder.mkdir(exist_ok=True)
    (name,) = YUNIKORN.programs
    with ExitStack() as programs:
        program = Program(folder, programs)
        program.start(name, KUBECONFIG=str(plane.kubeconfig), NAMESPACE=_NAMESPACE)
        yield Scheduler(folder / f"{name}.log")
        program.check_running()


@contextmanager
def volcano_webhook(plane: ControlPlane, folder: Path) -> Iterator[None]:
    """Volcano's webhook: what it refuses, the API server refuses."""
    folder.mkdir(exist_ok=True)
    (port,) = free_ports(1)
    authority = base64.b64encode((plane.folder / "authority.crt").read_bytes()).decode()
    hooks = [_hook(path, f"https://127.0.0.1:{port}{path}", authority) for path in _HOOKS]
    text = yaml.safe_dump_all(hooks)
    with ExitStack() as programs:
        program = Program(folder, programs)
        plane.kubectl("apply", "-f", "-", text=text)
        programs.callback(plane.kubectl, "delete", "-f", "-", text=text)
        program.start(
            VOLCANO_WEBHOOK,
            f"--kubeconfig={plane.kubeconfig}",
            "--listen-address=127.0.0.1",
            f"--port={port}",
            f"--tls-cert-file={plane.folder / 'server.crt'}",
            f"--tls-private-key-file={plane.folder / 'server.key'}",
            f"--ca-cert-file={plane.folder / 'authority.crt'}",
            "--webhook-url=https://127.0.0.1",
            f"--enabled-admission={','.join(_HOOKS)}",
        )
        end = time.monotonic() + _START
        while not _listens(port):
            program.check_running()
            assert time.monotonic() < end, program.log(VOLCANO_WEBHOOK)
            time.sleep(0.1)
        yield
        program.check_running()


def _hook(path: str, url: str, authority: str) -> dict[str, Any]:
    """A configuration of the API server under the name that the webhook looks for."""
    group, resource = _HOOKS[path]
    kind = "Mutating" if path.endswith("mutate") else "Validating"
    rule = {
        "apiGroups": [group],
        "apiVersions": ["*"],
        "operations": ["CREATE", "UPDATE"],
        "resources": [resource],
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{kind}WebhookConfiguration",
        "metadata": {"name": f"volcano-admission-service{path.replace('/', '-')}"},
        "webhooks": [
            {
                "name": f"{resource}.volcano.sh",
                "clientConfig": {"url": url, "caBundle": authority},
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "rules": [rule],
            }
        ],
    }


def _listens(port: int) -> bool:
    with socket.socket() as each:
        return each.connect_ex(("127.0.0.1", port)) == 0
