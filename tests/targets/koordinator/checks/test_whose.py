"""Whose a KubeSchedulerConfiguration is, and which releases read it."""

from typing import Any

import pytest

from policykit.targets.koordinator.checks import releases, whose

PLUGIN = {"plugins": {"filter": {"enabled": [{"name": "DeviceShare"}]}}}
COMMON = {"schedulerName": "gangs", "plugins": {"permit": {"enabled": [{"name": "Coscheduling"}]}}}


@pytest.mark.parametrize(
    ("profiles", "ours"),
    [
        ([{"schedulerName": "koord-scheduler"}], True),
        ([{"schedulerName": "team-koord-scheduler"}], True),
        ([PLUGIN], True),
        ([{"pluginConfig": [{"name": "LoadAwareScheduling"}]}], True),
        ([COMMON], False),
        ([COMMON, PLUGIN], True),
        ([{"schedulerName": "default-scheduler"}], False),
        (None, False),
        ("koord-scheduler", False),
    ],
)
def test_whose_it_is(profiles: Any, ours: bool) -> None:
    assert whose.is_koordinators({"profiles": profiles}) is ours


def test_all_profiles_of_one_file_are_read_by_one_scheduler() -> None:
    assert [path for path, _ in whose.profiles({"profiles": [COMMON, PLUGIN]})] == [
        ("profiles", 0),
        ("profiles", 1),
    ]
    assert list(whose.profiles({"profiles": [COMMON]})) == []


@pytest.mark.parametrize(
    ("version", "read"),
    [
        ("v1beta2", ["1.4.0"]),
        ("v1beta3", ["1.5.0", "1.6.0", "1.6.1", "1.7.0"]),
        ("v1", ["1.6.0", "1.6.1", "1.7.0", "1.8.0"]),
    ],
)
def test_releases_by_apiversion(version: str, read: list[str]) -> None:
    data = {"apiVersion": f"kubescheduler.config.k8s.io/{version}"}
    assert [str(each) for each in releases.reading(data, None)] == read


def test_an_unknown_apiversion_leaves_all_releases() -> None:
    assert releases.reading({"apiVersion": "v7"}, None) == releases.KNOWN
