"""A control plane on loopback: etcd, API server and controllers, with certificates made for it."""

from __future__ import annotations

import base64
import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tests.cluster.programs import path_of
from tests.processes import started

_START = 120
"""Seconds in which a program must be ready on a busy machine; one that ends is noticed at once."""


class ControlPlane(NamedTuple):
    """A running control plane."""

    folder: Path
    server: str
    """URL of the API server."""
    kubeconfig: Path
    """Of a user who may do everything."""
    token: str
    authority: Path
    """The certificate that the API server's own is signed by."""

    def kubectl(self, *words: str, text: str = "", fails: bool = False, **environment: str) -> str:
        """What kubectl prints. A failure is an error unless it is expected."""
        command = [path_of("kubectl"), f"--kubeconfig={self.kubeconfig}", *words]
        # kubectl keeps what it has heard of a server below HOME.
        home = {"PATH": os.environ["PATH"], "HOME": str(self.folder), **environment}
        done = subprocess.run(command, input=text, env=home, capture_output=True, text=True, check=False)
        assert bool(done.returncode) == fails, f"{' '.join(words)}\n{done.stdout}{done.stderr}"
        return done.stderr if fails else done.stdout


@contextmanager
def control_plane(folder: Path) -> Iterator[ControlPlane]:
    """Starts a control plane that keeps its files in a folder, and stops it."""
    with ExitStack() as programs:
        ports = free_ports(4)
        _make_certificates(folder)
        token = secrets.token_hex(16)
        (folder / "tokens.csv").write_text(f"{token},admin,admin,system:masters\n")
        etcd = f"http://127.0.0.1:{ports[0]}"
        peer = f"http://127.0.0.1:{ports[1]}"
        run = Program(folder, programs)
        run.start(
            "etcd",
            f"--data-dir={folder / 'etcd'}",
            f"--listen-client-urls={etcd}",
            f"--advertise-client-urls={etcd}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--unsafe-no-fsync",
        )
        run.start(
            "kube-apiserver",
            f"--etcd-servers={etcd}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            f"--secure-port={ports[2]}",
            f"--tls-cert-file={folder / 'server.crt'}",
            f"--tls-private-key-file={folder / 'server.key'}",
            f"--token-auth-file={folder / 'tokens.csv'}",
            "--authorization-mode=RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={folder / 'accounts.pub'}",
            f"--service-account-signing-key-file={folder / 'accounts.key'}",
            "--service-cluster-ip-range=10.96.0.0/16",
            # On since 1.37, which policies may state.
            "--feature-gates=HPAScaleToZero=true",
            # Pods need not wait for their service account.
            "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
        )
        server = f"https://127.0.0.1:{ports[2]}"
        plane = ControlPlane(folder, server, folder / "kubeconfig", token, folder / "authority.crt")
        plane.kubeconfig.write_text(_kubeconfig(plane))
        run.until_ready(plane)
        run.start(
            "kube-controller-manager",
            f"--kubeconfig={plane.kubeconfig}",
            f"--secure-port={ports[3]}",
            "--bind-address=127.0.0.1",
            f"--cert-dir={folder}",
            f"--service-account-private-key-file={folder / 'accounts.key'}",
            f"--root-ca-file={plane.authority}",
            "--leader-elect=false",
            "--concurrent-namespace-syncs=20",
            # No kubelet reports for the nodes here: nobody may take them for dead.
            "--controllers=*,-node-lifecycle-controller,-node-ipam-controller,-taint-eviction-controller",
        )
        yield plane


GIVEN = "POLICYKIT_CLUSTER_KUBECONFIG"
"""The variable that has the kubeconfig of a control plane which runs already."""


class NotForTestsError(Exception):
    """A cluster that the tests would harm, or cannot use."""


