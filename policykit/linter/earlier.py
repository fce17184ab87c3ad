"""The findings of an earlier revision, for comparison with a run."""

from __future__ import annotations

from collections.abc import Mapping

from policykit.linter.baseline import Key, Locate
from policykit.namedtuple import NamedTuple


class EarlierFindings(NamedTuple):
    """The findings of a revision, where it could be judged."""

    amounts: Mapping[tuple[Key, str], int] = {}
    """Number of each finding per file, relative to the root of its repository."""
    clusters: tuple[str, ...] = ()
    """Name in `amounts` of the cluster of each setting of this run."""
    locate: Locate = lambda path: path
    """Reported paths to paths relative to the root."""
    files: frozenset[str] = frozenset()
    """The files of the revision."""
    gone: frozenset[str] = frozenset()
    """Files of the revision that no longer exist, from which findings without an object may have moved."""

    whole: frozenset[str] = frozenset()
    """Files, relative to the root, of which all findings are reported."""

    def had(self, path: str) -> bool:
        """Whether the revision had the file with a reported path."""
        return self.locate(path) in self.files
