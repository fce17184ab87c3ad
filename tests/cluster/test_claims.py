"""What rules' pages claim about the API server and kube-scheduler, and what those do.

`claims/<rule>.yaml` lists words of the rule's page, a manifest in which lint finds the mistake, and what
becomes of it. `claims/untried.yaml` says why a claim is not tried.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from policykit import api
from policykit.model.cluster import Cluster as Policy
from policykit.rules import CATALOGUE, rule
from tests.cluster.api_server import PODS, api_server
from tests.cluster.cluster import Cluster, node
from tests.cluster.pods import outcomes
from tests.cluster.scheduler import kube_scheduler

FOLDER = Path(__file__).parent / "claims"
UNTRIED: dict[str, str] = yaml.safe_load((FOLDER / "untried.yaml").read_text())
PAGES = {entry.name: " ".join(rule(entry).doc.split()) for entry in CATALOGUE}
_ABOUT = re.compile(r"API server|kubectl|kube-scheduler")
_OF_OTHERS = re.compile(r"PK(?:[567]|9)")
"""Codes of rules about other systems, and about the policy itself."""
_SCHEDULER = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


class Claim(NamedTuple):
    """One entry of a file."""

    rule: str
    data: dict[str, Any]

    @property
    def manifest(self) -> str:
        return str(self.data["manifest"])

    @property
    def before(self) -> str:
        return str(self.data.get("before", ""))


def claims() -> Iterator[Claim]:
    for file in sorted(FOLDER.glob("*.yaml")):
        if file.stem != "untried":
            yield from (Claim(file.stem, data) for data in yaml.safe_load(file.read_text()))


CLAIMS = list(claims())


def test_every_rule_about_the_server_is_tried() -> None:
    entries = [entry for entry in CATALOGUE if not _OF_OTHERS.match(entry.code)]
    about = {entry.name for entry in entries if _ABOUT.search(PAGES[entry.name])}
    tried = {claim.rule for claim in CLAIMS}
    assert about - tried - set(UNTRIED) == set()
    assert tried & set(UNTRIED) == set()


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: f"{claim.rule}: {claim.data['claim'][:40]}")
class TestClaim:
    def test_is_on_the_page_and_found_by_lint(self, claim: Claim) -> None:
        assert claim.data["claim"] in PAGES[claim.rule]
        text = f"{claim.before}\n---\n{claim.manifest}" if claim.before else claim.manifest
        release = claim.data.get("release", "")
        policy = Policy("test", (), kubernetes_version=release) if release else None
        report = api.lint_texts({"manifest.yaml": text.encode()}, policy, select=[claim.rule])
        assert report.findings

    def test_is_true(self, claim: Claim, cluster: Cluster) -> None:
        data = claim.data
        if "stops" in data or "starts" in data:
            check_scheduler(claim, cluster)
            return
        if claim.before:
            cluster.kubectl("apply", "-f", "-", text=claim.before)
        refused = data.get("refused", "")
        assert refused in cluster.kubectl(*sent(data), text=claim.manifest, fails=bool(refused))
        if "then" in data:
            cluster.kubectl("create", "-f", "-", text=data["then"])
        if "shows" in data:
            shown = data["shows"]
            assert (
                cluster.kubectl("get", shown["object"], "-o", f"jsonpath={shown['path']}") == shown["value"]
            )
        if "pending" in data:
            check_pending(claim, cluster)


def sent(data: dict[str, Any]) -> list[str]:
    """kubectl's words for how a manifest is sent."""
    if "raw" in data:
        return ["create", f"--raw={data['raw']}", "-f", "-"]
    checked = "--validate=ignore" if data.get("lenient") else "--validate=strict"
    return ["apply" if data.get("applied") else "create", checked, "-f", "-"]


def check_scheduler(claim: Claim, cluster: Cluster) -> None:
    """Whether kube-scheduler starts with a configuration: the manifest, unless another one is stated."""
    configuration = claim.data.get("configuration") or yaml.safe_load(claim.manifest)
    arguments = claim.data.get("arguments", ())
    folder = cluster.folder / "scheduler"
    if "starts" in claim.data:
        with kube_scheduler(cluster.plane, folder, configuration, *arguments):
            return
    with (
        pytest.raises(AssertionError, match=re.escape(claim.data["stops"])),
        kube_scheduler(cluster.plane, folder, configuration, *arguments),
    ):
        pass


def check_pending(claim: Claim, cluster: Cluster) -> None:
    """What kube-scheduler says of the pod, on two nodes that take a pod without wishes."""
    configuration = {**_SCHEDULER, "profiles": [{"schedulerName": "default-scheduler"}]}
    container = {"name": "main", "image": "registry.example/app:1"}
    plain = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "plain"},
        "spec": {"containers": [container]},
    }
    with api_server(cluster.plane) as server:
        # Before the scheduler starts: on the first of the nodes alone it would have no choice to make.
        amounts = {"cpu": "8", "memory": "8Gi", "pods": "10"}
        server.create_nodes(node(name, {}, [], amounts) for name in ("node-1", "node-2"))
        server.create(PODS, {"apiVersion": "v1", "kind": "Pod", **plain})
        with kube_scheduler(cluster.plane, cluster.folder / "scheduler", configuration):
            found = outcomes(server, {"a": False, "plain": True})
    assert found["plain"].node
    assert claim.data["pending"] in found["a"].message
