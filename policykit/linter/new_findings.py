"""Finds the findings that a revision of the repository did not have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from policykit.linter.baseline import Baselines, Key, Locate
from policykit.linter.baseline_pass import slots
from policykit.linter.earlier import EarlierFindings
from policykit.linter.unit import UnitFinding
from policykit.namedtuple import NamedTuple


class NewFindings(NamedTuple):
    """The findings that a revision did not have."""

    findings: tuple[UnitFinding, ...]
    known: int
    """Number of findings that it had."""


def earlier_amounts(
    found: Iterable[UnitFinding], clusters: Sequence[str], locate: Locate
) -> Counter[tuple[Key, str]]:
    """Number of each finding of a run, per file."""
    every = slots(found, clusters, Baselines({}, {}), locate)
    return Counter((slot.key, locate(slot.findings[0].finding.path)) for slot in every)


def new_findings(found: Iterable[UnitFinding], earlier: EarlierFindings) -> NewFindings:
    """The findings that the revision did not have. Findings are equal if rule, object, field, cluster and
    cause are, in any file and line. Of two equal findings, the one in a file that had it is known.
    """
    left = _Left(earlier)
    every = [*slots(found, earlier.clusters, Baselines({}, {}), earlier.locate)]
    paths = [earlier.locate(slot.findings[0].finding.path) for slot in every]
    known = [left.take(slot.key, path) for slot, path in zip(every, paths, strict=True)]
    for take in (left.take, left.take_whatever_cluster, left.take_from_gone_file):
        known = [is_known or take(slot.key) for slot, is_known in zip(every, known, strict=True)]
    known = [is_known and path not in earlier.whole for is_known, path in zip(known, paths, strict=True)]
    new = [slot for slot, is_known in zip(every, known, strict=True) if not is_known]
    places = {slot.place for slot in every} - {slot.place for slot in new}
    return NewFindings(tuple(one for slot in new for one in slot.findings), len(places))


class _Left:
    """The findings of the revision that are not yet paired with one of this run."""

    def __init__(self, earlier: EarlierFindings) -> None:
        self._by_file = Counter(dict(earlier.amounts))
        self._by_key: Counter[Key] = Counter()
        self._without_policy: Counter[Key] = Counter()
        self._whatever: Counter[Key] = Counter()
        self._gone: Counter[Key] = Counter()
        for (key, path), amount in earlier.amounts.items():
            self._by_key[key] += amount
            bare = key._replace(cluster="")
            self._whatever[bare] += amount
            if not key.cluster:
                self._without_policy[bare] += amount
            if path in earlier.gone and key.path:
                self._gone[key._replace(path="")] += amount

    def take(self, key: Key, path: str | None = None) -> bool:
        """Pairs a finding; with `path`, only with one of the same file."""
        if self._by_key[key] <= 0 or (path is not None and self._by_file[key, path] <= 0):
            return False
        self._by_key[key] -= 1
        if path is not None:
            self._by_file[key, path] -= 1
        return True

    def take_whatever_cluster(self, key: Key) -> bool:
        """Pairs a finding of a file that had no policy, or no longer has one: a finding without a policy
        is true with any, so it is paired with those of all clusters."""
        bare = key._replace(cluster="")
        return self._without_policy[bare] > 0 if key.cluster else self._whatever[bare] > 0

    def take_from_gone_file(self, key: Key) -> bool:
        """Pairs a finding without an object with one of a file that no longer exists."""
        if not key.path or self._gone[key._replace(path="")] <= 0:
            return False
        self._gone[key._replace(path="")] -= 1
        return True
