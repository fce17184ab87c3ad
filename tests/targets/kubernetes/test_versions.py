"""Releases as clusters state them."""

import pytest

from policykit.targets.kubernetes.versions import known, parse
from policykit.targets.release import Version


@pytest.mark.parametrize(
    ("text", "version", "has"),
    [
        ("", Version(1, 37, 0), True),
        ("1.36", Version(1, 36, 3), True),
        ("v1.36.2", Version(1, 36, 2), True),
        ("1.33.5-gke.1080000", Version(1, 33, 5), True),
        ("1.29", Version(1, 29, 15), True),
        ("1.28", Version(1, 28, 0), False),
        ("1.40.1", Version(1, 40, 1), False),
        ("newest", Version(1, 37, 0), True),
        ("2.1", Version(1, 37, 0), True),
    ],
)
def test_parse(text: str, version: Version, has: bool) -> None:
    assert (parse(text), known(parse(text))) == (version, has)