def given(folder: Path, kubeconfig: Path) -> ControlPlane:
    """The running control plane of a kubeconfig's current context. It has no nodes, since tests delete all
    that they find, its user has a token, and its programs the flags of `control_plane`.

    Raises NotForTestsError with the reason.
    """
    config = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
    context = _named(config, "contexts", config.get("current-context", ""))["context"]
    cluster = _named(config, "clusters", context["cluster"])["cluster"]
    token = _named(config, "users", context["user"])["user"].get("token", "")
    if not token:
        raise NotForTestsError(
            f"{kubeconfig}: user {context['user']} has no token, which the tests log in with"
        )
    _make_certificates(folder)
    authority = folder / "given.crt"
    data = cluster.get("certificate-authority-data", "")
    path = kubeconfig.parent / cluster.get("certificate-authority", "")
    authority.write_bytes(base64.b64decode(data) if data else path.read_bytes())
    plane = ControlPlane(folder, cluster["server"], folder / "kubeconfig", token, authority)
    plane.kubeconfig.write_text(_kubeconfig(plane))
    nodes = plane.kubectl("get", "nodes", "-o", "name").split()
    if nodes:
        raise NotForTestsError(
            f"{kubeconfig}: the cluster has {len(nodes)} nodes ({nodes[0]}), which the tests would delete: "
            "give one without nodes"
        )
    return plane


def _named(config: dict[str, list[dict[str, Any]]], field: str, name: str) -> dict[str, Any]:
    found = [each for each in config.get(field) or [] if each.get("name") == name]
    if not found:
        raise NotForTestsError(f"the kubeconfig has no {field[:-1]} {name!r}")
    return found[0]


class Program:
    """Starts programs that write a log each, and end with the block that they were started in."""

    def __init__(self, folder: Path, programs: ExitStack) -> None:
        self._folder = folder
        self._programs = programs
        self._running: dict[str, subprocess.Popen[str]] = {}

    def start(self, name: str, *arguments: str, **environment: str) -> None:
        """Starts a program."""
        log = self._programs.enter_context((self._folder / f"{name}.log").open("wb"))
        command: Sequence[str] = [*_ended_with_the_tests(), path_of(name), *arguments]
        environment = {"PATH": os.environ["PATH"], "HOME": str(self._folder), **environment}
        self._running[name] = self._programs.enter_context(
            started(command, cwd=self._folder, env=environment, stdout=log, stderr=log)
        )

    def until_ready(self, plane: ControlPlane) -> None:
        """Waits until the API server is healthy, for which controllers wait only seconds, and its default
        namespace is there."""
        end = time.monotonic() + _START
        home = {"PATH": os.environ["PATH"], "HOME": str(self._folder)}
        for words in (("--raw=/healthz",), ("namespace", "default")):
            command = [path_of("kubectl"), f"--kubeconfig={plane.kubeconfig}", "get", *words]
            while subprocess.run(command, env=home, capture_output=True, check=False).returncode:
                self.check_running()
                assert time.monotonic() < end, f"not ready: {self.log('kube-apiserver')}"
                time.sleep(0.2)

    def check_running(self) -> None:
        """Fails if a program has ended."""
        for name, process in self._running.items():
            assert process.poll() is None, f"{name} ended: {self.log(name)}"

    def log(self, name: str) -> str:
        """The end of a program's log."""
        return (self._folder / f"{name}.log").read_text(errors="replace")[-2000:]


def _ended_with_the_tests() -> list[str]:
    """What ends a program with the run of the tests, even one that is killed itself."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "KILL", "--"] if setpriv else []


def _make_certificates(folder: Path) -> None:
    """An authority, a certificate of 127.0.0.1 signed by it, and a pair of keys for service accounts."""
    (folder / "server.ext").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes\n")
    for words in (
        "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout authority.key"
        " -out authority.crt",
        "req -newkey rsa:2048 -nodes -subj /CN=kube-apiserver -keyout server.key -out server.csr",
        "x509 -req -days 2 -in server.csr -CA authority.crt -CAkey authority.key -CAcreateserial"
        " -extfile server.ext -out server.crt",
        "genrsa -out accounts.key 2048",
        "rsa -in accounts.key -pubout -out accounts.pub",
    ):
        subprocess.run(["openssl", *words.split()], cwd=folder, capture_output=True, check=True)


def _kubeconfig(plane: ControlPlane) -> str:
    return f"""apiVersion: v1
kind: Config
clusters:
- name: test
  cluster: {{server: "{plane.server}", certificate-authority: "{plane.authority}"}}
users:
- name: admin
  user: {{token: "{plane.token}"}}
contexts:
- name: test
  context: {{cluster: test, user: admin}}
current-context: test
"""


def free_ports(count: int) -> list[int]:
    """Ports of loopback that nothing listens on."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()
