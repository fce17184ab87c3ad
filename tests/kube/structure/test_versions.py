"""Versions and kinds that exist, and those that are gone."""

import pytest

from policykit import bundled
from policykit.kube.structure.versions import homes_of, kinds_of, removal, served_until

TABLE = bundled.table("schemas", "kinds.json")


@pytest.mark.parametrize(
    ("release", "version", "served"),
    [
        ("1.25", "1.24", True),
        ("1.25", "1.25", False),
        ("1.9", "v1.36.2", False),
        ("1.25", "1.24.9-gke.1", True),
    ],
)
def test_served_until(release: str, version: str, served: bool) -> None:
    assert served_until(release, version) is served


def test_a_removed_version_is_not_a_known_one() -> None:
    both = [
        (api_version, kind)
        for api_version, kinds in TABLE["removed"].items()
        for kind in kinds
        if api_version.rpartition("/")[2] in (kinds_of(api_version.rpartition("/")[0]) or {}).get(kind, ())
    ]
    assert both == []


def test_every_successor_serves_the_kind() -> None:
    for api_version, kinds in TABLE["removed"].items():
        for kind in kinds:
            gone = removal(api_version, kind)
            assert gone is not None
            group, _, version = gone.successor.rpartition("/")
            known = kinds_of(group)
            if gone.successor and known is not None:
                assert version in known[kind], (api_version, kind)


def test_every_shape_is_of_a_known_kind() -> None:
    for api_version, kinds in TABLE["shapes"].items():
        for kind in kinds:
            assert api_version in homes_of(kind)
