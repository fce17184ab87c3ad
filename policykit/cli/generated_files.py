"""What `gen` does with files on the disk: what differs, is written, and is left of former policies."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from policykit.cli.output import encoded, print_message, write_data
from policykit.errors import SourceError
from policykit.formats.diff import diff
from policykit.formats.findings import counted
from policykit.generator.bundle import recorded_protection
from policykit.generator.header import edited_by_hand, owner
from policykit.placement.eligible_pools import cards_by_resource
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.targets.workloads.stream import objects
from policykit.workspace import generated_files, safe_paths
from policykit.workspace.files import repository_root, walk
from policykit.workspace.generated_files import Plan
from policykit.workspace.kustomizations import references
from policykit.workspace.policies import policy_names
from policykit.workspace.safe_paths import below
from policykit.workspace.writing import replace_all

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

_HEADER = 400
"""Bytes that contain the header of a generated file."""


def abandoned_folders(root: str, outputs: Mapping[str, str], only: str = "") -> Iterator[SourceError]:
    """What is wrong with each folder of generated files that is not the output of a policy any more.

    `outputs`: real folders that policies of the repository write to, with their names; `only`: the name of
    one policy to look for. Raises SourceError for a file that cannot be read.
    """
    found: dict[str, list[str]] = {}
    for path in walk(root):
        real = os.path.realpath(path)
        if any(safe_paths.is_within(real, folder) for folder in outputs):
            continue
        name = _owner(path)
        if name and only in ("", name):
            found.setdefault(name, []).append(os.path.dirname(os.path.abspath(path)))
    known = policy_names(os.path.join(root, "policykit.yaml"), root) if found else frozenset()
    for name, folders in sorted(found.items()):
        what = "which now writes elsewhere" if name in known else "which is gone"
        for folder in _tops(folders, os.path.abspath(root), name):
            shown = os.path.relpath(folder)
            yield SourceError(
                f"was generated from policy {name}, {what}", _advice(name, shown, outputs), shown
            )


def _tops(folders: Iterable[str], root: str, name: str) -> list[str]:
    """The folders that a policy wrote to, none within another. No other folder holds them: whoever deletes
    these deletes nothing else."""
    owned = dict.fromkeys(folders, True)

    def top(folder: str) -> str:
        """A README or a script may be all there is above the manifests."""
        found = folder
        while safe_paths.is_within(folder, root) and folder != root:
            if folder not in owned:
                paths = [os.path.join(folder, file) for file in os.listdir(folder)]
                owned[folder] = any(_owner(one) == name for one in paths if _is_plain(one))
            found = folder if owned[folder] else found
            folder = os.path.dirname(folder)
        return found

    found: list[str] = []
    for folder in sorted({top(folder) for folder in set(folders)}, key=lambda one: one.split(os.sep)):
        if not any(safe_paths.is_within(folder, other) for other in found[-1:]):
            found.append(folder)
    return found


def _is_plain(path: str) -> bool:
    return os.path.isfile(path) and not os.path.islink(path)


def _owner(path: str) -> str:
    return owner(safe_paths.read(path, part=_HEADER).decode("utf-8", errors="replace"))


def _advice(name: str, shown: str, outputs: Mapping[str, str]) -> str:
    """What to do with a folder: move it to where its policy writes, if nothing is there, else delete it."""
    empty = {owner: folder for folder, owner in outputs.items() if owner and not os.path.lexists(folder)}
    delete = f"delete it: `git rm -r {shown}`"
    if name in empty:
        return f"move it: `git mv {shown} {os.path.relpath(empty[name])}`"
    if len(empty) != 1:
        return delete
    ((new, folder),) = empty.items()
    return (
        f"if {name} was renamed to {new}, move it: `git mv {shown} {os.path.relpath(folder)}`; else {delete}"
    )


def same_names(names: Sequence[tuple[str, str]]) -> Iterator[SourceError]:
    """What is wrong with policies of one `metadata.name`; `names` has the file and the name of each."""
    first: dict[str, str] = {}
    for path, name in names:
        if name in first:
            message = f"metadata.name {name} is also that of {os.path.relpath(first[name])}"
            help_ = "one policy is one cluster: give each its own name"
            yield SourceError(message, help_, os.path.relpath(path))
        first.setdefault(name, path)


_KUSTOMIZATION = "kustomization.yaml"
_COMPONENTS = "workloads/"


def refuse_removal(state: Plan, cluster: Cluster, allowed: Collection[str]) -> None:
    """Raises SourceError for protected pools and queues that the policy no longer has."""
    there = {f"pool {pool.name}" for pool in cluster.pools}
    there |= {f"queue {queue.name}" for queue in cluster.queues}
    recorded = recorded_protection(state.found.ours.get("README.md", ""))
    gone = [each for each in recorded if each not in there and each.partition(" ")[2] not in allowed]
    if gone:
        options = " ".join(f"--allow-removal {each.partition(' ')[2]}" for each in gone)
        raise SourceError(
            f"the policy no longer has {', '.join(gone)}, which it protected",
            f"put it back, or run `policykit gen {options}`",
            state.folder,
        )


def consequences(state: Plan, cluster: Cluster) -> Iterator[str]:
    """One line for each; nothing for a folder that is written for the first time, or as it was."""
    there = state.found.ours
    if not there:
        yield from _left_folder(state, cluster)
        return
    yield from _deleted_objects(state)
    yield from _dangling(state)
    yield from _ambiguous_cards(cluster, there)


def _left_folder(state: Plan, cluster: Cluster) -> Iterator[str]:
    """Another folder with files of this policy, which `generate.out` has left."""

    root = repository_root(os.path.dirname(os.path.abspath(state.folder)))
    outputs = {os.path.realpath(state.folder): ""}  # it is written now: nothing can be moved there
    for error in abandoned_folders(root, outputs, only=cluster.name) if root else ():
        yield f"{error.place}: {error.message}, and stays applied where it is; {error.hint}"


def _deleted_objects(state: Plan) -> Iterator[str]:
    """Objects that leave the kustomization: what prunes deletes them."""
    before = _listed(state.found.ours)
    after = _listed(state.files)
    gone = sorted(f"{kind} {name}" for kind, name in before - after)
    if gone:
        yield (
            f"{os.path.join(state.folder, _KUSTOMIZATION)} no longer has {', '.join(gone)}: Flux, Argo CD "
            "and whatever else prunes delete them from the cluster, with what depends on them. "
            "`policykit plan` says what does"
        )


def _listed(files: Mapping[str, str]) -> set[tuple[str, str]]:
    """Kind and name of the objects that the kustomization lists, of files that policykit writes."""
    import yaml

    data = yaml.load(files.get(_KUSTOMIZATION, ""), yaml.CSafeLoader)
    resources = data.get("resources") if isinstance(data, dict) else None
    paths = [path for path in resources if path in files] if isinstance(resources, list) else []
    return {(kind, name) for path in paths for _, kind, _, name in objects(files[path].encode(), "")}


def _dangling(state: Plan) -> Iterator[str]:
    """Kustomizations of others that still list a folder or file that is no longer generated."""
    gone = [path for path in state.orphaned if path.rpartition("/")[2] == _KUSTOMIZATION]
    places = {os.path.dirname(path) for path in gone} | set(state.orphaned)
    real = frozenset(os.path.realpath(os.path.join(state.folder, path)) for path in places if path)
    own = {os.path.realpath(os.path.join(state.folder, path)) for path in state.files}
    root = repository_root(os.path.dirname(os.path.abspath(state.folder)))
    for path, reference in references(root, real) if root and real else ():
        if os.path.realpath(path) not in real | own:
            yield (
                f"{os.path.relpath(path)} lists {reference}, which is no longer generated: "
                "once that is removed, it cannot be built"
            )


def _ambiguous_cards(cluster: Cluster, there: Iterable[str]) -> Iterator[str]:
    """Kinds with another card than before under one resource: manifests must say which."""
    folders = {path.split("/")[1] for path in there if path.startswith(_COMPONENTS) and path.count("/") > 1}
    for kind in cluster.workloads.values():
        for resource, cards in cards_by_resource(cluster, kind).items():
            known = [card for card in cards if f"{kind.name}-{card}" in folders]
            if 0 < len(known) < len(cards):
                yield (
                    f"workloads: {kind.name} may now run on {', '.join(cards)}, all of them {resource}: "
                    "`policykit patch` refuses its manifests that name no product. Pass --card, or patch "
                    "them before this change"
                )


_NOWHERE = "/dev/null"


def compare(plan: Plan, *, every: bool) -> bool:
    """Prints what differs on disk; returns False if anything does. `every`: so do all policies of the run."""
    drifted = list(_drifted(plan))
    _print_lines(plan, drifted)
    if drifted:
        run = f"policykit gen{' --all' if every else ''}{' --prune' if plan.orphaned else ''}"
        print_message(f"{plan.folder}: {counted(len(drifted), 'file')} out of date; run `{run}`")
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
    generated_files.tidy(plan.place, plan.found.leftovers)
    if prune:
        generated_files.remove(plan.place, plan.orphaned)
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
