"""Proves that a fix is safe, by computing where pods can land before and after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from policykit.kube import podsets
from policykit.kube.podsets.podset import PodSet
from policykit.manifests.memoize import memoize_last
from policykit.manifests.patch import EditError, Patch, patched
from policykit.manifests.path import Path
from policykit.model.pool import Pool
from policykit.placement.eligible_pools import is_allowed
from policykit.placement.review import Review, review


def is_proven_safe(before: Review, patches: Sequence[Patch]) -> bool:
    """Whether changes to the manifest help this pod set and do not harm others in it.

    Afterwards at least one pool accepts the pod set, its workload kind may use all pools that accept it, and
    no such pool is lost; other pod sets land as before. Changes without an effect on landing are safe.
    Without a policy nothing is known about landing, and the rule decides.
    """
    if before.cluster is None:
        return True
    changed = _changed(before, patches)
    if changed is None:
        return False
    after, others_kept = changed
    if not others_kept:
        return False
    if _placement(before) == _placement(after):
        return True
    accepting = after.accepting
    return (
        before.workload == after.workload
        and bool(accepting)
        and all(_allowed(after, pool) for pool in accepting)
        and not any(_lost(before, after, pool) for pool in before.cluster.pools)
    )


def review_after(before: Review, patches: Sequence[Patch]) -> Review | None:
    """The pod set in the changed manifest; None: it no longer exists, or the changes cannot be applied."""
    changed = _changed(before, patches)
    return changed[0] if changed else None


def _changed(before: Review, patches: Sequence[Patch]) -> tuple[Review, bool] | None:
    """The pod set in the changed manifest, and whether the others land as before; None: it is gone."""
    data = before.manifest.data
    try:
        for patch in patches:
            data = patched(data, patch)
    except EditError:
        return None
    old, new = _pod_sets(before.manifest.data), _by_place(data)
    mine = (before.pod_set.name, before.pod_set.path)
    if mine not in new or list(old) != list(new):
        return None
    manifest = before.manifest._replace(data=data)
    kept = all(_lands_alike(before, old[other], new[other]) for other in old if other != mine)
    return review(manifest, new[mine], before.cluster, before.namespace), kept


def _by_place(data: dict[str, Any]) -> Mapping[tuple[str, Path], PodSet]:
    return {(pod_set.name, pod_set.path): pod_set for pod_set in podsets.pod_sets(data)}


_pod_sets = memoize_last(_by_place)
"""Pod sets of a manifest by name and path, cached because many fixes concern the same manifest."""


def _lands_alike(before: Review, old: PodSet, new: PodSet) -> bool:
    """Whether another pod set lands as before, which depends only on its scheduling fields."""
    if (old.spec, old.devices) == (new.spec, new.devices):
        return True
    reviews = [review(before.manifest, one, before.cluster, before.namespace) for one in (old, new)]
    return _verdicts(reviews[0]) == _verdicts(reviews[1])


def _placement(one: Review) -> tuple[object, ...]:
    return one.tolerations, one.affinity, one.requests, one.workload, _verdicts(one)


def _verdicts(one: Review) -> list[tuple[str, str]]:
    return [(landing.verdict, landing.reason) for landing in one.landings]


def _allowed(one: Review, pool: Pool) -> bool:
    if one.workload is None:
        return True
    if one.card_resources:
        return is_allowed(one.workload, pool)
    return one.eligible_pools is None or one.is_eligible(pool)


def _lost(before: Review, after: Review, pool: Pool) -> bool:
    """Whether the pod set can no longer land in a pool. An undecidable pool might have accepted it."""
    had = before.landing(pool).verdict != "refused" and _allowed(before, pool)
    return had and after.landing(pool).verdict == "refused"
