"""The interface of a target: a system that places or admits pods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from policykit.manifests.memoize import computed_once
from policykit.model.pool import KUBE_SCHEDULER, NodeFilters
from policykit.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policykit.generator.artifact import ComponentPatch, Generate
    from policykit.kube.gang_units import MembershipFact
    from policykit.kube.podsets.podset import PodSet
    from policykit.lazy import Lazy
    from policykit.linter.configurations import Configuration
    from policykit.linter.import_reader import ImportReader
    from policykit.linter.rule import Context
    from policykit.linter.scope import Fact
    from policykit.manifests.document import Manifest
    from policykit.manifests.patch import Patch
    from policykit.manifests.path import Path
    from policykit.model.cluster import Cluster, TargetSettings
    from policykit.model.declared_queues import PolicyQueues, QueuePlacement, QueueSemantics
    from policykit.model.gang import PodGroup
    from policykit.model.pod_fields import PodContext, PodFields
    from policykit.model.release import ReleaseFact, Releases
    from policykit.model.workload import WorkloadKind


class Key(NamedTuple):
    """A label or annotation that only one scheduler reads."""

    where: str
    """labels or annotations."""
    key: str
    purpose: str
    """gang, queue or device."""
    on_owner: bool = False
    """Whether it is read from the object that creates the pods, not from its pod template."""


ReadFacts = Callable[["Manifest", "Sequence[PodSet]", "Context"], "Iterable[Fact]"]
"""The facts of an object with its pod sets."""


class FactReader(NamedTuple):
    """Reads facts for rules about whole scopes; imported when needed."""

    read: Lazy[ReadFacts]
    kinds: frozenset[str] = frozenset()
    """API kinds and names of configurations that it reads."""
    pods: bool = False
    """Whether it also reads every object with pods."""
    substrings: tuple[str, ...] = ()
    """A file whose text contains none of these has no facts for it; empty: any file may. They lack a first
    letter that may be upper or lower case."""


class QueueKey(NamedTuple):
    """A label or annotation that names the queue of pods, or their application."""

    key: str
    refers_to: str = "queue"
    """What it names: queue or app."""
    where: str = ""
    """labels or annotations, if pods have it only there; empty: either."""
    on_pods: bool = True
    """Whether it is read from pods too, not only from objects that create them."""
    claims: bool = False
    """Whether the target places pods that have it but no schedulerName."""


class QueueAmounts(NamedTuple):
    """Amounts of resources in documents that declare queues."""

    kinds: frozenset[str]
    """API kinds and names of configurations."""
    paths: Lazy[Callable[[Manifest, Cluster | None], Iterable[Path]]]
    """Path of each amount; its last step is the resource."""


class QueueSupport(NamedTuple):
    """How a target has queues."""

    semantics: Lazy[Callable[[Cluster | None], QueueSemantics]]
    """How it treats queues in the release of a policy; without a policy, in the newest."""
    of_policy: Lazy[Callable[[Cluster], PolicyQueues]]
    """The queues of a policy with the target, under the target's names."""
    key: str = ""
    """Label or annotation with which `pod_fields` names the queue of pods; empty: none."""
    admits: bool = False
    """Whether it admits jobs for schedulers without queues; if not, its own scheduler reads the queues."""
    workload_pods: Lazy[Callable[[Manifest, Sequence[PodSet]], int | None]] | None = None
    """The number of pods of an object that are admitted at once; None: unknown, or one by one."""
    resolve: Lazy[Callable[[str, QueuePlacement | None], str]] | None = None
    """The full name of a queue from the name in pods; empty: it depends on their user. None: pods have the
    full name."""
    namespace_key: str = ""
    """Annotation of namespaces: the queue of groups that do not name one."""
    group_key: str = ""
    """Annotation of pods that are in the queue of their group, whatever they state themselves."""
    metadata: tuple[QueueKey, ...] = ()
    """Labels and annotations that it reads in some places and ignores in others."""
    amounts: QueueAmounts | None = None
    """Resources that its queues name; None: unknown."""
    used: Path = ()
    """Where the objects that `amounts` names keep what is used; empty: the API server does not know."""
    pod_annotation: str = ""
    """Annotation with which pods of built-in kinds name their queue, if `pod_fields` does not."""


