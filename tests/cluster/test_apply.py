"""What `gen` writes, against a real API server: accepted strictly, and a second apply changes nothing."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, Phase, assume, given, reject, settings

from policykit import api
from policykit.errors import PolicykitError
from policykit.generator.artifact import Role
from policykit.model.cluster import Cluster as Policy
from policykit.policy.load import load
from policykit.workspace.files import read
from tests.cluster.cluster import Cluster
from tests.policies import clusters
from tests.shared import ROOT

RANDOM_POLICIES = 30

POLICIES = sorted([*ROOT.glob("profiles/*.yaml"), *ROOT.glob("docs/*/policykit.yaml")])


def generated(policy: Policy) -> list[dict[str, Any]]:
    """The objects of the generated kustomization."""
    texts = [a.text for a in api.generate(policy).artifacts if a.role is Role.MANIFEST]
    return [one for text in texts for one in yaml.safe_load_all(text)]


def check(cluster: Cluster, objects: list[dict[str, Any]]) -> None:
    """Applies them twice in both of kubectl's ways, then deletes them."""
    stated = {one["metadata"].get("namespace", "") for one in objects}
    cluster.create_namespaces(sorted(stated - {"", "kube-system", "default"}))
    for words in ((), ("--server-side", "--force-conflicts")):
        cluster.apply(objects, *words)
        before = cluster.stated(objects)
        again = cluster.apply(objects, *words)
        if not words:
            assert [line for line in again if not line.endswith(" unchanged")] == []
        assert cluster.stated(objects) == before
    cluster.delete(objects)


@pytest.mark.parametrize("path", POLICIES, ids=lambda path: str(path.relative_to(ROOT)))
@pytest.mark.usefixtures("defined")
def test_generated_objects_apply_twice(cluster: Cluster, path: Path) -> None:
    objects = generated(load(str(path), read).cluster)
    if objects:
        check(cluster, objects)


@pytest.mark.usefixtures("defined")
def test_objects_of_random_policies_apply_twice(cluster: Cluster) -> None:
    """A policy that a target refuses, or that makes no objects, is none of the 30."""
    kinds: Counter[str] = Counter()
    applied = 0

    @settings(
        max_examples=RANDOM_POLICIES,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(clusters())
    def apply(policy: Policy) -> None:
        nonlocal applied
        try:
            objects = generated(policy)
        except PolicykitError:
            reject()
        assume(objects)
        check(cluster, objects)
        applied += 1
        kinds.update(one["kind"] for one in objects)

    apply()
    print(
        f"{applied} random policies applied: {', '.join(f'{n} {kind}' for kind, n in sorted(kinds.items()))}"
    )
    assert applied >= RANDOM_POLICIES
