"""Locations of the parts of a policy: in its own file, in a base, or where a profile is extended."""

from __future__ import annotations

import pytest

from policykit.manifests.path import Path
from policykit.policy.locations import PolicyLocations, policy_locations

FILES = {
    "prod/policykit.yaml": "apiVersion: policykit.io/v1alpha1\nkind: Policy\nextends:\n- ../base.yaml\n"
    "pools:\n  own: {card: h20, nodes: 1}\n  shared: {nodes: 2}\n",
    "base.yaml": "apiVersion: policykit.io/v1alpha1\nkind: Policy\n"
    "extends: [profile:packed-kube-scheduler, profile:hybrid-volcano]\n"
    "pools:\n  shared: {usage: web}\n  theirs: {nodes: 3}\n",
}


def said() -> PolicyLocations:
    found = policy_locations("prod/policykit.yaml", lambda name: FILES[name].encode())
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("path", "key", "place", "own"),
    [
        (("pools", "own", "card"), False, "prod/policykit.yaml:6:15", True),
        (("pools", "own", "card"), True, "prod/policykit.yaml:6:9", True),
        (("pools", "own", "taints"), True, "prod/policykit.yaml:6:3", False),
        (("pools", "shared"), True, "prod/policykit.yaml:7:3", True),
        (("pools", "shared", "usage"), False, "base.yaml:5:19", False),
        (("pools", "theirs"), True, "base.yaml:6:3", False),
        (("pools", "train-h20", "card"), False, "base.yaml:3:42", False),
        (("placements", "packed"), True, "base.yaml:3:11", False),
        ((), False, "prod/policykit.yaml:1:1", True),
    ],
)
def test_places(path: Path, key: bool, place: str, own: bool) -> None:
    file, span = said().at(path, key)
    assert f"{file}:{span.line}:{span.column}" == place
    assert said().own(path) is own


def test_files_that_findings_stand_in() -> None:
    assert sorted(said().files) == sorted(FILES)


def test_no_policy() -> None:
    assert policy_locations("a.yaml", lambda name: b"- a\n") is None
