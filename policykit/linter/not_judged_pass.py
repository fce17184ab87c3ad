"""Collects what a run did not judge, and removes what settings accept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from policykit.linter.finding import NotJudged
from policykit.linter.member import STDIN, TEXT
from policykit.linter.not_judged import EMPTY_INPUT, NO_POLICY, NOT_YAML, REASONS
from policykit.linter.unit import Judgement
from policykit.linter.workspace import Run, Setting


def left_over(run: Run, judged: Iterable[Judgement]) -> tuple[NotJudged, ...]:
    """Everything that a run did not judge, sorted; each file or kustomization once per reason."""
    found = {(one.path, one.reason, one.detail): one for one in run.workspace.not_judged}
    for one in _files(run, judged):
        found.setdefault((one.path, one.reason, one.detail), one)
    return tuple(sorted(found.values()))


def not_accepted(settings: Sequence[Setting], found: Iterable[NotJudged]) -> tuple[NotJudged, ...]:
    """Those whose reason and path the settings do not accept. For a file without a policy, any policy of the
    run may accept it."""
    left = []
    for one in found:
        asked = settings if one.reason == NO_POLICY else settings[one.setting : one.setting + 1]
        if not any(setting.selection.accepts(one.reason, one.path) for setting in asked):
            left.append(one)
    return tuple(left)


def _files(run: Run, judged: Iterable[Judgement]) -> Iterator[NotJudged]:
    settings = run.workspace.settings
    any_policy = any(setting.cluster for setting in settings)
    for each in judged:
        result, member = each.result, each.member
        if not each.first or each.failure or member.is_built:
            continue
        reason = result.obstacle
        if reason == NOT_YAML and member.only == TEXT:
            reason = ""  # its objects are judged as built
        if member.file == STDIN and not result.documents:
            reason = reason or EMPTY_INPUT
        elif any_policy and result.documents and not any(settings[n].cluster for n in each.settings):
            reason = reason or NO_POLICY
        if reason:
            yield NotJudged(member.path, reason, REASONS[reason], member.setting)
