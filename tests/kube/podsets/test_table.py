"""The kinds table: compiled from its sources, true to the shared facts, looked up exactly."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml

from policykit.kube import podsets
from policykit.kube.podsets.gangs import SIZE_RULES
from policykit.kube.podsets.kind_entry import Number
from policykit.kube.podsets.replicas import REPLICA_RULES
from scripts import compile_kinds
from tests.kube.podsets.reference import translated
from tests.shared import SHARED

_OURS = {
    "template": ("merge", "merge_keys", "exhaustive"),
    "gang": ("per", "multiplied_by", "only"),
}
"""Keys the shared table says in prose only: how layers merge, what one gang is."""


def test_the_compiled_table_is_fresh() -> None:
    assert compile_kinds.TARGET.read_bytes() == compile_kinds.compiled()
    assert compile_kinds.main(["--check"]) == 0


def test_a_stale_table_is_told(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stale = tmp_path / "kinds.json"
    stale.write_text("{}")
    monkeypatch.setattr(compile_kinds, "TARGET", stale)
    monkeypatch.setattr(compile_kinds, "ROOT", tmp_path)
    assert compile_kinds.main(["--check"]) == 1
    assert capsys.readouterr().err == "kinds.json is out of date: run python -m scripts.compile_kinds\n"
    assert compile_kinds.main([]) == 0
    assert stale.read_bytes() == compile_kinds.compiled()


_NOT_SHARED = {
    ("apps.nvidia.com", "NIMCache"),
    ("apps.nvidia.com", "NIMPipeline"),
    ("apps.nvidia.com", "NIMService"),
    ("elastic.iml.github.io", "ElasticJob"),
    ("keda.sh", "ScaledJob"),
    ("kubeflow.org", "Experiment"),
    ("slinky.slurm.net", "NodeSet"),
}
"""Kinds that only this project describes."""


def _identity(entry: dict[str, Any]) -> tuple[str, str, str]:
    return entry["group"], entry["kind"], ",".join(compile_kinds.api_versions(entry))


def _bare(entry: dict[str, Any]) -> dict[str, Any]:
    """The entry without what only this project says."""
    bare = copy.deepcopy(entry)
    for template in bare["templates"].values():
        for key in _OURS["template"]:
            template.pop(key, None)
        template.get("devices", {}).pop("spark", None)
    for key in _OURS["gang"]:
        bare.get("gang", {}).pop(key, None)
    if (bare.get("queues") or {}).get("kai") == "kai.label":
        del bare["queues"]["kai"]  # defined there, and used by no kind
    if bare["kind"] == "PodCliqueSet":
        # Prose there: a clique of 0 replicas becomes one of 1.
        del bare["templates"]["clique"]["replicas"]["at_least"]
    if bare["kind"] in ("ScheduledSparkApplication", "SparkApplication"):
        # Not there: the operator gives the object's labels to driver and executors, queues of YuniKorn too.
        for name in ("driver", "executor"):
            del bare["templates"][name]["metadata"]
        bare["queues"]["yunikorn"] = bare["queues"]["yunikorn"][0]
    if bare["kind"] == "RayJob":
        # Not there: Kueue leaves a job on a cluster that it selects alone.
        assert bare["queues"]["kueue"].pop("unless") == "spec.clusterSelector"
        bare["queues"]["kueue"] = "kueue.objectLabel"
    return bare


@pytest.mark.skipif(SHARED is None, reason="the shared facts are not beside the checkout")
def test_every_shared_fact_is_in_the_sources() -> None:
    assert SHARED is not None
    text = (SHARED / "reference" / "data" / "workload_kinds.yaml").read_text(encoding="utf-8")
    shared = {_identity(e): e for e in map(translated, yaml.load(text, Loader=yaml.CSafeLoader)["kinds"])}
    ours = {_identity(entry): _bare(entry) for entry in compile_kinds.sources()}
    assert {(group, kind) for group, kind, _ in ours.keys() - shared.keys()} == _NOT_SHARED
    assert {key: entry for key, entry in shared.items() if entry != ours.get(key)} == {}


def test_files_are_named_after_their_group() -> None:
    for file in sorted(compile_kinds.SOURCES.glob("*.yaml")):
        if file.name != compile_kinds.SELECTORS:
            assert yaml.safe_load(file.read_text(encoding="utf-8"))["group"] or file.stem == "core"


@pytest.mark.parametrize(
    ("api_version", "kind", "group"),
    [
        ("v1", "Pod", ""),
        ("extensions/v1beta1", "Deployment", "apps"),
        ("batch/v1", "Job", "batch"),
        ("batch.volcano.sh/v1alpha1", "Job", "batch.volcano.sh"),
        ("serving.kubeflow.org/v1alpha2", "InferenceService", "serving.kserve.io"),
        ("kubeflow.org/v2alpha1", "TrainingRuntime", "trainer.kubeflow.org"),
    ],
)
def test_lookup_by_exact_version_and_kind(api_version: str, kind: str, group: str) -> None:
    found = podsets.entry(api_version, kind)
    assert found is not None
    assert (found.group, found.kind) == (group, kind)
    assert podsets.known(api_version, kind)


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        ("apps/v2", "Deployment"),
        ("v1", "Deployment"),
        ("", "Pod"),
        (None, None),
        (["v1"], {"a": 1}),
        (1, "Pod"),
    ],
)
def test_anything_else_is_not_known(api_version: object, kind: object) -> None:
    assert podsets.entry(api_version, kind) is None
    assert not podsets.known(api_version, kind)
    assert podsets.pod_sets({"apiVersion": api_version, "kind": kind}) == ()
    assert podsets.gangs({"apiVersion": api_version, "kind": kind}) == ()


def test_every_rule_named_is_there() -> None:
    named: set[str] = set()
    for entry in podsets.entries():
        for template in entry.templates:
            replicas = template.replicas
            numbers: list[Number | None] = [replicas.number, *replicas.times] if replicas else []
            named |= {number.rule for number in numbers if number and number.rule}
    assert named == set(REPLICA_RULES)
    assert {e.gang.size.rule for e in podsets.entries() if e.gang} - {""} == set(SIZE_RULES)


def test_layers_name_templates_that_exist() -> None:
    for entry in podsets.entries():
        for template in entry.templates:
            assert all(entry.template(name) for name in template.laid_on)
            assert template.exists is None or template.path[: len(template.exists)] == template.exists
