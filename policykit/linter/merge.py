"""Findings of units joined: those that agree in code, place, message and severity become one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from policykit.linter.finding import Finding, listed
from policykit.linter.unit import UnitFinding
from policykit.linter.workspace import Run, Workspace


def merge(run: Run, found: Iterable[UnitFinding]) -> tuple[Finding, ...]:
    """Sorted, each with the clusters that it holds for.

    What several pods of one anchor have at the same place is said once, too, with its fix.
    """
    groups: dict[tuple[object, ...], list[UnitFinding]] = {}
    for one in sorted(found, key=lambda one: (one.finding.sort_key(), one.build, one.setting)):
        of = one.finding
        mark = (of.path, of.span, of.code, of.message, of.document, of.severity)
        groups.setdefault(mark, []).append(one)
    names = [setting.cluster.name if setting.cluster else "" for setting in run.workspace.settings]
    return tuple(_joined(group, run.workspace, names) for group in groups.values())


def _joined(group: Sequence[UnitFinding], workspace: Workspace, names: Sequence[str]) -> Finding:
    first = next((one for one in group if one.finding.fix), group[0]).finding
    clusters = tuple(sorted({names[one.setting] for one in group} - {""}))
    if group[0].build < 0:
        return first._replace(clusters=clusters)
    said = _help(group, names)
    seen = dict.fromkeys(workspace.builds[one.build].shown for one in group if one.build >= 0)
    if any(one.foreign for one in group):
        said = f"{said}\nseen in {listed([*seen])}, as kustomize builds it".lstrip("\n")
    return first._replace(help=said, clusters=clusters)


def _help(group: Sequence[UnitFinding], names: Sequence[str]) -> str:
    """Where clusters need different things, the help of each."""
    helps: dict[str, set[str]] = {}
    for one in group:
        helps.setdefault(one.finding.help, set()).add(names[one.setting])
    if len(helps) == 1 or len(set[str]().union(*helps.values())) == 1:
        return group[0].finding.help
    return "\n".join(f"{listed(sorted(of))}: {each}" for each, of in helps.items() if each)
