"""A fix never writes what one cluster needs into a file that another one uses."""

from __future__ import annotations

import json

import pytest

from tests.cli.commands import Shell
from tests.fleet.repositories import kustomization, policy
from tests.fleet.test_units import JOB, fleet

SCHEDULED = {"training": {"usages": ["training"], "scheduler": "default-scheduler"}}
TAINTED = {"train-h20": {"taints": [{"key": "example.com/prod", "value": "a", "effect": "NoSchedule"}]}}
RULES = ["--select", "PK101", "--kustomize", "never", "--no-cache"]


def other(name: str, **fields: object) -> str:
    """A policy that differs in some fields."""
    return json.dumps(json.loads(policy(name)) | fields)


def accepting(shell: Shell, name: str) -> list[str]:
    """The pools of a cluster that accept the pods of the file as it is written."""
    words = ["where", "-p", f"clusters/{name}/policykit.yaml", "--format", "json", "apps/gw/job.yaml"]
    (pods,) = json.loads(shell.run(*words).out)["pod_sets"]
    return [each["pool"] for each in pods["pools"] if each["verdict"] in ("preferred", "accepted")]


@pytest.mark.parametrize("paths", [["."], ["apps/gw"], ["apps/gw/job.yaml"]], ids=str)
def test_nothing_is_written_into_a_base_that_others_use(shell: Shell, paths: list[str]) -> None:
    shell.write(dict(fleet(dev=policy("dev"), prod=other("prod", domain="other.example.com"))))
    result = shell.run("lint", "-p", "clusters/dev/policykit.yaml", *RULES, "--unsafe-fixes", *paths)
    assert (shell.folder / "apps/gw/job.yaml").read_text() == JOB
    assert (
        "policykit: apps/gw/job.yaml: PK101 is not fixed: clusters/prod/policykit.yaml applies to the file"
        " too: write it into clusters/dev/gw/kustomization.yaml\n" in result.err
    )
    assert result.code == 2


@pytest.mark.parametrize(
    ("prod", "fits"),
    [
        ({}, True),
        ({"coverage": "complete"}, True),
        ({"workloads": SCHEDULED}, False),
        ({"pools": TAINTED}, False),
    ],
    ids=["alike", "same-needs", "other-scheduler", "further-taint"],
)
def test_a_fix_that_is_right_for_every_cluster_of_the_file_is_made(
    shell: Shell, prod: dict[str, object], fits: bool
) -> None:
    shell.write(dict(fleet(dev=policy("dev"), prod=other("prod", **prod))))
    words = ["-p", "clusters/dev/policykit.yaml", "--select", "PK101,PK121", "--kustomize", "never"]
    result = shell.run("lint", *words, "--unsafe-fixes", "apps/gw/job.yaml")
    text = (shell.folder / "apps/gw/job.yaml").read_text()
    if not fits:
        assert (result.code, text) == (2, JOB), result.err
        assert "applies to the file too: write it into clusters/dev/gw/kustomization.yaml" in result.err
        return
    assert (result.code, text != JOB) == (0, True), result.err
    for name in ("dev", "prod"):
        assert accepting(shell, name), name


def test_patch_for_one_cluster_keeps_what_another_needs(shell: Shell) -> None:
    """The pools of prod have a taint that those of dev lack: the file tolerates it as well."""
    shell.write(dict(fleet(dev=policy("dev"), prod=other("prod", pools=TAINTED))))
    result = shell.run("patch", "-p", "clusters/dev/policykit.yaml", "--in-place", "apps/gw/job.yaml")
    assert result.code == 0, result.err
    text = (shell.folder / "apps/gw/job.yaml").read_text()
    assert "example.com/prod" in text
    for name in ("dev", "prod"):
        assert accepting(shell, name), name
    again = shell.run("patch", "-p", "clusters/prod/policykit.yaml", "--in-place", "apps/gw/job.yaml")
    assert (again.code, (shell.folder / "apps/gw/job.yaml").read_text()) == (0, text)