class JobSupport(NamedTuple):
    """Job kinds of a target, with fields for what it reads from metadata of other kinds' pods."""

    title: str
    """In messages: Volcano Job."""
    group: str
    """API group of the jobs."""
    template_groups: frozenset[str]
    """API groups of other objects that contain the spec of such a job."""
    patches: Lazy[Callable[[Mapping[str, Any], WorkloadKind, Cluster], tuple[Patch, ...]]]
    """Changes that apply a workload kind to a job."""
    notices: Lazy[Callable[[Mapping[str, Any], WorkloadKind, Cluster], tuple[str, ...]]]
    """What these patches cannot express."""
    component: Lazy[Callable[[WorkloadKind, Mapping[str, Any], Cluster], tuple[ComponentPatch, ...]]]
    """Patches of a kustomize component for jobs of a workload kind, whose pods get a PodSpec."""

    def includes(self, api_group: str) -> bool:
        return api_group == self.group or api_group in self.template_groups


class Target(NamedTuple):
    """One target. Importing it reads no file and builds no table."""

    name: str
    """Name in policies, below `targets`: volcano, koordinator, ..."""
    title: str
    """In messages: Volcano."""
    schedulers: frozenset[str] = frozenset()
    """schedulerNames that it serves unless the policy states others; empty: it works with any."""
    programs: frozenset[str] = frozenset()
    """Names of its scheduler's programs, charts and services, which are not a schedulerName."""
    keys: tuple[Key, ...] = ()
    supports_gangs: bool = False
    """Whether its scheduler starts the pods of a gang together."""
    group_api: str = ""
    """API group of the PodGroups that operators of jobs create for it; empty: they create none."""
    domain_annotation: str = ""
    """Annotation of pods with the key of the domain that all pods of a workload must share."""
    gang_annotations: frozenset[str] = frozenset()
    """Annotations of gangs in addition to those in `keys`, which other schedulers' pods must not have."""
    labels: frozenset[str] = frozenset()
    """Labels that it reads of pods or of their owners, in addition to those in `keys`."""
    gang_substrings: tuple[str, ...] = ()
    """Every file with one of its gangs contains one of these."""
    overrides_scheduler: Lazy[Callable[[TargetSettings, str], bool]] | None = None
    """Whether its admission controller sets the schedulerName of all pods of a namespace; None: it never
    does."""
    assigned_scheduler: Lazy[Callable[[Cluster, PodSet, str], str]] | None = None
    """The schedulerName that its objects in a policy give pods of a namespace at admission; empty: none."""
    added_plugins: Lazy[Callable[[Mapping[str, Any]], frozenset[str]]] | None = None
    """Plugins that its scheduler adds to kube-scheduler's, if a KubeSchedulerConfiguration is for it.
    None: its scheduler does not read such configurations."""
    filters: NodeFilters = KUBE_SCHEDULER
    """How its scheduler filters nodes."""
    ignores_preferences: Lazy[Callable[[PodSet, Cluster | None], bool]] | None = None
    """Whether it places these pods, and so ignores their preferences; None: it never ignores them."""
    gangs_of_cluster: bool = False
    """Whether the pods of a gang may be in several namespaces."""
    reserves_gangs: bool = False
    """Whether pods of its own hold the room of a gang until its members come, or a timeout."""
    groups_pods: bool = False
    """Whether it groups the pods of known kinds itself, so that they need no group object."""
    grouped_by_controllers: bool = False
    """Whether controllers of other kinds create groups for it."""
    group_priority: bool = False
    """Whether it orders gangs by the PriorityClass of their group, not of their pods."""
    supports_reservations: bool = False
    """Whether it can reserve capacity for future pods."""
    qos_annotation: str = ""
    """Annotation of pods with a QoS class by which its agent hands out unused cpu and memory, under the same
    resource names as other systems; empty: it has no such agent."""
    batch_scheduler: bool = False
    """Whether Spark's operator knows it, by its schedulerName in the field batchScheduler."""
    queue_label: str = ""
    """Label that pods, or the object that makes them, need to get a queue; empty: they need none."""
    card_parts: tuple[str, ...] = ()
    """Annotations of pods for a part of a card, and for MiB of one; empty: none."""
    application_label: str = ""
    """Pod label with the application; empty: it has no applications."""
    jobs: JobSupport | None = None
    """Its own job kinds; None: it has none."""
    read_group: Callable[[Manifest, str], PodGroup | None] | None = None
    """Reads a group object, given the namespace to assume if it has none."""
    read_membership: Callable[[Manifest, PodSet, str], MembershipFact | None] | None = None
    """Reads the group that labels or annotations of pods name; None: they name none."""
    gang_topology: Lazy[Mapping[tuple[str, str], Path]] | None = None
    """(API group, kind) to the field that keeps a whole gang within a part of the network."""
    configurations: tuple[Configuration, ...] = ()
    """Types of its configuration."""
    facts: tuple[FactReader, ...] = ()
    queues: QueueSupport | None = None
    """None: it has no queues, or lint does not know them."""
    pod_fields: Lazy[Callable[[WorkloadKind, Cluster, PodContext], PodFields]] | None = None
    """Fields of pods, and companion objects, for a workload kind."""
    priority_classes: frozenset[str] = frozenset()
    """PriorityClasses that its chart installs."""
    options: Lazy[type] | None = None
    """NamedTuple of its options in a compiled policy; None: it has no options."""
    releases: Lazy[Releases] | None = None
    """Its known releases; None: nothing about it depends on the release."""
    release_facts: Lazy[tuple[ReleaseFact, ...]] | None = None
    """What only some of them read or serve."""
    merged_file: str = ""
    """Option with the file that its configuration is merged into; empty: there is none."""
    generate: Lazy[Generate] | None = None
    """Writes its files; None: policykit writes nothing for it."""
    import_reader: Lazy[type[ImportReader]] | None = None
    """Reads its objects and configuration back into a policy; None: `policykit import` ignores them."""
    always: bool = False
    """Whether policies generate for it even if they do not name it."""


