import pytest

from policykit.errors import PolicykitError
from policykit.model.release import Version
from policykit.targets.kueue import versions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", versions.RELEASES.newest),
        ("0.19.2", Version(0, 19, 2)),
        ("v0.15", Version(0, 15, 8)),
        ("0.9", Version(0, 9, 5)),
        ("0.9.0", Version(0, 9, 0)),
        ("0.19.7", Version(0, 19, 2)),
    ],
)
def test_parse(text: str, expected: Version) -> None:
    assert versions.parse(text) == expected


@pytest.mark.parametrize("text", ["1.9.0", "0", "latest"])
def test_no_release(text: str) -> None:
    with pytest.raises(PolicykitError, match="is not a release of Kueue"):
        versions.parse(text)


@pytest.mark.parametrize(
    ("version", "queue", "cohort", "topology"),
    [
        ("0.9", "v1beta1", "v1alpha1", "v1alpha1"),
        ("0.12", "v1beta1", "v1alpha1", "v1alpha1"),
        ("0.13", "v1beta1", "v1beta1", "v1alpha1"),
        ("0.14", "v1beta1", "v1beta1", "v1beta1"),
        ("0.15", "v1beta2", "v1beta2", "v1beta2"),
        ("0.19", "v1beta2", "v1beta2", "v1beta2"),
    ],
)
def test_api_versions(version: str, queue: str, cohort: str, topology: str) -> None:
    """As the CRDs of the first patch of each release serve them."""
    have = versions.parse(version)
    found = [versions.api_version(kind, have) for kind in ("ClusterQueue", "Cohort", "Topology")]
    assert found == [f"kueue.x-k8s.io/{each}" for each in (queue, cohort, topology)]


def test_served() -> None:
    assert versions.served("Cohort", versions.parse("0.12")) == ("v1alpha1",)
    assert versions.served("Cohort", versions.parse("0.14")) == ("v1beta1",)
    assert versions.served("Cohort", versions.parse("0.15")) == ("v1beta2", "v1beta1")
