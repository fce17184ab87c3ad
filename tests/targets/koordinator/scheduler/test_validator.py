"""Which releases read a configuration, and that the charts' own have no problem."""

import pytest

from policykit.targets.koordinator import versions
from policykit.targets.koordinator.scheduler import api_version, chart, configuration, validator
from policykit.targets.koordinator.scheduler.configuration import Configuration

GROUP = "kubescheduler.config.k8s.io"
PACKING = {
    "profiles": [
        {
            "schedulerName": "koord-scheduler",
            "plugins": {
                point: {"enabled": [{"name": "NodeResourcesFitPlus"}]} for point in ("preScore", "score")
            },
            "pluginConfig": [
                {
                    "name": "NodeResourcesFitPlus",
                    "args": {"resources": {"cpu": {"type": "LeastAllocated", "weight": 1}}},
                }
            ],
        }
    ]
}


def packing(version: str) -> Configuration:
    return configuration.read({"apiVersion": version, **PACKING})


@pytest.mark.parametrize("version", ["1.4.1", "1.5.0", "1.6.0", "1.6.1", "1.7.0", "1.8.0"])
def test_the_charts_have_no_problem(version: str) -> None:
    release = versions.parse(version)
    found = validator.problems(configuration.read(chart.configuration(release, "ns")), release)
    assert list(found) == []


@pytest.mark.parametrize(
    ("version", "outer", "help_"),
    [
        ("1.6.0", "v1", "v1.6.1"),
        ("1.6.0", "v1beta3", ""),
        ("1.6.1", "v1", ""),
        ("1.6.1", "v1beta3", ""),
        ("1.7.0", "v1", ""),
        ("1.7.0", "v1beta3", ""),
        ("1.8.0", "v1", ""),
        ("1.8.0", "v1beta3", f"write {GROUP}/v1"),
        ("1.7.0", "v1beta2", f"write {GROUP}/v1"),
    ],
)
def test_what_each_release_starts_with(version: str, outer: str, help_: str) -> None:
    found = list(validator.problems(packing(f"{GROUP}/{outer}"), versions.parse(version)))
    assert len(found) == bool(help_)
    assert all(help_ in problem.help for problem in found)


@pytest.mark.parametrize("outer", ["v1", "", "example.com/v1"])
def test_a_foreign_group(outer: str) -> None:
    (found,) = validator.problems(packing(outer), versions.parse(""))
    fault = f"Koordinator {versions.RELEASES.newest} does not read apiVersion {outer}"
    assert found.message == f"{fault}: koord-scheduler does not start"


@pytest.mark.parametrize(
    ("version", "read"),
    [
        ("v1beta2", ["1.3.0", "1.4.0", "1.4.1"]),
        ("v1beta3", ["1.5.0", "1.6.0", "1.6.1", "1.7.0"]),
        ("v1", ["1.6.0", "1.6.1", "1.7.0", "1.8.0"]),
    ],
)
def test_releases_by_api_version(version: str, read: list[str]) -> None:
    data = configuration.read({"apiVersion": f"{GROUP}/{version}"})
    assert [str(each) for each in api_version.readers(data, versions.READERS)] == read


def test_an_unknown_api_version_leaves_all_releases() -> None:
    data = configuration.read({"apiVersion": "v7"})
    assert api_version.readers(data, versions.READERS) == versions.READERS
