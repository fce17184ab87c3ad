"""What policykit itself generates for Koordinator passes its own rules."""

import pytest

from policykit import api
from policykit.model.cluster import Cluster
from policykit.targets.koordinator.generate import generate
from tests.clusters import profile
from tests.targets.koordinator import policies
from tests.targets.koordinator.clusters import dongles

VERSIONS = ("1.4.1", "1.5.0", "1.6.0", "1.6.1", "1.7.0", "1.8.0")


def findings(cluster: Cluster) -> list[str]:
    """Findings of family PK6 on all generated files that stand by themselves."""
    texts = {
        artifact.path: artifact.text.encode()
        for artifact in generate(cluster).artifacts
        if artifact.path.endswith(".yaml")
    }
    assert texts
    found = api.lint_texts(texts, cluster).findings
    return [f"{each.code} {each.message}" for each in found if each.code.startswith("PK6")]


@pytest.mark.parametrize("version", VERSIONS)
def test_of_each_release(version: str) -> None:
    assert findings(policies.cluster(version)) == []


@pytest.mark.parametrize("version", VERSIONS[2:])
def test_of_seed_003(version: str) -> None:
    assert findings(dongles(version=version)) == []


def test_of_the_profile() -> None:
    assert findings(profile("koordinator-binpack")) == []
