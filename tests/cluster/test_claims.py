"""What rules' pages claim about the API server and the schedulers, and what those do.

`claims/<rule>.yaml` lists words of the rule's page, a manifest in which lint finds the mistake, and what
becomes of it; `system` is who decides, else the API server or kube-scheduler. `claims/untried.yaml` says
why a claim is not tried.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from policykit import api
from policykit.model.cluster import Cluster as Policy
from policykit.rules import CATALOGUE, rule
from policykit.targets.volcano.names import CONFIG_FILE
from tests.cluster.api_server import PODS, api_server
from tests.cluster.cluster import Cluster, node
from tests.cluster.landings import check_landings, generated
from tests.cluster.pods import outcomes
from tests.cluster.scheduler import SYSTEMS, Scheduler, System, kube_scheduler, volcano_webhook
from tests.clusters import policy as policy_of

FOLDER = Path(__file__).parent / "claims"
UNTRIED: dict[str, str] = yaml.safe_load((FOLDER / "untried.yaml").read_text())
PAGES = {entry.name: " ".join(rule(entry).doc.split()) for entry in CATALOGUE}
_ABOUT = re.compile(r"API server|kubectl|kube-scheduler|Volcano|Koordinator|koord-scheduler|YuniKorn")
_OF_THE_POLICY = re.compile("PK9")
"""Codes of rules about the policy itself, and about Kueue."""
_NOTHING = "{apiVersion: v1, kind: List, items: []}"
_AT_ONCE = ("--grace-period=0", "--force")
"""No kubelet ends pods here."""
_RUNS = '{"status": {"phase": "Running"}}'
_SAYS = 20
"""Seconds in which a scheduler says something."""
_SCHEDULER = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
_DEFAULT_PROFILE = {**_SCHEDULER, "profiles": [{"schedulerName": "default-scheduler"}]}


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
    entries = [entry for entry in CATALOGUE if not _OF_THE_POLICY.match(entry.code)]
    about = {entry.name for entry in entries if _ABOUT.search(PAGES[entry.name])}
    tried = {claim.rule for claim in CLAIMS}
    assert about - tried - set(UNTRIED) == set()
    assert tried & set(UNTRIED) == set()


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: f"{claim.rule}: {claim.data['claim'][:40]}")
class TestClaim:
    def test_is_on_the_page_and_found_by_lint(self, claim: Claim) -> None:
        data = claim.data
        assert data["claim"] in PAGES[claim.rule]
        text = f"{claim.before}\n---\n{claim.manifest}" if claim.before else claim.manifest
        release = data.get("release", "")
        policy = Policy("test", (), kubernetes_version=release) if release else None
        if "policy" in data:
            policy = policy_of(data["policy"])
        assert found(text, policy, claim)
        if "good" in data:
            assert not found(data["good"], policy, claim)

    def test_is_true(self, claim: Claim, cluster: Cluster, request: pytest.FixtureRequest) -> None:
        data = claim.data
        if "placed" in data:
            request.getfixturevalue("defined")
            check_placed(claim, cluster)
            return
        if "system" in data:
            request.getfixturevalue("defined")
            try:
                check_system(claim, cluster)
            finally:
                cluster.kubectl("delete", "--ignore-not-found", "-f", "-", text=claim.before or _NOTHING)
            return
        if "stops" in data or "starts" in data:
            check_scheduler(claim, cluster)
            return
        if claim.before:
            cluster.kubectl("apply", "-f", "-", text=claim.before)
        if "runs" in data:
            cluster.kubectl("patch", "pod", "a", "--subresource=status", "--patch", _RUNS)
        refused = data.get("refused", "")
        if refused:
            assert refused in refusal(claim, cluster)
        else:
            cluster.kubectl(*sent(data), text=claim.manifest)
        if "then" in data:
            cluster.kubectl("create", "-f", "-", text=data["then"])
        if "shows" in data:
            assert shown(cluster, data["shows"]) == data["shows"]["value"]
        if "pending" in data:
            check_pending(claim, cluster)


def found(text: str, policy: Policy | None, claim: Claim) -> bool:
    """Whether lint finds the mistake."""
    report = api.lint_texts({"manifest.yaml": text.encode()}, policy, select=[claim.rule])
    return bool(report.findings)


def refusal(claim: Claim, cluster: Cluster) -> str:
    """The API server's words. On a busy machine it may hear of a quota that it has stored after a moment."""
    end = time.monotonic() + (_SAYS if claim.before else 0)
    while True:
        try:
            return cluster.kubectl(*sent(claim.data), text=claim.manifest, fails=True)
        except AssertionError:
            if time.monotonic() > end:
                raise
            cluster.kubectl("delete", "--ignore-not-found", *_AT_ONCE, "-f", "-", text=claim.manifest)
            time.sleep(0.5)


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


