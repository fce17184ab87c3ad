"""What of a run is told: nothing that a baseline accepts, and with --since only what changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from policykit.cli.linting.gather import STDIN, Gathered
from policykit.linter.finding import Finding, Report
from policykit.sources.baselines import nearest_baselines
from policykit.sources.files import BASELINE

Narrow = Callable[[Report], Report]


def narrowing(
    gathered: Gathered,
    paths: Sequence[str],
    baseline: str = "",
    no_baseline: bool = False,
    since: str | None = None,
) -> Narrow:
    """Leaves findings out of a report, which says how many; made once the files of a run are known.

    `baseline`: one for all files, instead of the nearest of each. Raises SourceError or UsageError
    where that one or the revision is of no use.
    """
    old = _unchanged(gathered, since)
    governing = {} if no_baseline else _governing(gathered, paths, baseline)
    if not governing:
        return lambda report: _without_old(report, old)
    from policykit.cli.linting.accepting import Accepting

    accepting = Accepting(gathered, paths, governing, named=bool(baseline))

    def narrow(report: Report) -> Report:
        new = _without_old(report, old)
        left = accepting.fresh()
        # Of two like findings the older one uses up what is accepted, and the new one is told.
        accepting.kept((f for f in report.findings if old(f)), left)
        kept = accepting.kept(new.findings, left)
        stale = [] if since is not None or report.failures else accepting.stale(left)
        found = tuple(sorted([*kept, *stale], key=Finding.sort_key))
        return new._replace(findings=found, baselined=len(new.findings) - len(kept))

    return narrow


def _unchanged(gathered: Gathered, since: str | None) -> Callable[[Finding], bool]:
    if since is None:
        return lambda _: False
    from policykit.cli.linting.since import Since

    changes = Since(gathered, since)
    return lambda finding: not changes.changed(finding)


def _governing(gathered: Gathered, paths: Sequence[str], named: str) -> dict[str, str]:
    """The baseline of each file; a folder that holds no manifest any more still has its own."""
    files = [*(member.path for member in gathered.members), *gathered.beside]
    files += [os.path.join(path, BASELINE) for path in paths if path != STDIN]
    return dict.fromkeys(files, os.path.abspath(named)) if named else nearest_baselines(files)


def _without_old(report: Report, old: Callable[[Finding], bool]) -> Report:
    told = tuple(finding for finding in report.findings if not old(finding))
    return report._replace(findings=told, unchanged=len(report.findings) - len(told))
