"""The generated files of one policy: what differs from the disk is printed, or written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from policykit.cli.output import encoded, print_message, write_data
from policykit.formats.diff import diff
from policykit.formats.findings import counted
from policykit.generator.header import edited_by_hand
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.workspace import output_folder
from policykit.workspace.boundary import below
from policykit.workspace.generated_files import Plan
from policykit.workspace.writing import replace_all

_NOWHERE = "/dev/null"


def compare(plan: Plan) -> bool:
    """Prints what differs on disk; returns False if anything does."""
    drifted = list(_drifted(plan))
    _print_lines(plan, drifted)
    if drifted:
        run = "`policykit gen --prune`" if plan.orphaned else "`policykit gen`"
        print_message(f"{plan.folder}: {counted(len(drifted), 'file')} out of date; run {run}")
    return not drifted


def show(plan: Plan, *, prune: bool) -> None:
    """Prints a diff of what would change, without files that must not be written; names what is left over."""
    there = plan.found.ours
    gone = plan.orphaned if prune else ()
    paths = sorted({*plan.missing, *plan.different, *gone}.difference(plan.obstacles))
    write_data("".join(_diff(plan.folder, path, there.get(path), plan.files.get(path)) for path in paths))
    if plan.orphaned and not prune:
        _print_lines(plan, _superfluous(plan, "no longer generated"))
        message = f"{counted(len(plan.orphaned), 'file')} no longer generated (--prune removes them)"
        print_message(f"{plan.folder}: {message}")


def write(plan: Plan, *, prune: bool) -> None:
    """Writes missing and different files, all or none. Raises SourceError.

    The plan must have passed `refuse`.
    """
    edited = [path for path in plan.different if edited_by_hand(plan.found.ours[path])]
    # A kustomization comes after the files it lists.
    order = sorted([*plan.missing, *plan.different], key=lambda p: (p.endswith("kustomization.yaml"), p))
    replace_all({below(plan.place, path): encoded(plan.files[path]) for path in order})
    output_folder.tidy(plan.place, plan.found.leftovers)
    if prune:
        output_folder.remove(plan.place, plan.orphaned)
    _print_lines(plan, ((path, "had been edited by hand; overwritten") for path in edited))
    _print_lines(plan, _superfluous(plan, "removed" if prune else "no longer generated"))
    message = (
        f"{plan.folder}: {counted(len(order), 'file')} written, {len(plan.files) - len(order)} unchanged"
    )
    _print_old_components(plan)
    if plan.orphaned:
        after = "removed" if prune else "no longer generated (--prune removes them)"
        message += f", {len(plan.orphaned)} {after}"
    print_message(message)


def _print_old_components(plan: Plan) -> None:
    """Names the replaced components that patched every object, for which nothing needed a label."""
    old = sorted(
        path.rpartition("/")[0]
        for path in plan.different
        if path.startswith("workloads/") and path.endswith("/kustomization.yaml")
        if "labelSelector:" not in plan.found.ours[path]
    )
    if old:
        print_message(
            f"{plan.folder}: {', '.join(old)} patched every object, and now only objects labelled "
            f"{WORKLOAD_KEY}: before you apply this, add the label with "
            "`policykit lint --select PK140 --unsafe-fixes`"
        )


def _drifted(plan: Plan) -> Iterator[tuple[str, str]]:
    for path in plan.missing:
        # Without its verb, an obstacle reads like the other states.
        taken = plan.obstacles.get(path)
        yield path, taken.why.partition(" ")[2] if taken else "missing"
    yield from ((path, _difference(plan.found.ours[path])) for path in plan.different)
    yield from _superfluous(plan, "no longer generated")


def _difference(there: str) -> str:
    """Why a file differs, if its header tells."""
    edited = edited_by_hand(there)
    if edited is None:
        return "differs"
    return (
        "differs: edited by hand" if edited else "differs: the policy or the version of policykit has changed"
    )


def _superfluous(plan: Plan, orphan: str) -> Iterator[tuple[str, str]]:
    yield from ((path, orphan) for path in plan.orphaned)
    for path, policy in plan.stale.items():
        yield path, f"generated from policy {policy}, which is not in this repository; delete it by hand"


def _print_lines(plan: Plan, lines: Iterable[tuple[str, str]]) -> None:
    for path, why in lines:
        print_message(f"{os.path.join(plan.folder, path)}: {why}")


def _diff(folder: str, path: str, before: str | None, after: str | None) -> str:
    """A unified diff that names /dev/null for created and deleted files, as `git apply` requires."""
    changed = diff(os.path.join(folder, path), before or "", after or "")
    old, new, *rest = changed.split("\n", 2)
    old = f"--- {_NOWHERE}" if before is None else old
    new = f"+++ {_NOWHERE}" if after is None else new
    return "\n".join((old, new, *rest))