def check_placed(claim: Claim, cluster: Cluster) -> None:
    """How many pods kube-scheduler, or another, places on nodes of the policy, or on those of the claim."""
    data, folder = claim.data, cluster.folder / "scheduler"
    policy = policy_of(data["policy"]) if "policy" in data else None
    if "system" not in data:
        check_landings(cluster, data, policy, lambda: kube_scheduler(cluster.plane, folder, _DEFAULT_PROFILE))
        return
    system = next(each for each in SYSTEMS if each.target == data["system"])
    system.require()
    configuration = configuration_of(claim, system) if "configuration" in data else generated(system)
    try:
        check_landings(cluster, data, policy, lambda: system.start(cluster.plane, folder, configuration))
    finally:
        for text in (data["manifest"], data.get("good", ""), claim.before):
            cluster.kubectl("delete", "--ignore-not-found", *_AT_ONCE, "-f", "-", text=text or _NOTHING)


def check_system(claim: Claim, cluster: Cluster) -> None:
    """What Volcano, Koordinator or YuniKorn does with a manifest: its configuration, or else its pods."""
    data, folder = claim.data, cluster.folder / "scheduler"
    system = next(each for each in SYSTEMS if each.target == data["system"])
    system.require()
    if "refused" in data:
        with volcano_webhook(cluster.plane, folder):
            if claim.before:
                cluster.kubectl("apply", "-f", "-", text=claim.before)
            assert data["refused"] in cluster.kubectl("create", "-f", "-", text=claim.manifest, fails=True)
        return
    if claim.before:
        cluster.kubectl("apply", "-f", "-", text=claim.before)
    running = system.start(cluster.plane, folder, configuration_of(claim, system))
    with api_server(cluster.plane) as server:
        amounts = {"cpu": "8", "memory": "8Gi", "pods": "10", "nvidia.com/gpu": "8"}
        server.create_nodes(node(name, {}, [], amounts) for name in ("node-1", "node-2"))
        for pod in yaml.safe_load_all(data.get("then", "")):
            server.create(PODS, pod)
    if "stops" in data:
        with pytest.raises(AssertionError, match=re.escape(data["stops"])), running as scheduler:
            wait_for(scheduler, data["stops"])
        return
    with api_server(cluster.plane) as server, running as scheduler:
        if "logs" in data:
            wait_for(scheduler, data["logs"])
        if "rewritten" in data:
            wait_for(scheduler, data["keeps"])
            (folder / "configuration" / CONFIG_FILE).write_text(claim.manifest)
            wait_for(scheduler, data["rewritten"])
            assert data["keeps"] in scheduler.log().split(data["rewritten"])[-1]
        if "shows" in data:
            wait_until(cluster, data["shows"])
        if "pending" in data:
            found = outcomes(server, {"a": False})
            assert data["pending"] in found["a"].message
            assert not found["a"].node
        if "bound" in data:
            assert outcomes(server, {"a": True})["a"].node
        if "silent" in data:
            assert [line for line in scheduler.complaints() if data["silent"] in line] == []


def configuration_of(claim: Claim, system: System) -> dict[str, str]:
    """The data of the system's ConfigMap: the manifest, unless another one is stated."""
    text = claim.data.get("configuration", claim.manifest)
    data = yaml.safe_load(text)
    if data.get("kind") == "ConfigMap":
        return dict(data["data"])
    keys = {"volcano": CONFIG_FILE, "koordinator": "koord-scheduler-config", "yunikorn": "queues.yaml"}
    return {keys[system.target]: text}


def wait_for(scheduler: Scheduler, words: str) -> None:
    """Until its log has the words; it ends soon after those that stop it."""
    end = time.monotonic() + _SAYS
    while words not in scheduler.log():
        assert time.monotonic() < end, scheduler.log()[-2000:]
        time.sleep(0.2)
    time.sleep(1)


def shown(cluster: Cluster, wanted: dict[str, str]) -> str:
    """A field of an object, as the server has it."""
    return cluster.kubectl("get", wanted["object"], "-o", f"jsonpath={wanted['path']}")


def wait_until(cluster: Cluster, wanted: dict[str, str]) -> None:
    """Until a controller has written the field."""
    end = time.monotonic() + _SAYS
    while (found := shown(cluster, wanted)) != wanted["value"]:
        assert time.monotonic() < end, found
        time.sleep(0.5)


def check_pending(claim: Claim, cluster: Cluster) -> None:
    """What kube-scheduler says of the pod, on two nodes that take a pod without wishes."""
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
        with kube_scheduler(cluster.plane, cluster.folder / "scheduler", _DEFAULT_PROFILE):
            found = outcomes(server, {"a": False, "plain": True})
    assert found["plain"].node
    assert claim.data["pending"] in found["a"].message
