"""`where` tells of each pod set what each of its clusters says, by what is built."""

from __future__ import annotations

import json

import pytest

from tests.cli.commands import Shell
from tests.fleet.repositories import kustomization
from tests.fleet.repositories import on_path as on_path
from tests.fleet.test_units import JOB

PATCH = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec: {template: {spec: {nodeSelector: {zone: z1}}}}
"""


def policy(name: str, pool: str, zone: str) -> str:
    pools = {
        pool: {
            "nodes": 2,
            "card": "h20",
            "allocatable": {"cpu": 8, "memory": "9Gi"},
            "labels": {"zone": zone},
        }
    }
    return json.dumps(
        {
            "apiVersion": "policykit.io/v1alpha1",
            "kind": "Policy",
            "metadata": {"name": name},
            "scheme": {"preset": "plain"},
            "cards": {"h20": {"product": "NVIDIA-H20"}},
            "pools": pools,
        }
    )


def fleet() -> dict[str, str]:
    """A base of dev and prod; prod patches it."""
    files = {"apps/gw/kustomization.yaml": kustomization(resources=["job.yaml"]), "apps/gw/job.yaml": JOB}
    for name, patches in (("dev", []), ("prod", [{"path": "zone.yaml"}])):
        here = f"clusters/{name}"
        files[f"{here}/policykit.yaml"] = policy(name, f"pool-{name}", "z0")
        files[f"{here}/gw/kustomization.yaml"] = kustomization(
            resources=["../../../apps/gw"], namespace="gw", patches=patches
        )
    return {**files, "clusters/prod/gw/zone.yaml": PATCH}


def where(shell: Shell, *words: str) -> str:
    shell.write(dict(fleet()))
    result = shell.run("where", "--no-cache", *words)
    assert (result.code, result.err) == (int("pool-prod" in result.out), "")
    return result.out


def test_every_cluster_of_a_base(shell: Shell) -> None:
    assert where(shell, "apps/gw/job.yaml") == (
        "apps/gw/job.yaml:5  Job train  pod  (1 pod, each requests 1 x nvidia.com/gpu)\n"
        "  cluster dev, built from clusters/dev/gw\n"
        "  no workload kind\n"
        "  accepted     pool-dev\n"
        "\n"
        "apps/gw/job.yaml:5  Job train  pod  (1 pod, each requests 1 x nvidia.com/gpu)\n"
        "  cluster prod, built from clusters/prod/gw\n"
        "  no workload kind\n"
        "  refused      pool-prod  selector: nodeSelector zone=z1, but its nodes have 'z0'\n"
    )


@pytest.mark.parametrize(
    ("path", "places"),
    [
        ("clusters/prod/gw/zone.yaml", [("clusters/prod/gw/zone.yaml", ["prod"])]),
        ("clusters/prod/gw/kustomization.yaml", [("clusters/prod/gw/kustomization.yaml", ["prod"])]),
        ("clusters/dev", [("clusters/dev/gw/kustomization.yaml", ["dev"])]),
        (".", [("apps/gw/job.yaml", ["dev"]), ("apps/gw/job.yaml", ["prod"])]),
    ],
)
def test_the_objects_that_a_path_has_to_do_with(
    shell: Shell, path: str, places: list[tuple[str, list[str]]]
) -> None:
    found = json.loads(where(shell, "--format", "json", path))["pod_sets"]
    assert [(each["path"], each["clusters"]) for each in found] == places


def test_clusters_that_agree_are_told_together(shell: Shell) -> None:
    files = fleet() | {
        f"clusters/{name}/policykit.yaml": policy(name, "pool", "z0") for name in ("dev", "prod")
    }
    files["clusters/prod/gw/kustomization.yaml"] = files["clusters/dev/gw/kustomization.yaml"]
    shell.write(dict(files))
    (one,) = json.loads(shell.run("where", "--format", "json", "apps/gw/job.yaml").out)["pod_sets"]
    assert (one["clusters"], one["built_from"]) == (["dev", "prod"], ["clusters/dev/gw", "clusters/prod/gw"])


def test_dash_p_judges_every_build_by_one_policy(shell: Shell) -> None:
    shell.write(dict(fleet()))
    told = shell.run("where", "-p", "clusters/dev/policykit.yaml", "apps/gw/job.yaml").out.splitlines()
    assert [line for line in told if "built from" in line or "pool-" in line] == [
        "  built from clusters/dev/gw",
        "  accepted     pool-dev",
        "  built from clusters/prod/gw",
        "  refused      pool-dev  selector: nodeSelector zone=z1, but its nodes have 'z0'",
    ]
