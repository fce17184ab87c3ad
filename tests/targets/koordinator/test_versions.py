"""Which configuration each release can start with."""

import pytest

from policykit.errors import PolicykitError
from policykit.targets.koordinator.versions import cannot_start, parse
from policykit.targets.release import Version

GROUP = "kubescheduler.config.k8s.io"

STARTS = [
    ("1.6.0", "v1", "v1.6.1"),
    ("1.6.0", "v1beta3", ""),
    ("1.6.1", "v1", ""),
    ("1.6.1", "v1beta3", ""),
    ("1.7.0", "v1", ""),
    ("1.7.0", "v1beta3", ""),
    ("1.8.0", "v1", ""),
    ("1.8.0", "v1beta3", f"write {GROUP}/v1"),
    ("1.7.0", "v1beta2", f"write {GROUP}/v1beta3 or {GROUP}/v1"),
]


@pytest.mark.parametrize(("version", "outer", "says"), STARTS)
def test_what_each_release_decodes(version: str, outer: str, says: str) -> None:
    why = cannot_start(parse(version), f"{GROUP}/{outer}")
    assert says in why
    assert bool(says) == bool(why)


@pytest.mark.parametrize("outer", ["v1", "", "example.com/v1"])
def test_a_foreign_group(outer: str) -> None:
    assert "reads no configuration" in cannot_start(parse(""), outer)


@pytest.mark.parametrize(
    ("text", "version"),
    [("", (1, 8, 0)), ("v1.7", (1, 7, 0)), ("1.6", (1, 6, 0)), ("1.6.1", (1, 6, 1)), ("1.5.0", (1, 5, 0))],
)
def test_versions_as_written(text: str, version: tuple[int, int, int]) -> None:
    assert parse(text) == Version(*version)


@pytest.mark.parametrize("text", ["1.3.0", "2.0.0", "newest", "1.9.0"])
def test_releases_without_facts(text: str) -> None:
    with pytest.raises(PolicykitError, match="not a version policykit knows"):
        parse(text)
