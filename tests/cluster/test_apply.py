"""What `gen` writes, against a real API server: accepted strictly, and a second apply changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings

from policykit import api
from policykit.errors import PolicykitError
from policykit.generator.bundle import bundle
from policykit.model.cluster import Cluster as Policy
from policykit.policy.load import load
from policykit.workspace.files import read
from tests.cluster.cluster import Cluster
from tests.cluster.control_plane import ControlPlane
from tests.cluster.programs import definitions
from tests.policies import clusters
from tests.shared import ROOT

POLICIES = sorted([*ROOT.glob("profiles/*.yaml"), *ROOT.glob("docs/*/policykit.yaml")])


@pytest.fixture(scope="session")
def defined(plane: ControlPlane) -> None:
    """The kinds of Volcano, Koordinator and Kueue."""
    files = definitions()
    if not files:
        pytest.skip("the definitions of Volcano, Koordinator and Kueue cannot be had: no Go, or no registry")
    words = [word for file in files for word in ("-f", str(file))]
    plane.kubectl("apply", "--server-side", "--force-conflicts", *words)
    plane.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")


def generated(policy: Policy) -> list[dict[str, Any]]:
    """The objects that the generated kustomization of a policy applies, components aside."""
    files = bundle(policy, api.generate(policy))
    texts = [text for path, text in files.items() if path.endswith(".yaml")]
    return [one for text in texts for one in yaml.safe_load_all(text) if applies(one)]


def applies(one: Any) -> bool:
    """Whether a document is an object for the API server, not a file of kustomize or of a scheduler."""
    if not isinstance(one, dict) or "metadata" not in one or "name" not in one["metadata"]:
        return False
    group = one["apiVersion"].partition("/")[0]
    return group != "kustomize.config.k8s.io" and "config.kubernetes.io/local-config" not in one[
        "metadata"
    ].get("annotations", {})


def namespaces(objects: list[dict[str, Any]]) -> Iterator[str]:
    yield from {one["metadata"]["namespace"] for one in objects if one["metadata"].get("namespace")}


def check(cluster: Cluster, policy: Policy) -> None:
    objects = generated(policy)
    if not objects:
        return
    cluster.create_namespaces(namespaces(objects))
    for words in ((), ("--server-side", "--force-conflicts")):
        cluster.apply(objects, *words)
        before = cluster.versions(objects)
        again = cluster.apply(objects, *words)
        if not words:
            assert [line for line in again if not line.endswith(" unchanged")] == []
        assert cluster.versions(objects) == before


@pytest.mark.parametrize("path", POLICIES, ids=lambda path: str(path.relative_to(ROOT)))
@pytest.mark.usefixtures("defined")
def test_generated_objects_apply_twice(cluster: Cluster, path: Path) -> None:
    check(cluster, load(str(path), read).cluster)


@pytest.mark.usefixtures("defined")
def test_objects_of_random_policies_apply_twice(cluster: Cluster) -> None:
    @settings(
        max_examples=30, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    @given(clusters())
    def applied(policy: Policy) -> None:
        with suppress(PolicykitError):
            check(cluster, policy)

    applied()
