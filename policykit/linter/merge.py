"""Findings of units joined: those that agree in code, place, message and severity become one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from policykit.linter.finding import Finding
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
    users = _users(run.workspace) if any(one.build >= 0 for group in groups.values() for one in group) else {}
    return tuple(_joined(group, run.workspace, names, users) for group in groups.values())


def listed(names: Sequence[str]) -> str:
    """Up to three names as people list them, else the first and how many more."""
    if len(names) > 3:
        return f"{names[0]} and {len(names) - 1} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _users(workspace: Workspace) -> Mapping[str, frozenset[int]]:
    """The builds that use each file, by its reported path."""
    found: dict[str, set[int]] = {}
    for number, build in enumerate(workspace.builds):
        for file in build.tree.written():
            if file in build.names:
                found.setdefault(build.names[file].path, set()).add(number)
    return {path: frozenset(numbers) for path, numbers in found.items()}


def _joined(
    group: Sequence[UnitFinding],
    workspace: Workspace,
    names: Sequence[str],
    users: Mapping[str, frozenset[int]],
) -> Finding:
    first = next((one for one in group if one.finding.fix), group[0]).finding
    clusters = tuple(sorted({names[one.setting] for one in group} - {""}))
    if group[0].build < 0:
        return first._replace(clusters=clusters)
    everybody = {names[workspace.builds[number].member.setting] for number in users.get(first.path, ())}
    said = _help(group, names, sorted(everybody.difference(clusters) - {""}), clusters)
    seen = dict.fromkeys(workspace.builds[one.build].shown for one in group if one.build >= 0)
    if any(one.foreign for one in group):
        said = f"{said}\nseen in {listed([*seen])}, as kustomize builds it".lstrip("\n")
    return first._replace(help=said, clusters=clusters)


def _help(
    group: Sequence[UnitFinding], names: Sequence[str], others: Sequence[str], clusters: Sequence[str]
) -> str:
    """Help that is wrong nowhere: what only some clusters need is not for a file that all of them use."""
    helps: dict[str, dict[str, None]] = {}
    for one in group:
        helps.setdefault(one.finding.help, {})[names[one.setting]] = None
    said = [each for each in helps if each]
    if not said:
        return ""
    if len(helps) > 1 and len(clusters) > 1:
        return "\n".join(f"{listed(sorted(helps[each]))}: {each}" for each in said)
    if others:
        verb = "uses" if len(others) == 1 else "use"
        return f"in an overlay of {listed(clusters)}, as {listed(others)} {verb} this file too: {said[0]}"
    return said[0]
