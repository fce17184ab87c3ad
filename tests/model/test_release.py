"""Releases as policies state them, and what a release is judged as that is not known."""

from __future__ import annotations

import pytest

from policykit.errors import PolicykitError
from policykit.model.release import Releases, Version
from policykit.targets import TARGETS

VOLCANO = Releases("Volcano", {8: 2, 9: 1, 12: 4, 15: 1})
KUBERNETES = Releases("Kubernetes", {28: 15, 37: 0}, by_patch=False)
KUEUE = Releases("Kueue", {9: 5, 19: 2}, major=0)


@pytest.mark.parametrize(
    ("releases", "text", "judged", "why"),
    [
        (VOLCANO, "", (1, 15, 1), ""),
        (VOLCANO, "1.8.0", (1, 8, 0), ""),
        (VOLCANO, "v1.12", (1, 12, 4), ""),
        (VOLCANO, "1.12.4-aliyun", (1, 12, 4), "is not an upstream release"),
        (VOLCANO, "1.8.0-rc1", (1, 8, 0), "is not an upstream release"),
        (VOLCANO, "1.12.99", (1, 12, 4), "is newer than what policykit knows of 1.12"),
        (VOLCANO, "1.99", (1, 15, 1), "is newer than what policykit knows (1.8 to 1.15)"),
        (VOLCANO, "1.2999", (1, 15, 1), "is newer than what policykit knows (1.8 to 1.15)"),
        (VOLCANO, "1.7.0", (1, 8, 0), "is older than what policykit supports (1.8 to 1.15)"),
        (VOLCANO, "0.4", (1, 8, 0), "is older than what policykit supports (1.8 to 1.15)"),
        (KUBERNETES, "1.28", (1, 28, 15), ""),
        (KUBERNETES, "1.28.99", (1, 28, 99), ""),
        (KUBERNETES, "1.37.5-gke.100", (1, 37, 5), "is not an upstream release"),
        (KUBERNETES, "1.27.3", (1, 28, 0), "is older than what policykit supports (1.28 to 1.37)"),
        (KUEUE, "0.20.0", (0, 19, 2), "is newer than what policykit knows (0.9 to 0.19)"),
    ],
)
def test_nearest(releases: Releases, text: str, judged: tuple[int, int, int], why: str) -> None:
    nearest = Version(*judged)
    assert releases.parse(text) == nearest
    assert releases.notice(text) == (
        f"{releases.title} {text} {why}: it is judged as {nearest}" if why else ""
    )


@pytest.mark.parametrize("text", ["1", "latest", "abc", "2.1", "1.15.1\n", "1.8.0-", "1.8 ", "-1.8"])
def test_no_release(text: str) -> None:
    with pytest.raises(PolicykitError) as raised:
        VOLCANO.parse(text)
    assert raised.value.message == f"{text!r} is not a release of Volcano"
    assert raised.value.hint == 'write a release such as "1.15.1", in quotes'


def test_every_release_is_its_own_nearest() -> None:
    tables = [target.releases.load() for target in TARGETS if target.releases]
    assert {table.title for table in tables} >= {"Kubernetes", "Volcano", "Koordinator", "YuniKorn", "Kueue"}
    for table in tables:
        for minor, patch in table.last_patch.items():
            last = Version(table.major, minor, patch)
            assert (table.parse(str(last)), table.notice(str(last))) == (last, "")


@pytest.mark.parametrize(
    ("name", "oldest"),
    [
        ("kubernetes", (1, 28, 0)),
        ("volcano", (1, 8, 0)),
        ("koordinator", (1, 3, 0)),
        ("yunikorn", (1, 3, 0)),
        ("kueue", (0, 9, 0)),
    ],
)
def test_supported_from(name: str, oldest: tuple[int, int, int]) -> None:
    table = next(t.releases for t in TARGETS if t.name == name)
    assert table is not None
    assert table.load().oldest == Version(*oldest)
