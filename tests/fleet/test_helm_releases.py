"""HelmReleases of Flux whose chart is in the repository."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.commands import Shell
from tests.fleet.repositories import kustomization
from tests.fleet.repositories import on_path as on_path
from tests.fleet.test_applies import judged, lint, policy
from tests.fleet.test_argocd import remote as remote
from tests.fleet.test_charts import CHART
from tests.fleet.test_flux import flux as kustomization_of_flux

REPOSITORY = {
    "apiVersion": "source.toolkit.fluxcd.io/v1",
    "kind": "GitRepository",
    "metadata": {"name": "fleet", "namespace": "flux-system"},
    "spec": {"url": "ssh://git@git.example.com/fleet/apps.git"},
}


def release(chart: dict[str, Any], **spec: Any) -> str:
    reference = {"kind": "GitRepository", "name": "fleet", "namespace": "flux-system"}
    said = {"chart": "./charts/train", "sourceRef": reference, **chart}
    return json.dumps(
        {
            "apiVersion": "helm.toolkit.fluxcd.io/v2",
            "kind": "HelmRelease",
            "metadata": {"name": "gw", "namespace": "gw"},
            "spec": {**({} if "chartRef" in spec else {"chart": {"spec": said}}), **spec},
        }
    )


def fleet(stated: str) -> dict[str, str]:
    return {
        **CHART,
        "policykit.yaml": policy("prod"),
        "flux/repository.yaml": json.dumps(REPOSITORY),
        "gw/kustomization.yaml": kustomization(resources=["release.yaml"], commonAnnotations={"a": "b"}),
        "gw/release.yaml": stated,
        "charts/train/prod.yaml": "usage: trainnig\ncards: 1\n",
    }


WRONG = [("charts/train/templates/job.yaml:12", ("prod",))]


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        (release({}, values={"usage": "trainnig"}), WRONG),
        (release({}, values={"usage": "training"}), []),
        (release({"valuesFiles": ["charts/train/prod.yaml"]}), WRONG),
        (release({"valuesFiles": ["charts/train/prod.yaml"]}, values={"usage": "training"}), []),
    ],
    ids=["wrong values", "right values", "a wrong file", "values over a file"],
)
def test_a_chart_is_rendered_with_the_values_of_its_release(
    shell: Shell, stated: str, expected: list[Any]
) -> None:
    assert judged(shell, fleet(stated), ".") == expected


@pytest.mark.parametrize("path", [".", "gw", "gw/release.yaml", "charts"])
@pytest.mark.parametrize("flux", [True, False])
def test_a_release_outside_of_kustomizations(shell: Shell, path: str, flux: bool) -> None:
    files = fleet(release({}, values={"usage": "trainnig"}))
    del files["gw/kustomization.yaml"]
    if flux:
        reference = {"kind": "GitRepository", "name": "fleet", "namespace": "flux-system"}
        files["flux/apps.yaml"] = kustomization_of_flux("gw", "./gw", sourceRef=reference)
    # Elsewhere the template can be shown only where its file is part of the run.
    expected = WRONG if path in (".", "charts") else [("gw/release.yaml:1", ("prod",))]
    assert judged(shell, files, path) == expected


@pytest.mark.parametrize(
    ("stated", "reason"),
    [
        (release({"sourceRef": {"kind": "HelmRepository", "name": "a"}}), "its source is HelmRepository a"),
        (release({"chart": "../../outside"}), "its chart ../../outside is not a folder of the repository"),
        (
            release({"sourceRef": {"kind": "HelmRepository", "name": "a"}}, valuesFrom=[{}]),
            "its source is HelmR",
        ),
        (
            release({}, chartRef={"kind": "OCIRepository", "name": "a"}),
            "its chart is OCIRepository a, ",
        ),
        (release({}, valuesFrom=[{"kind": "Secret", "name": "a"}]), "its field valuesFrom is not applied"),
        (release({}, postRenderers=[{"kustomize": {}}]), "its field postRenderers is not applied"),
    ],
)
def test_others_are_not_judged_and_say_why(shell: Shell, stated: str, reason: str) -> None:
    result = lint(shell, fleet(stated), ".")
    assert f"gw is not judged: HelmRelease gw/gw: {reason}" in result.err
    assert "PK101" not in result.out


def test_a_patch_of_a_release_deploys_nothing(shell: Shell) -> None:
    patch = release({}, chartRef=None)
    assert "HelmRelease" not in lint(shell, {**fleet(release({})), "patches/patch.yaml": patch}, ".").err
