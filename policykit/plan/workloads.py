"""Pod sets before and after a change, and which nodes accept them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from policykit.kube import affinity as affinities
from policykit.kube import podsets, tolerations
from policykit.kube.affinity import NodeAffinity
from policykit.manifests.patch import all_patched
from policykit.model.cluster import Cluster
from policykit.model.pool import Amounts, Pool, Toleration
from policykit.namedtuple import NamedTuple
from policykit.placement.landing import land
from policykit.placement.review import Review
from policykit.plan.nodes import NodeGroup
from policykit.plan.order import CapacityConstraint
from policykit.targets.workloads.apply import apply_kinds
from policykit.targets.workloads.patch_options import PatchOptions

Reviewed = tuple[str, Review]
"""Path of the file, and one of its pod sets."""


class Template(NamedTuple):
    """What decides where pods can land, as it is written."""

    tolerations: tuple[Toleration, ...]
    affinity: NodeAffinity
    requests: Amounts


class Workload(NamedTuple):
    """A pod set of an object before and after the change."""

    path: str
    kind: str
    namespace: str
    name: str
    pod_set: str
    before: Review | None
    """None: the object is new."""
    after: Review | None
    """None: the object is deleted."""

    @property
    def title(self) -> str:
        """Deployment ml/chat, and the pod set if it is not the only one by name."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


def template(review: Review) -> Template:
    """As written: the review may have present names in place of former ones."""
    spec = review.pod_set.spec
    return Template(tolerations.read(spec.get("tolerations")), affinities.read(spec), review.requests)


def workloads(before: Iterable[Reviewed], after: Iterable[Reviewed]) -> tuple[Workload, ...]:
    """Pod sets joined by API kind, namespace, name and pod set; of several alike by their order."""
    old, new = _by_identity(before), _by_identity(after)
    found = []
    for key in dict.fromkeys((*new, *old)):
        path, review = new.get(key) or old[key]
        found.append(
            Workload(
                path,
                review.manifest.kind,
                review.manifest.namespace or "",
                review.manifest.name,
                review.pod_set.name,
                old[key][1] if key in old else None,
                new[key][1] if key in new else None,
            )
        )
    return tuple(found)


def _by_identity(reviewed: Iterable[Reviewed]) -> dict[tuple[str | int, ...], Reviewed]:
    found: dict[tuple[str | int, ...], Reviewed] = {}
    for path, review in reviewed:
        one = review.manifest
        key = (one.group, one.kind, one.namespace or review.namespace, one.name, review.pod_set.name)
        number = 0
        while (*key, number) in found:
            number += 1
        found[(*key, number)] = path, review
    return found


class Acceptance:
    """Which nodes accept which templates; each question is answered once."""

    def __init__(self, before: Cluster, after: Cluster, groups: Sequence[NodeGroup]) -> None:
        self.groups = groups
        self._cluster = after._replace(
            cards={**before.cards, **after.cards},
            complete=before.complete and after.complete,
            declared_keys=before.declared_keys | after.declared_keys,
        )
        self._known: dict[tuple[str, int, bool], bool] = {}
        self._accepting: dict[tuple[str, bool], tuple[NodeGroup, ...]] = {}
        self._keys: dict[int, tuple[Template, str]] = {}

    def key(self, one: Template) -> str:
        """The same for templates that land alike. The template is kept, so that its id stays its own."""
        found = self._keys.get(id(one))
        if found is None:
            found = one, repr((one.tolerations, one.affinity, sorted(one.requests.items())))
            self._keys[id(one)] = found
        return found[1]

    def accepts(self, one: Template, group: int, *, after: bool) -> bool:
        """Whether the nodes of a group accept a template, as far as the policies know."""
        key = self.key(one), group, after
        if key not in self._known:
            pool = self.groups[group].after if after else self.groups[group].before
            self._known[key] = pool is not None and self._land(one, pool)
        return self._known[key]

    def _land(self, one: Template, pool: Pool) -> bool:
        landing = land(self._cluster, pool, one.tolerations, one.affinity, one.requests)
        return landing.accepts or landing.verdict == "undecidable"

    def nodes(self, one: Template, *, after: bool) -> int:
        return sum(group.nodes for group in self.accepting(one, after=after))

    def accepting(self, one: Template, *, after: bool) -> tuple[NodeGroup, ...]:
        """The groups whose nodes accept a template before or after all changes."""
        key = self.key(one), after
        if key not in self._accepting:
            numbers = range(len(self.groups))
            self._accepting[key] = tuple(
                self.groups[number] for number in numbers if self.accepts(one, number, after=after)
            )
        return self._accepting[key]


def constraints(
    acceptance: Acceptance, phases: Iterable[Sequence[Template]], moving: Sequence[int]
) -> tuple[CapacityConstraint, ...]:
    """Accepting nodes, one constraint for all that land alike; `moving`: groups that change."""
    alike = {tuple(map(acceptance.key, each)): each for each in phases}

    def accepting(templates: Sequence[Template]) -> CapacityConstraint:
        def offer(phase: int, group: int, after: bool) -> int:
            return int(acceptance.accepts(templates[phase], group, after=after))

        return constraint(acceptance.groups, len(templates), moving, offer)

    return tuple(dict.fromkeys(map(accepting, alike.values())))


def constraint(
    groups: Sequence[NodeGroup], phases: int, moving: Sequence[int], offer: Callable[[int, int, bool], int]
) -> CapacityConstraint:
    """A constraint without needs; `offer`: what a node offers, by phase, group, and whether it is changed."""
    changing = set(moving)
    still = [number for number in range(len(groups)) if number not in changing]
    return CapacityConstraint(
        tuple(
            sum(groups[number].nodes * offer(phase, number, True) for number in still)
            for phase in range(phases)
        ),
        tuple(tuple(offer(phase, group, False) for group in moving) for phase in range(phases)),
        tuple(tuple(offer(phase, group, True) for group in moving) for phase in range(phases)),
    )


def patched_template(review: Review, cluster: Cluster) -> Template:
    """The template that `patch` makes of a pod set under a policy."""
    manifest = review.manifest
    found = apply_kinds(manifest, cluster, review.namespace, PatchOptions())
    made = manifest._replace(data=all_patched(manifest.data, found.patches))
    pod_set = next(
        one
        for one in podsets.pod_sets(made.data)
        if (one.name, one.path) == (review.pod_set.name, review.pod_set.path)
    )
    return template(review._replace(pod_set=pod_set))
