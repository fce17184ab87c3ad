"""What a changed output folder means for the cluster and the repository, as `gen` tells it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from policykit.errors import SourceError
from policykit.generator.bundle import recorded_protection
from policykit.placement.eligible_pools import cards_by_resource
from policykit.targets.workloads.stream import objects
from policykit.workspace.files import repository_root
from policykit.workspace.kustomizations import references

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster
    from policykit.workspace.generated_files import Plan

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
    from policykit.cli.abandoned_files import abandoned_folders

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
    """Kustomizations that still list a folder or file that is no longer generated."""
    gone = [path for path in state.orphaned if path.rpartition("/")[2] == _KUSTOMIZATION]
    places = {os.path.dirname(path) for path in gone} | set(state.orphaned)
    real = frozenset(os.path.realpath(os.path.join(state.folder, path)) for path in places if path)
    root = repository_root(os.path.dirname(os.path.abspath(state.folder)))
    for path, said in references(root, real) if root and real else ():
        if os.path.realpath(path) not in real:
            yield f"{os.path.relpath(path)} lists {said}, which is no longer generated: it cannot be built"


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
