"""The queue each scheduler takes for a pod set, and where it is written."""

from __future__ import annotations

import pytest

from policykit.kube import podsets
from policykit.kube.podsets import queues
from policykit.manifests.path import dotted
from tests.kube.podsets.objects import read

_V = "scheduling.volcano.sh/queue-name"
_K = "kueue.x-k8s.io/queue-name"
_DEPLOYMENT = (
    "{apiVersion: apps/v1, kind: Deployment, metadata: {labels: {%s}, annotations: {%s}},"
    " spec: {template: {metadata: {labels: {%s}, annotations: {%s}}}}}"
)
_WORKFLOW = (
    "{apiVersion: argoproj.io/v1alpha1, kind: Workflow, spec: {podMetadata: {annotations: {%s}}, templates:"
    " [{container: {}}, {container: {}, metadata: {annotations: {%s}}}]}}"
)
_WRAPPED = (
    "{apiVersion: workload.codeflare.dev/v1beta2, kind: AppWrapper, spec: {components: [{template: %s}]}}"
)
_JOB = "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, spec: {%s tasks: [{template: {}}]}}"


@pytest.mark.parametrize(
    ("text", "scheduler", "expected"),
    [
        pytest.param(
            _DEPLOYMENT % ("", "", "", f"{_V}: a"),
            "volcano",
            f"a spec.template.metadata.annotations['{_V}']",
            id="volcano: pod annotation",
        ),
        pytest.param(
            _DEPLOYMENT % (f"{_V}: a", f"{_V}: a", f"{_V}: a", ""), "volcano", "", id="volcano: elsewhere"
        ),
        pytest.param(
            _DEPLOYMENT % (f"{_K}: a", "", f"{_K}: b", ""),
            "kueue",
            f"a metadata.labels['{_K}']",
            id="kueue: object",
        ),
        pytest.param(
            _DEPLOYMENT % ("", "", "queue: c", "yunikorn.apache.org/queue: b"),
            "yunikorn",
            "b spec.template.metadata.annotations['yunikorn.apache.org/queue']",
            id="yunikorn: annotation before the short label",
        ),
        pytest.param(
            _DEPLOYMENT % ("", "", "queue: c", ""),
            "yunikorn",
            "c spec.template.metadata.labels.queue",
            id="yunikorn: last",
        ),
        pytest.param(
            _DEPLOYMENT % ("", "", "quota.scheduling.koordinator.sh/name: q", ""),
            "koordinator",
            "q spec.template.metadata.labels['quota.scheduling.koordinator.sh/name']",
            id="koordinator: quota",
        ),
        pytest.param(_DEPLOYMENT % ("", "", "", f"{_V}: 3"), "volcano", "", id="no text"),
        pytest.param(_DEPLOYMENT % ("", "", "", ""), "unheard-of", "", id="unknown scheduler"),
        pytest.param(_JOB % "queue: q,", "volcano", "q spec.queue", id="volcano job: field"),
        pytest.param(_JOB % "queue: q,", "kueue", "", id="volcano job: nothing for kueue"),
        pytest.param(
            _WORKFLOW % (f"{_V}: w", f"{_V}: t"),
            "volcano",
            f"w spec.podMetadata.annotations['{_V}']",
            id="argo: first place set",
        ),
        pytest.param(
            _WORKFLOW % ("", f"{_V}: t"),
            "volcano",
            f"t spec.templates[1].metadata.annotations['{_V}']",
            id="argo: the template's own",
        ),
        pytest.param(
            _WRAPPED % (_JOB % "queue: q,"),
            "volcano",
            "q spec.components[0].template.spec.queue",
            id="embedded",
        ),
        pytest.param(
            f"{{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, metadata: {{annotations: {{{_V}: m}}}},"
            " spec: {mpiReplicaSpecs: {Worker: {template: {}}}}}",
            "volcano",
            f"m metadata.annotations['{_V}']",
            id="mpi: field, else annotation",
        ),
        pytest.param(
            "{apiVersion: batch/v1, kind: Job, metadata: {annotations: {kube-queue/queue-name: k}},"
            " spec: {template: {}}}",
            "koord-queue",
            "k metadata.annotations['kube-queue/queue-name']",
            id="koord-queue",
        ),
    ],
)
def test_read(text: str, scheduler: str, expected: str) -> None:
    data = read(text)
    found = queues.read(data, podsets.pod_sets(data)[-1], scheduler)
    assert (f"{found.value} {dotted(found.path)}" if found else "") == expected


def test_further_names_that_a_scheduler_reads() -> None:
    data = read(
        _DEPLOYMENT
        % ("", "", "yunikorn.apache.org/app-id: app, pod-group.scheduling.sigs.k8s.io: gang", "a: b")
    )
    (one,) = podsets.pod_sets(data)
    labels = ("spec", "template", "metadata", "labels")
    assert queues.read(data, one, "yunikorn", "app") == ("app", (*labels, "yunikorn.apache.org/app-id"))
    assert queues.read(data, one, "koordinator", "group") == (
        "gang",
        (*labels, "pod-group.scheduling.sigs.k8s.io"),
    )
    assert queues.read(data, one, "koordinator", "size") is None


def test_places() -> None:
    data = read(_JOB % "")
    (one,) = podsets.pod_sets(data)
    assert queues.places(data, one, "volcano") == (("spec", "queue"),)
    assert queues.places(data, one, "kueue") == ()
