"""Why something is not judged: the reasons by name, and what settings accept of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from policykit.linter.finding import NotJudged

if TYPE_CHECKING:
    from policykit.linter.unit import Judgement
    from policykit.linter.workspace import Run, Setting

NO_PROGRAM = "no-program"
REMOTE = "remote"
CHART = "chart"
PROGRAM = "program"
OUTSIDE = "outside"
GENERATED = "generated"
ENCRYPTED = "encrypted"
UNKNOWN_VARIABLE = "unknown-variable"
OVER_LIMITS = "over-limits"
BUILD_FAILED = "build-failed"
NO_POLICY = "no-policy"
EMPTY_INPUT = "empty-input"
NOT_YAML = "not-yaml"
SOURCE = "source"

REASONS = {
    NO_PROGRAM: "neither kustomize nor kubectl is on PATH, or it cannot be run",
    REMOTE: "it uses something that is not on this machine, and nothing is downloaded",
    CHART: "it renders a Helm chart",
    PROGRAM: "it runs a program",
    OUTSIDE: "it uses a path that policykit does not read: outside of the repository, or in .git",
    GENERATED: "it uses a file that .gitignore keeps out of the repository",
    ENCRYPTED: "its values are encrypted",
    UNKNOWN_VARIABLE: "it depends on a variable without a known value",
    OVER_LIMITS: "it takes too long, is too large or too deep",
    BUILD_FAILED: "kustomize fails for a reason that may lie in its version",
    NO_POLICY: "no policy applies to the file, while other files have one",
    EMPTY_INPUT: "standard input has no objects",
    NOT_YAML: "the text is YAML only once it is rendered, or not at all",
    SOURCE: "it is applied from another repository, or in a way that is not known here",
}
"""Every reason, as users name it, with its meaning."""


def left_over(run: Run, judged: Iterable[Judgement]) -> tuple[NotJudged, ...]:
    """Everything of a run that was not judged, sorted; each file or kustomization once per reason."""
    found = {(one.path, one.reason, one.detail): one for one in run.workspace.not_judged}
    for one in _files(run, judged):
        found.setdefault((one.path, one.reason, one.detail), one)
    return tuple(sorted(found.values()))


def not_accepted(settings: Sequence[Setting], found: Iterable[NotJudged]) -> tuple[NotJudged, ...]:
    """Without those whose reason and path the settings accept. Any policy of the run may accept a file
    that has none."""
    left = []
    for one in found:
        asked = settings if one.reason == NO_POLICY else settings[one.setting : one.setting + 1]
        if not any(setting.selection.accepts(one.reason, one.path) for setting in asked):
            left.append(one)
    return tuple(left)


def _files(run: Run, judged: Iterable[Judgement]) -> Iterator[NotJudged]:
    from policykit.linter.member import STDIN

    settings = run.workspace.settings
    any_policy = any(setting.cluster for setting in settings)
    for each in judged:
        result, member = each.result, each.member
        if not each.first or each.failure or member.is_built:
            continue
        reason = result.obstacle
        if member.file == STDIN and not result.documents:
            reason = reason or EMPTY_INPUT
        elif any_policy and result.documents and not any(settings[n].cluster for n in each.settings):
            reason = reason or NO_POLICY
        if reason:
            yield NotJudged(member.path, reason, REASONS[reason], member.setting)
