"""A release: what it writes into the version file and the changelog, and when it refuses."""

from datetime import date

import pytest

from scripts.release import ReleaseError, release_day, stated_version, with_release, with_version

TEXT = '"""One policy file."""\n\n__version__ = "0.2.0"\n'
DAY = date(2027, 3, 1)
CHANGELOG = """\
# Changelog

Words about versions.

## Unreleased

### Added
- A thing.

## 0.1.0 - 2026-12-24

- The first.
"""


@pytest.mark.parametrize("version", ["0.2.0", "0.2.1", "0.10.0", "1.0.0rc1", "0.2.0.post1"])
def test_a_version_is_stated_once(version: str) -> None:
    text = with_version(TEXT, version)
    assert text == f'"""One policy file."""\n\n__version__ = "{version}"\n'
    assert stated_version(text) == version


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("0.1.9", "version 0.1.9 is lower than 0.2.0 in policykit/__init__.py"),
        ("0.2.0rc1", "version 0.2.0rc1 is lower than 0.2.0 in policykit/__init__.py"),
        ("v0.3.0", "use 0.3.0 instead of v0.3.0"),
        ("0.3.0-rc1", "use 0.3.0rc1 instead of 0.3.0-rc1"),
        ("next", "next is not a version: use a form such as 0.2.0 or 0.2.0rc1"),
        ('0.3"; import os', '0.3"; import os is not a version: use a form such as 0.2.0 or 0.2.0rc1'),
        ("", " is not a version: use a form such as 0.2.0 or 0.2.0rc1"),
    ],
)
def test_other_versions_are_refused(version: str, message: str) -> None:
    with pytest.raises(ReleaseError) as raised:
        with_version(TEXT, version)
    assert str(raised.value) == message


def test_a_file_without_a_version_is_refused() -> None:
    with pytest.raises(ReleaseError, match="has no version"):
        with_version("version = 1\n", "0.3.0")


def test_what_was_unreleased_becomes_the_release() -> None:
    assert (
        with_release(CHANGELOG, "0.2.0", DAY)
        == """\
# Changelog

Words about versions.

## Unreleased

## 0.2.0 - 2027-03-01

### Added
- A thing.

## 0.1.0 - 2026-12-24

- The first.
"""
    )


@pytest.mark.parametrize(
    ("changelog", "version", "message"),
    [
        (CHANGELOG, "0.1.0", "CHANGELOG.md already has a release 0.1.0"),
        ("# Changelog\n\n## 0.1.0 - 2026-12-24\n", "0.2.0", "CHANGELOG.md has no section ## Unreleased"),
        ("# Changelog\n\n## Unreleased\n", "0.2.0", "CHANGELOG.md has no entries under ## Unreleased"),
        (with_release(CHANGELOG, "0.2.0", DAY), "0.3.0", "CHANGELOG.md has no entries under ## Unreleased"),
    ],
    ids=["released already", "no section", "empty at the end", "empty after a release"],
)
def test_other_changelogs_are_refused(changelog: str, version: str, message: str) -> None:
    with pytest.raises(ReleaseError) as raised:
        with_release(changelog, version, DAY)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("version", "day"), [("0.1.0", date(2026, 12, 24)), ("0.1", None), ("0x1.0", None), ("0.2.0", None)]
)
def test_the_day_of_a_release(version: str, day: date | None) -> None:
    assert release_day(CHANGELOG, version) == day
