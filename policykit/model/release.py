"""Releases of a system: one grammar for all, and what only some releases have."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from policykit.errors import PolicykitError
from policykit.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

_TEXT = re.compile(
    r"v?([0-9]{1,9})\.([0-9]{1,9})(?:\.([0-9]{1,9}))?((?:[-+.][0-9A-Za-z](?:[0-9A-Za-z.+-]{0,60}[0-9A-Za-z])?)?)\Z"
)


def is_release(text: str) -> bool:
    """Whether a text has the form of a release: v1.12, 1.12.4-vendor."""
    return _TEXT.match(text) is not None


class Version(NamedTuple):
    """A release number; releases compare as their numbers do."""

    major: int
    minor: int
    patch: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


class Releases(NamedTuple):
    """The releases of a system that policykit has facts about. Any other is judged as the nearest of them."""

    title: str
    """As people write it: Volcano."""
    last_patch: Mapping[int, int]
    """Minor release to its last known patch, oldest first."""
    major: int = 1
    by_patch: bool = True
    """Patches differ in what policykit judges; False: any patch of a known minor release is known."""

    @property
    def oldest(self) -> Version:
        return Version(self.major, min(self.last_patch), 0)

    @property
    def newest(self) -> Version:
        minor = max(self.last_patch)
        return Version(self.major, minor, self.last_patch[minor])

    @property
    def minors(self) -> tuple[Version, ...]:
        """The last known patch of each minor release, oldest first."""
        return tuple(Version(self.major, minor, patch) for minor, patch in self.last_patch.items())

    @property
    def range(self) -> str:
        """1.8 to 1.15."""
        return f"{self.major}.{min(self.last_patch)} to {self.major}.{max(self.last_patch)}"

    def parse(self, text: str) -> Version:
        """`1.8.0`, `v1.6` (its last known patch), or empty for the newest known.

        A newer release is the newest known one here, an older one the oldest, a vendor's build the
        release it is of. Raises PolicykitError for a text that is not a release of the system.
        """
        return self._judged(text)[0]

    def notice(self, text: str) -> str:
        """As what a release is judged that is not known by that name; empty: it is known."""
        judged, why = self._judged(text)
        return f"{self.title} {text} {why}: it is judged as {judged}" if why else ""

    def _judged(self, text: str) -> tuple[Version, str]:
        """The release, and why it is not the one stated; empty: it is."""
        if not text:
            return self.newest, ""
        match = _TEXT.match(text)
        if match is None or int(match[1]) > self.major:
            newest = self.newest
            raise PolicykitError(
                f"{text!r} is not a release of {self.title}",
                f'write a release such as "{newest}", in quotes',
            )
        major, minor = int(match[1]), int(match[2])
        if major < self.major or minor < min(self.last_patch):
            return self.oldest, f"is older than what policykit supports ({self.range})"
        if minor > max(self.last_patch):
            return self.newest, f"is newer than what policykit knows ({self.range})"
        last = self.last_patch[minor]
        patch = int(match[3]) if match[3] else last
        if patch > last and self.by_patch:
            return Version(major, minor, last), f"is newer than what policykit knows of {major}.{minor}"
        return Version(major, minor, patch), "is not an upstream release" if match[4] else ""


class ReleaseFact(NamedTuple):
    """What only some releases of a system read or serve."""

    what: str
    """annotation, label, kind, field, argument, setting, default or formula."""
    name: str
    since: Version | None = None
    """First release with it; None: every supported one, up to `gone`."""
    gone: Version | None = None
    """First release without it; None: there is none yet."""
    part: str = ""
    """Only this part of the value: one of its words, or a JSON pointer (/name)."""
    group: str = ""
    """API group of a kind."""
    instead: str = ""
    """What the other releases read."""
    source: str = ""
    """Where it is in the code of the system, at the tag of `since` or before `gone`."""

    @property
    def part_name(self) -> str:
        """As messages name the part."""
        return self.part.removeprefix("/")

    def is_stated(self, value: str) -> bool:
        """Whether a value has the part; without one, any value has it."""
        if not self.part.startswith("/"):
            return self.part in value
        try:
            return isinstance(found := json.loads(value), dict) and self.part_name in found
        except (ValueError, RecursionError):
            return False

    def read_by(self, version: Version) -> bool:
        return (self.since is None or version >= self.since) and (self.gone is None or version < self.gone)


def ranges(some: Sequence[Version], known: Sequence[Version]) -> str:
    """Minor releases: 1.8 to 1.12 and 1.14."""
    runs: list[list[Version]] = []
    for version in some:
        if runs and known.index(version) == known.index(runs[-1][-1]) + 1:
            runs[-1].append(version)
        else:
            runs.append([version])
    texts = [_minor(run[0]) if len(run) == 1 else f"{_minor(run[0])} to {_minor(run[-1])}" for run in runs]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def _minor(version: Version) -> str:
    return f"{version.major}.{version.minor}"


def stated_release(
    cluster: Cluster | None, target_name: str, parse: Callable[[str], Version]
) -> Version | None:
    """The release of a system that a policy states; None: it states none."""
    target = cluster.targets.get(target_name) if cluster else None
    return parse(target.version) if target and target.version else None
