"""Suppressions of the units: an annotation counts as the object is built, and used by one unit is used."""

from __future__ import annotations

import json

import pytest

from tests.cli.commands import Shell
from tests.fleet.repositories import kustomization, policy
from tests.fleet.repositories import on_path as on_path
from tests.fleet.test_units import JOB, fleet, judged, lint

RULES = ["PK101", "PK9"]
IGNORE = {"metadata": {"annotations": {"policykit.io/ignore": "PK101 -- dev has no taints"}}}
ANNOTATED = JOB.replace("{name: train,", "{name: train, annotations: {policykit.io/ignore: PK101 -- why},")


def patched(files: dict[str, str], name: str, patch: object) -> dict[str, str]:
    """With a patch of the job in the overlay of one cluster."""
    job = {"apiVersion": "batch/v1", "kind": "Job"}
    data = patch if isinstance(patch, list) else {**job, **dict(patch)}  # type: ignore[call-overload]
    if isinstance(data, dict):
        data["metadata"] = {**data["metadata"], "name": "train"}
    fields = {"resources": ["../../../apps/gw"], "namespace": "gw"}
    entry = {"path": "patch.yaml", "target": {"kind": "Job", "name": "train"}}
    return {
        **files,
        f"clusters/{name}/gw/kustomization.yaml": kustomization(**fields, patches=[entry]),
        f"clusters/{name}/gw/patch.yaml": json.dumps(data),
    }


def test_an_annotation_that_an_overlay_adds_counts_for_its_cluster(shell: Shell) -> None:
    both = {name: policy(name, select=["PK101", "PK901", "PK902", "PK903"]) for name in ("dev", "prod")}
    files = patched(fleet(**both), "dev", IGNORE)
    assert judged(shell, files) == [("apps/gw/job.yaml:6", "PK101", "error", ("prod",))]


def test_an_annotation_that_an_overlay_removes_does_not(shell: Shell) -> None:
    both = {name: policy(name, select=["PK101", "PK9"]) for name in ("dev", "prod")}
    remove = [{"op": "remove", "path": "/metadata/annotations/policykit.io~1ignore"}]
    files = patched({**fleet(**both), "apps/gw/job.yaml": ANNOTATED}, "prod", remove)
    assert judged(shell, files) == [("apps/gw/job.yaml:6", "PK101", "error", ("prod",))]


@pytest.mark.parametrize("prod", [{}, {"ignore": ["PK101"]}], ids=["both", "one"])
def test_a_suppression_that_any_unit_uses_is_used(shell: Shell, prod: dict[str, list[str]]) -> None:
    files = {
        **fleet(
            dev=policy("dev", select=["PK101", "PK9"]), prod=policy("prod", select=["PK101", "PK9"], **prod)
        ),
        "apps/gw/job.yaml": ANNOTATED,
    }
    assert judged(shell, files) == []


def test_one_that_no_unit_uses_is_told_once(shell: Shell) -> None:
    files = {
        **fleet(dev=policy("dev"), prod=policy("prod")),
        "apps/gw/job.yaml": "# policykit: ignore[PK403] -- why\n" + JOB,
    }
    told = [each for each in judged(shell, files) if each[1].startswith("PK9")]
    assert [each[3] for each in told] == [("dev", "prod")]


def test_a_baseline_entry_that_any_unit_uses_is_used(shell: Shell) -> None:
    files = fleet(
        dev=policy("dev", select=["PK101", "PK909"]), prod=policy("prod", select=["PK101", "PK909"])
    )
    shell.write(dict(files))
    assert shell.run("baseline").code == 0
    accepted = json.loads((shell.folder / ".policykit-baseline.json").read_text())["findings"]
    assert [(each["rule"], each["cluster"]) for each in accepted] == [("PK101", "dev"), ("PK101", "prod")]
    assert judged(shell, {}) == []
    again = {"clusters/dev/policykit.yaml": policy("dev", select=["PK201"])}
    assert lint(shell, again, "--select", "PK101,PK909").code == 0
