"""Whether pods can mount the volumes of their claims: on the nodes where they run, and all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from policykit.gates.volume_binding import unbound
from policykit.kube.affinity import NodeAffinity, Term
from policykit.kube.selectors import Requirement
from policykit.linter.scope import Scope
from policykit.model.pod_admission import PodMutation
from policykit.model.pool import Pool
from policykit.model.volumes import ONE_NODE, ONE_POD, ClaimUse, DeclaredClaim, DeclaredVolume
from policykit.namedtuple import NamedTuple
from policykit.placement.landing import selection
from policykit.placement.topology import domains
from policykit.targets.facts.volumes import is_of_files, is_of_node

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

_Selected = tuple[tuple[str, tuple[str, ...]], ...]
_SHARE = "give each pod a claim of its own, or use a volume with ReadWriteMany"
_ZONE = "topology.kubernetes.io/zone"
_ZONES = (_ZONE, "failure-domain.beta.kubernetes.io/zone")
_WAIT = "write volumeBindingMode: WaitForFirstConsumer in the class: volumes are then made where the pod is"
_RECREATE = "set strategy.type: Recreate"


class VolumeProblem(NamedTuple):
    """Why pods do not get a volume."""

    message: str
    help: str = ""
    certain: bool = False
    """It is so whatever else there is; if not, it depends on what the files do not have."""
    known: bool = True
    """False: the files do not even say whether it is so."""
    whole: bool = True
    """None of the pods runs; if not, one of them does."""
    possible: bool = False
    """The pods may well be placed so that it never comes to it."""


class Volumes:
    """The volumes and claims of a scope, by which those of each pod are judged."""

    def __init__(self, scope: Scope, cluster: Cluster | None) -> None:
        self._cluster = cluster
        self._pools = {pool.name: pool for pool in cluster.pools} if cluster else {}
        self._changed = {each.value.namespace for each in scope.of(PodMutation)}
        self._keys: dict[tuple[str, str, str, _Selected], str] = {}
        self._claims: dict[tuple[str, str], list[DeclaredClaim]] = {}
        for claim in scope.of(DeclaredClaim):
            self._claims.setdefault(claim.value[:2], []).append(claim.value)
        volumes = [each.value for each in scope.of(DeclaredVolume)]
        self._by_claim = {each.claim: each for each in volumes if each.claim}
        self._by_name = {(each.kind, each.name): each for each in volumes}
        self._of_class: dict[str, list[DeclaredVolume]] = {}
        self._named: dict[str, list[DeclaredVolume]] = {}
        for volume in volumes:
            self._of_class.setdefault(volume.storage_class, []).append(volume)
            if volume.kind == "PersistentVolume":
                self._named.setdefault(volume.name, []).append(volume)
        self._firsts: dict[tuple[str, str], ClaimUse | None] = {}
        self._users: dict[tuple[str, str], list[ClaimUse]] = {}
        self._of_object: dict[tuple[str, str, str], list[ClaimUse]] = {}
        for use in (each.value for each in scope.of(ClaimUse) if not each.partial):
            self._users.setdefault((use.namespace, use.claim), []).append(use)
            self._of_object.setdefault((use.what, use.namespace, use.claim), []).append(use)

    def users(self, claim: DeclaredClaim) -> Sequence[ClaimUse]:
        """The pods that mount it."""
        return self._users.get(claim[:2], ())

    def problem(self, use: ClaimUse) -> VolumeProblem | None:
        """Of the nodes that can mount the volume."""
        claim = self._claim(use)
        found = self._never_made(use, claim) or self._never_bound(claim)
        found = found or self._out_of_reach(use, claim) or self._elsewhere(use, claim)
        if found is None and claim is not None and self._is_of_one_node(use, claim):
            found = self._apart(use) or self._on_any_nodes(use, claim) or self._with_others(use, claim)
        return found or self._in_any_zone(use, claim)

    def of_one_pod(self, use: ClaimUse) -> VolumeProblem | None:
        """Of a volume that only one pod of the cluster may use at a time.

        Source: the plugin VolumeRestrictions of kube-scheduler (v1.36).
        """
        claim = self._claim(use)
        if claim is None or ONE_POD not in claim.access_modes:
            return None
        rule, pods = f"{ONE_POD} lets one pod use the volume, but", self._at_once(use, claim)
        if pods > 1:
            end = "they run one after another" if use.in_turn else "the others stay pending"
            fault = f"{rule} {use.what} has {pods}: {end}"
            return VolumeProblem(fault, _SHARE, certain=not use.in_turn, whole=False)
        if use.each_node and self._nodes_of(use) > 1:
            fault = f"{rule} {use.what} has one on each node: the others stay pending"
            return VolumeProblem(fault, "use a volume with ReadWriteMany or ReadOnlyMany", whole=False)
        if use.adds_first:
            fault = "starts a second one before it removes the first, and never ends"
            return VolumeProblem(f"{rule} a rolling update of {use.what} {fault}", _RECREATE, whole=False)
        first = min((each.what for each in self.users(claim) if each.lasting), default=use.what)
        if use.lasting and use.what != first:
            fault = f"{rule} both {first} and {use.what} do: one of them never runs"
            return VolumeProblem(fault, _SHARE, whole=False)
        return None

    def _nodes_of(self, use: ClaimUse) -> int:
        """The least number of nodes in the pools of the pods; 0: unknown."""
        here = self._cluster is not None and use.policy == self._cluster.name and use.closed
        pools = [self._pools[name] for name in use.pools if here and name in self._pools]
        return sum(shape.minimum for pool in pools for shape in pool.shapes)

    def _at_once(self, use: ClaimUse, claim: DeclaredClaim) -> int:
        """Pods that mount a claim at a time: those of one template, or of all that wait for each other."""
        pods = {use.together: use.replicas or 0}
        for each in self._of_object.get((use.what, *claim[:2]), ()) if use.together else ():
            if each.together:
                pods[each.together] = max(each.replicas or 0, pods.get(each.together, 0))
        return sum(pods.values())

    def _claim(self, use: ClaimUse) -> DeclaredClaim | None:
        """None: it is not here, or two differ."""
        known = self._claims.get((use.namespace, use.claim), [])
        return known[0] if len(set(known)) == 1 else None

    def _never_made(self, use: ClaimUse, claim: DeclaredClaim | None) -> VolumeProblem | None:
        """Source: the plugin VolumeBinding of kube-scheduler (v1.36), which has volumes made."""
        name = use.storage_class or (claim.storage_class if claim and not claim.volume else "")
        known = self._by_name.get(("StorageClass", name)) if name and use.unscheduled else None
        others = self._users.get((use.namespace, use.claim), ()) if use.claim else ()
        scheduled = any(not each.unscheduled for each in others)
        if known is None or not known.waits or scheduled or self._bound(use, claim) is not None:
            return None
        who = f"claim {use.claim}" if use.claim else "a claim of each pod"
        return VolumeProblem(
            f"{who}: StorageClass {name} waits until the scheduler has placed a pod "
            "(WaitForFirstConsumer), but nodeName passes the scheduler by: no volume is made",
            "select the node by its label kubernetes.io/hostname instead of nodeName",
        )

    def _never_bound(self, claim: DeclaredClaim | None) -> VolumeProblem | None:
        """Of a claim for a volume of the files, none of which fits."""
        if claim is None or not (claim.volume or claim.storage_class):
            return None
        known = self._by_name.get(("StorageClass", claim.storage_class))
        if not claim.volume and known is not None and not known.made_by_hand:
            return None
        volumes = (
            self._named.get(claim.volume, ()) if claim.volume else self._of_class.get(claim.storage_class, ())
        )
        fault, help_ = unbound(claim, volumes)
        if not fault:
            return None
        made = "" if claim.volume or known else f", unless StorageClass {claim.storage_class} makes one"
        return VolumeProblem(f"claim {claim.name}: {fault}: it gets no volume{made}", help_)

    def _in_any_zone(self, use: ClaimUse, claim: DeclaredClaim | None) -> VolumeProblem | None:
        """Of volumes that are made, each in some zone, before anything knows where the pods may run."""
        if claim is None and use.storage_class:
            claim = DeclaredClaim(use.namespace, "", storage_class=use.storage_class)
        if claim is None or not self._any_zone(claim):
            return None
        cluster = self._cluster
        every = domains(cluster.pools, _ZONE) if cluster is not None and cluster.complete else None
        if every == 1:
            return None
        name = f"StorageClass {claim.storage_class} makes the volume of a claim at once, in any zone"
        selected = dict(use.selected)
        key = next((key for key in _ZONES if key in selected), "")
        if key and (every is None or len(set(selected[key])) < every):
            return VolumeProblem(f"{name}, but the pods select {key} {', '.join(selected[key])}", _WAIT)
        beside = [self._claims.get((use.namespace, each), []) for each in use.beside]
        other = next((each[0].name for each in beside if len(each) == 1 and self._any_zone(each[0])), "")
        if other:
            return VolumeProblem(f"{name}: those of {other} and {claim.name} may be in two", _WAIT)
        here = cluster is not None and use.policy == cluster.name and use.closed
        pools = [self._pools[each] for each in use.pools if here and each in self._pools]
        reached = domains(pools, _ZONE) if pools else None
        if every is None or reached is None or reached >= every:
            return None
        where = f"{'pool' if len(pools) == 1 else 'pools'} {', '.join(pool.name for pool in pools)}"
        zones = f"{reached} of the {every} zones"
        return VolumeProblem(f"{name}, but the pods run only in {where}, which has {zones}", _WAIT)

    def _any_zone(self, claim: DeclaredClaim) -> bool:
        known = self._by_name.get(("StorageClass", claim.storage_class))
        bound = claim.volume or f"{claim.namespace}/{claim.name}" in self._by_claim
        return known is not None and known.any_zone and not bound

    def _out_of_reach(self, use: ClaimUse, claim: DeclaredClaim | None) -> VolumeProblem | None:
        """Source: the plugin VolumeBinding of kube-scheduler (v1.36)."""
        here = self._cluster is not None and use.policy == self._cluster.name
        pools = [self._pools[name] for name in use.pools if here and name in self._pools]
        found = self._candidates(use, claim) if pools else ()
        answers = [self._mounts(each, pools) for each in found]
        if not found or True in answers:
            return self._partly_out_of_reach(use, found[0], pools) if len(found) == 1 else None
        who = f"claim {use.claim}" if use.claim else "a claim of each pod"
        first, known = found[0], None not in answers
        where = f"{'pool' if len(pools) == 1 else 'pools'} {', '.join(use.pools)}"
        if len(found) > 1:
            count = f"none of the {len(found)} PersistentVolumes of class {first.storage_class}"
            message = f"{who}: {count} is for nodes of {where}, where alone the pods run"
        else:
            message = f"{who}: {first.kind} {first.name} is only for nodes with {_nodes(first)}"
            message += f", but the pods run only in {where}" if known else ""
        moved = "" in self._changed or use.namespace in self._changed
        alone = (
            len(found) == 1
            and first.certain
            and (first.kind == "StorageClass" or first is self._bound(use, claim))
        )
        return VolumeProblem(
            message,
            "select nodes that can mount it, or another volume",
            certain=known and alone and use.closed and not moved,
            known=known,
        )

    def _elsewhere(self, use: ClaimUse, claim: DeclaredClaim | None) -> VolumeProblem | None:
        """A volume for nodes with a label, and pods that select another value of it."""
        selected = dict(use.selected)
        name = use.storage_class or (claim.storage_class if claim and not claim.volume else "")
        found = (self._candidates(use, claim) or self._of_class.get(name, ())) if selected else ()
        key = self._excluded(name, found, use.selected)
        if not key:
            return None
        first = found[0]
        what = f"{first.kind} {first.name} is only for nodes with {_nodes(first)}"
        if len(found) > 1:
            what = f"none of the {len(found)} PersistentVolumes of class {name} is for these nodes"
        return VolumeProblem(
            f"{f'claim {use.claim}' if use.claim else 'a claim of each pod'}: {what}, but the pods select "
            f"{key} {', '.join(selected[key])}",
            "select nodes that can mount it, or another volume",
        )

    def _excluded(self, name: str, found: Sequence[DeclaredVolume], selected: _Selected) -> str:
        """A label by which no selected node can mount any of the volumes, compared once for a class; empty:
        some may."""
        if not found:
            return ""
        asked = (name if len(found) > 1 else "", found[0].kind, found[0].name, selected)
        if asked not in self._keys:
            wanted = dict(selected)
            keys = [_excluded(term, wanted) for volume in found for term in volume.terms]
            self._keys[asked] = keys[0] if all(keys) and all(volume.terms for volume in found) else ""
        return self._keys[asked]

    def _partly_out_of_reach(
        self, use: ClaimUse, volume: DeclaredVolume, pools: Sequence[Pool]
    ) -> VolumeProblem | None:
        """Of pods that are on several nodes, where only some of those can mount the volume."""
        wanting = [pool for pool in pools if self._mounts(volume, [pool]) is False]
        if not wanting or not use.closed:
            return None
        shapes = [shape for pool in pools if pool not in wanting for shape in pool.shapes]
        known = sum(shape.maximum or 0 for shape in shapes) if all(s.maximum for s in shapes) else 0
        end = ""
        if use.each_node:
            names = ", ".join(pool.name for pool in wanting)
            end = f"those in {'pool' if len(wanting) == 1 else 'pools'} {names} stay pending"
        elif use.apart and 0 < known < (use.replicas or 0):
            end = f"only {known} of the {use.replicas} pods run, as {use.apart}"
        who = f"claim {use.claim}" if use.claim else "a claim of each pod"
        where = f"{who}: {volume.kind} {volume.name} is only for nodes with {_nodes(volume)}"
        help_ = "select nodes that can mount it, or another volume"
        return VolumeProblem(f"{where}: {end}", help_, whole=False) if end else None

    def _candidates(self, use: ClaimUse, claim: DeclaredClaim | None) -> Sequence[DeclaredVolume]:
        """What may be bound to the claim: the volume that is, else those that its StorageClass allows."""
        bound = self._bound(use, claim)
        if bound is not None:
            return (bound,)
        name = use.storage_class or (claim.storage_class if claim and not claim.volume else "")
        known = self._by_name.get(("StorageClass", name))
        if known is None:
            return ()
        return self._of_class.get(name, ()) if known.made_by_hand else (known,)

    def _bound(self, use: ClaimUse, claim: DeclaredClaim | None) -> DeclaredVolume | None:
        if not use.claim:
            return None
        bound = self._by_claim.get(f"{use.namespace}/{use.claim}")
        return bound or (self._by_name.get(("PersistentVolume", claim.volume)) if claim else None)

    def _mounts(self, volume: DeclaredVolume, pools: Sequence[Pool]) -> bool | None:
        """Whether nodes of some pool can mount it; None: unknown."""
        if not volume.terms or self._cluster is None:
            return True
        terms = tuple(Term(tuple(Requirement(*one) for one in term)) for term in volume.terms)
        answers = [selection(self._cluster, pool, NodeAffinity(required=terms)) for pool in pools]
        return True if True in answers else None if None in answers else False

    def _is_of_one_node(self, use: ClaimUse, claim: DeclaredClaim) -> bool:
        """Source: attach-detach controller (v1.36)."""
        return (
            set(claim.access_modes) == {ONE_NODE} and not use.read_only and not self._is_of_files(use, claim)
        )

    def _apart(self, use: ClaimUse) -> VolumeProblem | None:
        """A volume for one node, and pods that are on different ones."""
        name = f"claim {use.claim} is {ONE_NODE}, for pods of one node, and {use.apart}"
        if use.apart and (use.replicas or 0) > 1:
            message = f"{name}: only 1 of the {use.replicas} pods runs at a time"
            return VolumeProblem(message, _SHARE, whole=False)
        if use.apart and use.adds_first:
            message = f"{name}: a rolling update, which starts a new pod before it removes one, never ends"
            return VolumeProblem(message, _RECREATE, whole=False)
        return None

    def _on_any_nodes(self, use: ClaimUse, claim: DeclaredClaim) -> VolumeProblem | None:
        """Nothing keeps the pods on the node of the volume but the volume itself, if it is local."""
        pods = self._at_once(use, claim) if use.together else (use.replicas or 0) if use.lasting else 0
        known = bool(claim.storage_class) and not use.apart and not use.each_node
        if pods < 2 or not known or self._is_local(use, claim) or self._is_on_one(use):
            return None
        return VolumeProblem(
            f"claim {use.claim} is {ONE_NODE}, for pods of one node, and nothing keeps the {pods} "
            "pods on one: those on others wait for the volume",
            _SHARE,
            whole=False,
        )

    def _with_others(self, use: ClaimUse, claim: DeclaredClaim) -> VolumeProblem | None:
        """Pods of two objects that both run for long."""
        first = self._first_of(claim) if (use.lasting or use.recurs) and not use.each_node else None
        if first is None or first.what == use.what or (use.in_turn and first.in_turn) or self._is_on_one(use):
            return None
        name = f"claim {use.claim} is {ONE_NODE}, for pods of one node, and {first.what} mounts it too"
        ours, theirs = dict(use.selected), dict(first.selected)
        for key, values in ours.items():
            if not set(theirs.get(key, values)).intersection(values):
                other = ", ".join(theirs[key])
                message = f"{name}, on nodes with {key} {other}, not {', '.join(values)}: one of them waits"
                return VolumeProblem(message, _SHARE, whole=False)
        if self._is_local(use, claim):
            return None
        message = f"{name}: its pods and those of {use.what} wait for each other where they are on two nodes"
        return VolumeProblem(message, _SHARE, whole=False, possible=True)

    def _first_of(self, claim: DeclaredClaim) -> ClaimUse | None:
        """Of the pods that mount a claim and run for long, those of the object that is first by name."""
        key = claim[:2]
        if key not in self._firsts:
            users = [each for each in self.users(claim) if each.lasting or each.recurs]
            told = [each for each in users if not (each.read_only or each.each_node or self._is_on_one(each))]
            self._firsts[key] = min(told, key=lambda each: (each.in_turn, each.what), default=None)
        return self._firsts[key]

    def _is_on_one(self, use: ClaimUse) -> bool:
        return use.side_by_side or self._nodes_of(use) == 1

    def _is_local(self, use: ClaimUse, claim: DeclaredClaim) -> bool:
        """Whether the volume itself keeps its pods on a node."""
        bound = self._bound(use, claim)
        known = bound or self._by_name.get(("StorageClass", claim.storage_class))
        local = known is not None and (bool(known.terms) or known.made_by_hand or known.local)
        return local or is_of_node(claim.storage_class)

    def _is_of_files(self, use: ClaimUse, claim: DeclaredClaim) -> bool:
        """Whether the volume is part of a file system of the network, where access modes limit nothing."""
        bound = self._bound(use, claim)
        known = bound or self._by_name.get(("StorageClass", claim.storage_class))
        return is_of_files(claim.storage_class) or (known is not None and known.many_nodes)


def _excluded(term: Sequence[tuple[str, str, Sequence[str]]], selected: Mapping[str, Sequence[str]]) -> str:
    """The label by which no selected node matches the term; empty: some may."""
    for key, operator, values in term:
        there = set(selected.get(key, ()))
        if there and (
            operator == "DoesNotExist"
            or (operator == "In" and there.isdisjoint(values))
            or (operator == "NotIn" and there.issubset(values))
        ):
            return key
    return ""


def _nodes(volume: DeclaredVolume) -> str:
    return " or ".join(" and ".join(str(Requirement(*one)) for one in term) for term in volume.terms)
