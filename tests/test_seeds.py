"""The manifests of the seeds, mistakes included, under the profiles of their clusters."""

from collections.abc import Callable
from pathlib import Path

import pytest

from policykit import api
from policykit.linter.finding import Finding
from policykit.model.severity import Severity
from tests.clusters import profile
from tests.shared import SHARED

OWN = Path(__file__).parent / "seeds"

SHARED_NAMES = {
    "training-volcano-job": "000-training-volcano-job",
    "inference-deployment": "000-inference-deployment",
    "pod-gpu-affinity": "002-pod-gpu-affinity",
    "job": "002-job",
    "cronjob": "002-cronjob",
    "resourcequota": "002-resourcequota",
    "limitrange": "002-limitrange",
    "hpa": "002-hpa",
    "kubescheduler-configuration": "002-kubescheduler-configuration",
    "priorityclass-and-pod": "002-priorityclass-and-pod",
    "volcano-queue-and-podgroup": "002-volcano-queue-and-podgroup",
    "topology-spread-fragment": "002-topology-spread-fragment",
    "deployment-dongle": "003-deployment-dongle",
    "koordinator-podgroup": "003-koordinator-podgroup",
    "volcano-gang-job": "004-volcano-gang-job",
    "yunikorn-pod": "004-yunikorn-pod",
}


def own(name: str) -> bytes:
    return (OWN / f"{name}.yaml").read_bytes()


def seed(name: str) -> bytes:
    if SHARED is None:
        pytest.skip("the shared seeds are not beside this checkout")
    return (SHARED / "seeds" / "manifests" / f"{SHARED_NAMES[name]}.yaml").read_bytes()


def lint(*texts: bytes, cluster: str = "hybrid-volcano") -> list[Finding]:
    named = {f"seed-{at}.yaml": text for at, text in enumerate(texts)}
    return list(api.lint_texts(named, profile(cluster)).findings)


def brief(findings: list[Finding]) -> list[str]:
    return [f"{f.code} {f.severity.value} {f.pointer}" for f in findings]


def errors(findings: list[Finding]) -> list[Finding]:
    return [f for f in findings if f.severity is Severity.ERROR]


Text = Callable[[str], bytes]

both = pytest.mark.parametrize("text", [own, seed], ids=["own", "shared"])


@both
@pytest.mark.parametrize(
    ("name", "pointer"),
    [
        ("training-volcano-job", "/spec/tasks/0/template/spec/containers/0/resources"),
        ("inference-deployment", "/spec/template/spec/containers/0/resources"),
    ],
)
def test_as_published_only_the_card_is_missing(text: Text, name: str, pointer: str) -> None:
    assert brief(lint(text(name))) == [f"PK124 warning {pointer}"]


@both
@pytest.mark.parametrize("name", ["training-volcano-job", "inference-deployment"])
def test_with_the_card_lines_restored_nothing(text: Text, name: str) -> None:
    restored = text(name).replace(b"# nvidia.com/gpu: 1", b"nvidia.com/gpu: 1")
    assert restored != text(name)
    assert lint(restored) == []


@both
@pytest.mark.parametrize(
    ("name", "has", "error_codes"),
    [
        (
            "pod-gpu-affinity",
            {"PK108", "PK101", "PK004"},
            {"PK101", "PK004"},
        ),
        ("job", {"PK201", "PK210", "PK101"}, {"PK201", "PK101"}),
        ("hpa", {"PK208"}, {"PK208"}),
        ("volcano-queue-and-podgroup", {"PK306"}, set()),
        ("priorityclass-and-pod", set(), set()),
    ],
)
def test_seed_002(text: Text, name: str, has: set[str], error_codes: set[str]) -> None:
    found = lint(text(name))
    assert has <= {f.code for f in found}
    assert {f.code for f in errors(found)} == error_codes
    assert "PK303" not in {f.code for f in found}


@both
def test_a_label_nobody_declares_is_named(text: Text) -> None:
    (finding,) = [f for f in lint(text("pod-gpu-affinity")) if f.code == "PK108"]
    assert "gpu-type" in finding.message
    assert finding.severity is Severity.WARNING


@both
def test_cronjob_has_no_placement_finding(text: Text) -> None:
    assert [f for f in lint(text("cronjob")) if f.code.startswith("PK1")] == []


