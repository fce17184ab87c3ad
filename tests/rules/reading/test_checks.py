"""What the cases cannot say: stated versions, partial objects, objects without apiVersion."""

from typing import Any

import pytest

from policykit.kube.structure import check
from policykit.linter.rule import Context, Structure
from policykit.manifests.document import Manifest
from policykit.manifests.parser import parse
from policykit.model.cluster import Cluster
from policykit.model.severity import Severity
from policykit.rules.reading import invalid_field, removed_api_version, unknown_api_kind


def manifest(text: str) -> Manifest:
    root = next(iter(parse(text))).root
    assert root is not None
    return Manifest(root.data, root, 0)


def context(version: str) -> Context:
    return Context(Cluster("c", (), kubernetes_version=version))


CRON = "apiVersion: batch/v1beta1\nkind: CronJob\n"


@pytest.mark.parametrize(
    ("text", "version", "said"),
    [
        pytest.param(
            CRON,
            "",
            [("error", "batch/v1beta1 CronJob is not served since Kubernetes 1.25")],
            id="no supported release serves it",
        ),
        pytest.param(CRON, "1.24", [], id="the cluster serves it"),
        pytest.param(
            CRON,
            "1.36",
            [("error", "batch/v1beta1 CronJob is not served since Kubernetes 1.25, but the cluster is 1.36")],
            id="the cluster does not serve it",
        ),
        pytest.param(
            "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n",
            "1.36",
            [
                (
                    "warning",
                    "kubescheduler.config.k8s.io/v1beta3 KubeSchedulerConfiguration "
                    "is not served since Kubernetes 1.29, but the cluster is 1.36",
                )
            ],
            id="a scheduler may be older than its cluster",
        ),
        pytest.param(
            "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n"
            "profiles: [{schedulerName: koord-scheduler}]\n",
            "1.36",
            [],
            id="koord-scheduler decodes versions of its own",
        ),
        pytest.param(
            "apiVersion: sparkoperator.k8s.io/v1beta1\nkind: SparkApplication\n",
            "1.36",
            [
                (
                    "warning",
                    "sparkoperator.k8s.io/v1beta1 SparkApplication "
                    "is not served by current releases of the Spark operator",
                )
            ],
            id="other projects' versions",
        ),
    ],
)
def test_removed_api_version(text: str, version: str, said: list[tuple[str, str]]) -> None:
    found = removed_api_version.check(manifest(text), context(version))
    assert [(str(v.severity), v.message) for v in found] == said


@pytest.mark.parametrize("text", ["kind: Pod\n", "apiVersion: v1\n", "kind: [a]\napiVersion: {b: c}\n"])
def test_unknown_api_kind_needs_both(text: str) -> None:
    assert list(unknown_api_kind.check(manifest(text), Context())) == []


@pytest.mark.parametrize(
    ("partial", "messages"),
    [
        (False, ["spec.replicas must be a whole number, but is a list", "spec has no `selector`"]),
        (True, ["spec.replicas must be a whole number, but is a list"]),
    ],
)
def test_nothing_is_missing_from_a_partial_object(partial: bool, messages: list[str]) -> None:
    data: dict[str, Any] = {"metadata": {"name": "x"}, "spec": {"replicas": [], "template": {}}}
    base = manifest("a: 1\n")
    structure = Structure(base._replace(partial=partial), check(data, "apps/v1", "Deployment"))
    assert [v.message for v in invalid_field.check(structure, Context())] == messages


@pytest.mark.parametrize(
    ("path", "whole"),
    [
        ("apps/web.yaml", True),
        ("apps/patches/web.yaml", True),  # the folder is another one from another working folder
        ("apps/web-patch.yaml", False),
        ("patch_web.yaml", False),
        ("web.patch.yaml", False),
        ("spark/driver-pod-template.yaml", False),
        ("spark/pod_template.yaml", False),
        ("helpers/load-model-template.yaml", False),
        ("templates/web.yaml", True),
        ("patches/apps/web.yaml", True),
        ("dispatch.yaml", True),
        ("pod-templates-of-ours/web.yaml", True),
    ],
)
def test_a_patch_by_its_name(path: str, whole: bool) -> None:
    text = manifest("apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {priority: high}\n")
    structure = Structure(text, check(text.data, "v1", "Pod"))
    missing = ["spec has no `containers`"] if whole else []
    said = ['spec.priority must be a whole number, but is the string "high"', *missing]
    assert [v.message for v in invalid_field.check(structure, Context(None, path))] == said


@pytest.mark.parametrize(
    ("path", "name", "refused"),
    [
        ("web/template.yaml", "service_name", False),
        ("service-template.yaml", "name_of_service", True),
        ("service.yaml", "service_name", True),
    ],
)
def test_a_name_that_a_script_replaces(path: str, name: str, refused: bool) -> None:
    text = manifest(
        f"apiVersion: v1\nkind: Service\nmetadata: {{name: {name}}}\nspec: {{ports: [{{port: 80}}]}}\n"
    )
    structure = Structure(text, check(text.data, "v1", "Service"))
    found = [v.at for v in invalid_field.check(structure, Context(None, path))]
    assert found == [("metadata", "name")] * refused


@pytest.mark.parametrize(
    ("path", "annotations", "refused"),
    [
        ("ci/build.yaml", "{}", True),
        ("notes.tekton/build.yaml", "{}", True),
        (".tekton/build.yaml", "{}", False),
        ("app/.tekton/tasks/build.yaml", "{}", False),
        ("build.yaml", '{pipelinesascode.tekton.dev/max-keep-runs: "3"}', False),
    ],
)
def test_a_pipeline_that_its_run_contains(path: str, annotations: str, refused: bool) -> None:
    text = manifest(
        f"apiVersion: tekton.dev/v1\nkind: Pipeline\nmetadata: {{name: build, annotations: {annotations}}}\n"
        "spec: {tasks: [{name: a, taskRef: {name: a}, workspaces: [{name: b, workspace: c}]}]}\n"
    )
    structure = Structure(text, check(text.data, "tekton.dev/v1", "Pipeline"))
    said = ["spec.tasks[0].workspaces[0].workspace is c, which is not a workspace of the pipeline"]
    assert [v.message for v in invalid_field.check(structure, Context(None, path))] == said * refused


@pytest.mark.parametrize(
    ("path", "severity"),
    [("webhookcainjection_patch.yaml", Severity.WARNING), ("dispatch.yaml", Severity.ERROR)],
)
def test_a_version_in_a_patch_by_its_name(path: str, severity: Severity) -> None:
    text = manifest(
        "apiVersion: admissionregistration.k8s.io/v1beta1\nkind: MutatingWebhookConfiguration\n"
        "metadata: {name: webhook}\n"
    )
    assert [v.severity for v in removed_api_version.check(text, Context(None, path))] == [severity]


def test_the_middle_of_an_object_may_be_meant() -> None:
    text = manifest("apiVersion: v1\nkind: Pod\nspec: {}\n")
    (violation,) = invalid_field.check(Structure(text, check(text.data, "v1", "Pod")), Context())
    advice = "or add `# policykit: partial` if it is only part of an object"
    assert violation.help == f"add `metadata.name`: the API server requires it, {advice}"