class _Targets(NamedTuple):
    targets: tuple[Target, ...] = ()
    readers: tuple[FactReader, ...] = ()
    """Fact readers of the targets, and those for all targets."""
    configurations: tuple[Configuration, ...] = ()
    may_have_groups: bool = True
    """Whether a text may contain a group object of gangs."""


class Targets(_Targets):
    """The targets of a run, with their readers of facts and configurations."""

    @computed_once
    def substrings(self) -> frozenset[str]:
        """Substrings that `without` can take into account."""
        return frozenset(text for reader in self.readers for text in reader.substrings)

    @computed_once
    def _parts(self) -> dict[frozenset[str], Targets]:
        return {}

    def without(self, absent: frozenset[str]) -> Targets:
        """The targets without readers that find nothing in a text without these substrings."""
        parts = self._parts
        found = parts.get(absent)
        if found is None:
            own = absent & self.substrings
            found = parts.get(own) or self._part(own)
            if len(parts) < _MAX_PARTS:
                parts[absent] = parts[own] = found
        return found

    def _part(self, absent: frozenset[str]) -> Targets:
        readers = tuple(r for r in self.readers if not (r.substrings and absent.issuperset(r.substrings)))
        return self._replace(readers=readers, may_have_groups=GROUP_SUBSTRING not in absent)

    @computed_once
    def _readers_of(self) -> dict[tuple[str, bool], tuple[ReadFacts, ...]]:
        return {}

    def readers_of(self, kind: str, pods: bool) -> tuple[ReadFacts, ...]:
        """What reads the facts of objects of a kind; `pods`: they have pods."""
        known = self._readers_of
        found = known.get((kind, pods))
        if found is None:
            readers = [each for each in self.readers if kind in each.kinds or (pods and each.pods)]
            found = tuple([each.read.load() for each in readers])
            if len(known) < _MAX_PARTS:
                known[kind, pods] = found
        return found


GROUP_SUBSTRING = "odGroup"
"""Every file with a group object contains it."""
_MAX_PARTS = 1_000
