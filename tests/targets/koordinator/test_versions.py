"""Releases as they are written."""

import pytest

from policykit.errors import PolicykitError
from policykit.model.release import Version
from policykit.targets.koordinator.versions import parse


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("", (1, 8, 0)),
        ("v1.7", (1, 7, 0)),
        ("1.6", (1, 6, 0)),
        ("1.6.1", (1, 6, 1)),
        ("1.9.0", (1, 8, 0)),
        ("1.5.0", (1, 5, 0)),
    ],
)
def test_versions_as_written(text: str, version: tuple[int, int, int]) -> None:
    assert parse(text) == Version(*version)


@pytest.mark.parametrize("text", ["2.0.0", "newest"])
def test_no_release(text: str) -> None:
    with pytest.raises(PolicykitError, match="not a release of Koordinator"):
        parse(text)
