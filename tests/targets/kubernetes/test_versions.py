"""Releases as clusters state them."""

import pytest

from policykit.model.release import Version
from policykit.targets.kubernetes.versions import parse


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("", Version(1, 37, 0)),
        ("1.36", Version(1, 36, 3)),
        ("v1.36.2", Version(1, 36, 2)),
        ("1.33.5-gke.1080000", Version(1, 33, 5)),
        ("1.29", Version(1, 29, 15)),
        ("1.28", Version(1, 28, 15)),
        ("1.27", Version(1, 28, 0)),
        ("1.40.1", Version(1, 37, 0)),
    ],
)
def test_parse(text: str, version: Version) -> None:
    assert parse(text) == version