@pytest.mark.parametrize("differs", [True, False])
def test_patch_writes_only_what_is_right_for_every_cluster(shell: Shell, differs: bool) -> None:
    prod = json.loads(policy("prod")) | ({"domain": "other.example.com"} if differs else {})
    shell.write(dict(fleet(dev=policy("dev"), prod=json.dumps(prod))))
    words = ["patch", "-p", "clusters/dev/policykit.yaml", "--in-place", "apps/gw/job.yaml"]
    result = shell.run(*words)
    if differs:
        assert (result.code, (shell.folder / "apps/gw/job.yaml").read_text()) == (2, JOB)
        assert "help: write it into clusters/dev/gw/kustomization.yaml\n" in result.err
    else:
        assert result.code == 0, result.err
        assert (shell.folder / "apps/gw/job.yaml").read_text() != JOB


def test_a_base_of_one_cluster_is_fixed(shell: Shell) -> None:
    shell.write(dict(fleet(dev=policy("dev"))))
    result = shell.run("lint", "-p", "clusters/dev/policykit.yaml", *RULES, "--unsafe-fixes", "apps")
    assert (shell.folder / "apps/gw/job.yaml").read_text() != JOB
    assert result.code == 0, result.err


@pytest.mark.parametrize(
    ("prod", "fits"),
    [
        ({}, True),
        ({"coverage": "complete"}, True),
        ({"domain": "other.example.com"}, False),
        ({"workloads": SCHEDULED}, False),
    ],
    ids=["alike", "same-needs", "other-domain", "other-scheduler"],
)
def test_patch_without_a_policy_suits_every_cluster_of_the_file(
    shell: Shell, prod: dict[str, object], fits: bool
) -> None:
    shell.write(dict(fleet(dev=policy("dev"), prod=json.dumps(json.loads(policy("prod")) | prod))))
    result = shell.run("patch", "--in-place", "apps/gw/job.yaml")
    if not fits:
        assert (result.code, (shell.folder / "apps/gw/job.yaml").read_text()) == (2, JOB)
        assert result.err == (
            "policykit: apps/gw/job.yaml: dev and prod apply it and need different things\n"
            "  help: write them into clusters/dev/gw/kustomization.yaml and"
            " clusters/prod/gw/kustomization.yaml, or name one policy with -p\n"
        )
        return
    assert result.code == 0, result.err
    told = shell.run("where", "--format", "json", "apps/gw/job.yaml").out
    for pod_set in json.loads(told)["pod_sets"]:
        assert pod_set["pools"][0]["verdict"] in ("preferred", "accepted")


@pytest.mark.parametrize("different", ["prod", "test"])
def test_the_policy_that_differs_is_named_with_an_overlay_that_is_no_others(
    shell: Shell, different: str
) -> None:
    """What a cluster applies need not be in the folder of its policy."""
    files = {"apps/gw/kustomization.yaml": kustomization(resources=["job.yaml"]), "apps/gw/job.yaml": JOB}
    for name in ("dev", "prod", "test"):
        domain = {"domain": "other.example.com"} if name == different else {}
        said = {"applies": [{"path": f"../../apps/{name}"}], **domain}
        files[f"clusters/{name}/policykit.yaml"] = other(name, **said)
        files[f"apps/{name}/kustomization.yaml"] = kustomization(resources=["../gw"])
    shell.write(dict(files))
    result = shell.run("patch", "-p", "clusters/dev/policykit.yaml", "--in-place", "apps/gw/job.yaml")
    assert (result.code, result.err) == (
        2,
        f"policykit: apps/gw/job.yaml: nothing is written: clusters/{different}/policykit.yaml applies to the"
        " file too, and needs something else\n  help: write it into apps/dev/kustomization.yaml\n",
    )
    assert (shell.folder / "apps/gw/job.yaml").read_text() == JOB