@both
def test_resourcequota_names_only_the_key_that_never_counts(text: Text) -> None:
    assert brief(lint(text("resourcequota"))) == ["PK206 error /spec/hard/limits.nvidia.com~1gpu"]


@both
def test_limitrange_once_at_each_default(text: Text) -> None:
    assert brief(lint(text("limitrange"))) == [
        "PK207 warning /spec/limits/0/default/nvidia.com~1gpu",
        "PK207 warning /spec/limits/0/defaultRequest/nvidia.com~1gpu",
    ]


@both
def test_scheduler_plugin_that_is_not_in_the_tree(text: Text) -> None:
    (finding,) = lint(text("kubescheduler-configuration"))
    assert (finding.code, finding.severity) == ("PK801", Severity.WARNING)
    assert "GPUAffinity" in finding.message


@both
def test_a_fragment_is_skipped_and_counted(text: Text) -> None:
    report = api.lint_texts({"fragment.yaml": text("topology-spread-fragment")}, profile("hybrid-volcano"))
    assert report.findings == ()
    assert len(report.skipped) == 1


@both
def test_seed_003_as_published(text: Text) -> None:
    found = lint(text("deployment-dongle"), text("koordinator-podgroup"), cluster="koordinator-binpack")
    assert errors(found) == []
    assert [f.code for f in found if f.severity is Severity.WARNING] == ["PK306"]


@both
def test_seed_003_with_the_gang_label(text: Text) -> None:
    labelled = text("deployment-dongle").replace(
        b"        app: vgpu-job\n    spec:",
        b"        app: vgpu-job\n        pod-group.scheduling.sigs.k8s.io: gang-example\n    spec:",
    )
    assert b"gang-example" in labelled
    group = text("koordinator-podgroup")
    found = lint(labelled, group, cluster="koordinator-binpack")
    assert {f.code for f in found} == {"PK301", "PK122"}
    (gang,) = [f for f in found if f.code == "PK301"]
    assert "3" in gang.message
    assert "2" in gang.message
    assert gang.help.index("replicas") >= 0
    scheduled = labelled.replace(
        b"      containers:", b"      schedulerName: koord-scheduler\n      containers:"
    )
    assert {f.code for f in lint(scheduled, group, cluster="koordinator-binpack")} == {"PK301"}


@both
def test_seed_004_job_line_by_line(text: Text) -> None:
    broken = text("volcano-gang-job")
    (first,) = lint(broken)
    assert (first.code, first.span.line) == ("PK001", 11)
    assert "16" in first.help
    once = outdented(broken, 11, 19, 2)
    (second,) = lint(once)
    assert (second.code, second.span.line) == ("PK001", 16)
    repaired = outdented(once, 16, 19, 2)
    found = lint(repaired)
    unknown = [f.pointer for f in found if f.code == "PK003"]
    assert unknown == ["/spec/tasks/0/spec", "/spec/tasks/0/spec/containers/0/limits"] or len(unknown) == 2


def outdented(text: bytes, first: int, last: int, by: int) -> bytes:
    """Lines first..last (from 1) moved left."""
    lines = text.decode().split("\n")
    for number in range(first - 1, min(last, len(lines))):
        lines[number] = lines[number][by:]
    return "\n".join(lines).encode()


@both
def test_seed_004_pod(text: Text) -> None:
    found = lint(text("yunikorn-pod"))
    fields = [f for f in found if f.code == "PK003"]
    assert [f.pointer for f in fields] == ["/metadata/applicationId", "/metadata/queue"]
    assert all("labels" in f.message + f.help for f in fields)
    assert {f.code for f in errors(found)} == {"PK003", "PK004"}
    assert [f.severity for f in found if f.code == "PK122"] == [Severity.WARNING]


WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {disktype: ssd}
      tolerations:
        - {key: dedicated, operator: Equal, value: web, effect: NoSchedule}
      containers:
        - {name: nginx, image: "nginx:1.29", resources: {requests: {cpu: 100m, memory: 64Mi}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: db}}}
      containers:
        - {name: postgres, image: "postgres:17"}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: backup}
spec:
  schedule: "0 1 * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: OnFailure
          containers:
            - {name: backup, image: "backup:1"}
"""


def test_ordinary_workloads_have_no_placement_finding() -> None:
    assert [f for f in lint(WEB.encode()) if f.code.startswith("PK1")] == []
