"""The findings of an earlier revision, as a run is compared with them."""

from __future__ import annotations

from collections.abc import Mapping

from policykit.linter.baseline import Key, Locate
from policykit.namedtuple import NamedTuple


class EarlierFindings(NamedTuple):
    """The findings of a revision, as far as it could be judged."""

    amounts: Mapping[tuple[Key, str], int] = {}
    """How often each finding is in each file, relative to the root of its repository."""
    clusters: tuple[str, ...] = ()
    """What the cluster of each setting of this run is called in `amounts`."""
    locate: Locate = lambda path: path
    """Reported paths to paths relative to the root."""
    files: frozenset[str] = frozenset()
    """The files of the revision."""
    gone: frozenset[str] = frozenset()
    """Files of the revision that are not there any more: findings without an object move with a file."""

    whole: frozenset[str] = frozenset()
    """Files, relative to the root, whose findings are all reported, new or not."""

    def had(self, path: str) -> bool:
        """Whether the revision had a file, by its reported path."""
        return self.locate(path) in self.files
