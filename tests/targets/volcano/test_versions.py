import pytest

from policykit.errors import PolicykitError
from policykit.model.release import Version
from policykit.targets.volcano import versions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", versions.RELEASES.newest),
        ("1.15.1", Version(1, 15, 1)),
        ("v1.14", Version(1, 14, 4)),
        ("1.8.0", Version(1, 8, 0)),
        ("1.10", Version(1, 10, 2)),
        ("1.99.0", versions.RELEASES.newest),
    ],
)
def test_parse(text: str, expected: Version) -> None:
    assert versions.parse(text) == expected


@pytest.mark.parametrize("text", ["2.0.0", "1", "latest"])
def test_no_release(text: str) -> None:
    with pytest.raises(PolicykitError, match="is not a release of Volcano"):
        versions.parse(text)
