"""policykit on a real API server: what it reads, with which rights, and what it says of faults."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from policykit import api
from policykit.policy.load import load
from policykit.workspace.files import read
from tests.cli.commands import Result, process
from tests.cluster.api_server import NODES, PODS, api_server
from tests.cluster.cluster import Cluster, node
from tests.cluster.control_plane import ControlPlane
from tests.cluster.pods import outcomes
from tests.cluster.programs import path_of
from tests.cluster.proxy import Fault, proxy
from tests.cluster.scheduler import kube_scheduler
from tests.cluster.test_apply import POLICIES, generated
from tests.live.objects import POLICY, URGENT, deployment, pod_spec
from tests.live.objects import node as policy_node
from tests.shared import ROOT

ROLE = ROOT / "examples/audit/cluster-role.yaml"
COMMANDS = (
    ["audit", "-A"],
    ["why", "deployment/chat"],
    ["lint", "--live", "-A"],
    ["where", "--live"],
    ["nodes", "--check", "--live"],
    ["import", "--live"],
    ["gen", "--diff", "--live"],
)


class Person:
    """Somebody with a kubeconfig."""

    def __init__(self, folder: Path, plane: ControlPlane, token: str, server: str = "") -> None:
        self._folder = folder
        config = yaml.safe_load(plane.kubeconfig.read_text())
        config["users"] = [{"name": "admin", "user": {"token": token}}]
        config["clusters"][0]["cluster"]["server"] = server or plane.server
        self.kubeconfig = folder / f"kubeconfig-{len(list(folder.glob('kubeconfig-*')))}"
        self.kubeconfig.write_text(yaml.safe_dump(config))
        self.token = token

    def run(self, *words: str) -> Result:
        result = process(*words, cwd=self._folder, KUBECONFIG=str(self.kubeconfig))
        assert self.token not in result.out + result.err
        assert "Traceback" not in result.err
        return result


@pytest.fixture
def admin(cluster: Cluster) -> Person:
    (cluster.folder / ".git").mkdir()
    (cluster.folder / "policykit.yaml").write_text(POLICY)
    return Person(cluster.folder, cluster.plane, cluster.plane.token)


@pytest.fixture
def auditor(cluster: Cluster, admin: Person) -> Iterator[Person]:
    """Somebody who has the ClusterRole of the examples, and nothing else."""
    cluster.kubectl("create", "serviceaccount", "auditor")
    cluster.kubectl("apply", "-f", str(ROLE))
    bind = ("clusterrolebinding", "auditor", "--clusterrole=policykit", "--serviceaccount=default:auditor")
    cluster.kubectl("create", *bind)
    yield Person(cluster.folder, cluster.plane, cluster.kubectl("create", "token", "auditor").strip())
    cluster.kubectl("delete", "clusterrolebinding", "auditor")
    cluster.kubectl("delete", "serviceaccount", "auditor")


def fill(cluster: Cluster) -> None:
    """A cluster as its policy wants it, with a deployment."""
    with api_server(cluster.plane) as server:
        server.create_nodes([policy_node("train-1", 8), policy_node("train-2", 8), policy_node("web-1")])
    cluster.apply([URGENT, deployment("chat", pod_spec(4))])


@pytest.mark.usefixtures("defined")
def test_the_cluster_role_is_enough(cluster: Cluster, admin: Person, auditor: Person) -> None:
    fill(cluster)
    for words in COMMANDS:
        one, other = auditor.run(*words), admin.run(*words)
        assert "may not read" not in one.err
        assert one == other
        assert one.code == (1 if words[0] == "why" else 0), one


@pytest.mark.usefixtures("defined")
def test_without_rights(cluster: Cluster, admin: Person) -> None:
    fill(cluster)
    cluster.kubectl("create", "serviceaccount", "stranger")
    stranger = Person(cluster.folder, cluster.plane, cluster.kubectl("create", "token", "stranger").strip())
    result = stranger.run("lint", "--live", "-A")
    assert result.code == 0
    line = next(line for line in result.err.splitlines() if line.startswith("policykit: deployments.apps "))
    assert line.startswith("policykit: deployments.apps not read: may not read deployments.apps: ")
    assert line.endswith('cannot list resource "deployments" in API group "apps" at the cluster scope')
    assert stranger.run("nodes", "--live").code == 2
    cluster.kubectl("delete", "serviceaccount", "stranger")


FAULTS = {
    "cut": (Fault(cut_after=3000), "{} cut the connection while reading "),
    "cut at once": (Fault(cut_after=0), "{} cut the connection while reading the API groups"),
    "delayed": (Fault(delay=3), "{} is too slow: the API groups did not arrive in time"),
    "slow": (Fault(rate=3000), "{} is too slow: "),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults(name: str, cluster: Cluster, admin: Person) -> None:
    fill(cluster)
    fault, message = FAULTS[name]
    with proxy(cluster.plane.server, fault) as url:
        other = Person(cluster.folder, cluster.plane, cluster.plane.token, url)
        for words in (["audit", "-A"], ["why", "deployment/chat"], ["nodes", "--live"]):
            result = other.run(*words, "--request-timeout", "1")
            assert (result.code, result.out) == (2, ""), result
            first, *rest = result.err.splitlines()
            assert first.startswith(f"policykit: {message.format(url)}") or "TLS" in first
            assert len(rest) == 1
            assert rest[0].startswith("  help: ")


def test_a_proxy_without_faults(cluster: Cluster, admin: Person) -> None:
    fill(cluster)
    with proxy(cluster.plane.server, Fault()) as url:
        assert (
            Person(cluster.folder, cluster.plane, cluster.plane.token, url).run("nodes", "--live").code == 0
        )


def test_wrong_credentials(cluster: Cluster, admin: Person) -> None:
    result = Person(cluster.folder, cluster.plane, "no-such-token").run("audit")
    assert result.code == 2
    assert result.err.startswith(f"policykit: {cluster.plane.server} does not accept the credentials\n")


def test_an_untrusted_server(cluster: Cluster, admin: Person) -> None:
    """Its certificate is of an authority that the kubeconfig does not name: never read without asking."""
    config = yaml.safe_load(admin.kubeconfig.read_text())
    del config["clusters"][0]["cluster"]["certificate-authority"]
    admin.kubeconfig.write_text(yaml.safe_dump(config))
    result = admin.run("audit")
    assert result.code == 2
    why = "unable to get local issuer certificate"
    assert result.err == (
        f"policykit: no trusted connection to {cluster.plane.server}: {why}\n"
        "  help: check certificate-authority in the kubeconfig\n"
    )
    config["clusters"][0]["cluster"]["insecure-skip-tls-verify"] = True
    admin.kubeconfig.write_text(yaml.safe_dump(config))
    assert admin.run("nodes", "--live").code == 2  # no nodes


@pytest.mark.parametrize("path", POLICIES, ids=lambda path: str(path.relative_to(ROOT)))
@pytest.mark.usefixtures("defined")
def test_gen_finds_what_differs(path: Path, cluster: Cluster, admin: Person) -> None:
    """Nothing where its objects are applied, everything before."""
    objects = generated(load(str(path), read).cluster)
    if not objects:
        pytest.skip("the policy generates no objects")
    words = ("gen", "--check", "--live", "-p", str(path))
    missing = admin.run(*words)
    assert missing.code == 1
    assert missing.err.count("is missing") == len(objects)
    stated = {one["metadata"].get("namespace", "") for one in objects}
    cluster.create_namespaces(sorted(stated - {"", "kube-system", "default"}))
    cluster.apply(objects)
    applied = admin.run(*words)
    diff = admin.run("gen", "--diff", "--live", "-p", str(path))
    cluster.delete(objects)
    assert (diff.out, applied.code, applied.err.count("differs")) == ("", 0, 0)


@pytest.mark.usefixtures("defined")
def test_live_objects_have_the_findings_of_their_files(cluster: Cluster, admin: Person) -> None:
    """What the server adds to objects is no mistake and hides none."""
    policy = str(ROOT / "examples/policykit.yaml")
    text = "---\n".join(path.read_text() for path in sorted(ROOT.glob("examples/apps/*.yaml")))
    objects = [each for each in yaml.safe_load_all(text) if each]
    known = {"Deployment", "Job", "ResourceQuota", "StatefulSet"}
    objects = [each for each in objects if each["kind"] in known]
    cluster.create_namespaces(sorted({each["metadata"].get("namespace", "default") for each in objects}))
    cluster.apply(objects)
    result = admin.run("lint", "--live", "-A", "-p", policy, "--format", "jsonl", "--exit-zero")
    live = [json.loads(line) for line in result.out.splitlines()]
    written = api.lint_texts(
        {f"{n}.yaml": yaml.safe_dump(each).encode() for n, each in enumerate(objects)},
        load(policy, read).cluster,
        complete=True,
    )
    cluster.delete(objects)
    names = {each["metadata"]["name"] for each in objects}
    assert sorted(
        (each["code"], each["resource"]["name"])
        for each in live
        if each.get("resource") and each["resource"]["name"] in names
    ) == sorted((each.code, each.resource.name) for each in written.findings if each.resource)


def test_why_beside_kube_scheduler(cluster: Cluster, admin: Person) -> None:
    fill(cluster)
    amounts = {"cpu": "100", "memory": "1Ti", "pods": "110"}
    spec: dict[str, Any] = {**pod_spec(8), "schedulerName": "default-scheduler"}
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "default-scheduler"}],
    }
    with api_server(cluster.plane) as server:
        server.create_nodes([node("other", {}, [], amounts)])
        cluster.kubectl("scale", "deployment", "chat", "--replicas=3")
        with kube_scheduler(cluster.plane, cluster.folder / "scheduler", configuration):
            wait_for(server, 3)
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "big"}, "spec": spec}
            server.create(PODS, pod)
            found = outcomes(server, {"big": False})
        said = admin.run("why", "big")
        running = admin.run("why", "deployment/chat")
        server.delete_all(PODS, NODES)
    assert said.code == 1
    assert f"  default-scheduler: {found['big'].message}\n" in said.out
    assert (
        "no room now on 2 nodes\n      2 nodes: 4 nvidia.com/gpu free in pieces of 4, 8 needed on one\n"
        in said.out
    )
    assert running.code == 0
    assert "in pool train" in running.out


def wait_for(server: Any, number: int) -> None:
    end = time.monotonic() + 60
    while sum("nodeName" in each["spec"] for each in server.items(PODS)) < number:
        assert time.monotonic() < end
        time.sleep(0.2)


def test_as_a_plugin_of_kubectl(cluster: Cluster, admin: Person) -> None:
    fill(cluster)
    commands = cluster.folder / "commands"
    commands.mkdir()
    plugin = commands / "kubectl-policykit"
    plugin.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m policykit "$@"\n')
    plugin.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "KUBECONFIG": str(admin.kubeconfig),
    }
    done = subprocess.run(
        [path_of("kubectl"), "policykit", "nodes", "--check", "--live"],
        cwd=cluster.folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "3 nodes match policy demo\n")


POD = """\
set -eu
mount -t tmpfs none /var/run
mkdir -p /var/run/secrets/kubernetes.io/serviceaccount
cd /var/run/secrets/kubernetes.io/serviceaccount
printf %s "$TOKEN" > token
cp "$AUTHORITY" ca.crt
printf default > namespace
cd "$FOLDER"
exec "$PYTHON" -m policykit lint --live
"""


def test_in_a_pod(cluster: Cluster, admin: Person, auditor: Person) -> None:
    """The files of a service account where a kubelet puts them, in a mount namespace of its own."""
    apart = ["unshare", "--mount", "--map-root-user"]
    if subprocess.run([*apart, "mount", "-t", "tmpfs", "none", "/var/run"], capture_output=True).returncode:
        pytest.skip("no mount namespace can be made here")
    fill(cluster)
    server = urlsplit(cluster.plane.server)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(cluster.folder),
        "PYTHONPATH": str(ROOT),
        "KUBERNETES_SERVICE_HOST": str(server.hostname),
        "KUBERNETES_SERVICE_PORT": str(server.port),
        "TOKEN": auditor.token,
        "AUTHORITY": str(cluster.plane.authority),
        "FOLDER": str(cluster.folder),
        "PYTHON": sys.executable,
    }
    done = subprocess.run(
        [*apart, "sh", "-c", POD], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.endswith(f" in namespace default of {cluster.plane.server}\n")
