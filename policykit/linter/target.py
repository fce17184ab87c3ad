"""A system that places or admits pods, as the rest of the program knows it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from policykit.manifests.memoize import computed_once

if TYPE_CHECKING:
    from policykit.generator.artifact import ComponentPatch, Generate
    from policykit.kube.podsets.podset import PodSet
    from policykit.lazy import Lazy
    from policykit.linter.configurations import Configuration
    from policykit.linter.gangs import MembershipFact
    from policykit.linter.import_reader import ImportReader
    from policykit.linter.location import LocatedObject
    from policykit.linter.rule import Context
    from policykit.linter.scope import Fact
    from policykit.manifests.document import Manifest
    from policykit.manifests.patch import Patch
    from policykit.manifests.path import Path
    from policykit.model.cluster import Cluster, TargetSettings
    from policykit.model.declared_queues import QueuePlacement
    from policykit.model.gang import PodGroup
    from policykit.model.pod_fields import PodContext, PodFields
    from policykit.model.queue_semantics import PolicyQueues, QueueSemantics
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
    """Read from the object that makes the pods, not from its pod template."""


class FactReader(NamedTuple):
    """Reads facts for rules about whole scopes; imported when needed."""

    read: Lazy[Callable[[Manifest, Sequence[PodSet], Context], Iterable[Fact]]]
    kinds: frozenset[str] = frozenset()
    """API kinds and names of configurations that it reads."""
    pods: bool = False
    """It reads every object that makes pods, too."""
    substrings: tuple[str, ...] = ()
    """It finds nothing in files whose text contains none of these; empty: it may in any. Without a first
    letter that may be upper or lower case."""

    def facts(self, located: LocatedObject, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Fact]:
        """What it says of one manifest."""
        if located.manifest.kind in self.kinds or (self.pods and pod_sets):
            return self.read.load()(located.manifest, pod_sets, context)
        return ()


class QueueKey(NamedTuple):
    """A label or annotation that names the queue of pods, or the application that has one."""

    key: str
    refers_to: str = "queue"
    """What it names: queue or app."""
    where: str = ""
    """labels or annotations, if pods carry it only there; empty: in either."""
    on_pods: bool = True
    """Read from pods, too; False: only from objects that make them."""
    claims: bool = False
    """Pods that have it and no schedulerName are the system's."""


class QueueAmounts(NamedTuple):
    """Amounts of resources in documents that declare queues."""

    kinds: frozenset[str]
    """API kinds and names of configurations."""
    paths: Lazy[Callable[[Manifest, Cluster | None], Iterable[Path]]]
    """Path of each amount; its last step is the resource."""


class QueueSupport(NamedTuple):
    """A system's queues."""

    semantics: Lazy[Callable[[Cluster | None], QueueSemantics]]
    """How it treats them in the release of a policy; None: in the newest."""
    of_policy: Lazy[Callable[[Cluster], PolicyQueues]]
    """The queues of a policy that has the system, as the system will know them."""
    key: str = ""
    """Label or annotation by which `pod_fields` names the queue of pods; empty: it names none."""
    admits: bool = False
    """It admits jobs whose pods a scheduler without queues places; False: its own scheduler reads them."""
    resolve: Lazy[Callable[[str, QueuePlacement | None], str]] | None = None
    """The full name of a queue from the name that pods give; empty: it depends on their user. None: pods
    give the full name."""
    namespace_key: str = ""
    """Annotation of namespaces: the queue of their groups that name none."""
    group_key: str = ""
    """Annotation of pods that go where their group goes, whatever they say themselves."""
    metadata: tuple[QueueKey, ...] = ()
    """Labels and annotations that it reads in some places and ignores in others."""
    amounts: QueueAmounts | None = None
    """None: nothing tells which resources its queues name."""
    used: Path = ()
    """Where the objects that `amounts` names keep what is used; empty: the API server does not know."""
    pod_annotation: str = ""
    """Annotation by which pods of built-in kinds name their queue, where `pod_fields` does not name it."""


class JobSupport(NamedTuple):
    """Job kinds of a system's own, with fields for what it reads from the metadata of other kinds' pods."""

    title: str
    """As people write it: Volcano Job."""
    group: str
    """API group of the jobs."""
    template_groups: frozenset[str]
    """API groups of other objects that contain the spec of such a job."""
    patches: Lazy[Callable[[Mapping[str, Any], WorkloadKind, Cluster], tuple[Patch, ...]]]
    """Changes that apply a workload kind to a job."""
    notices: Lazy[Callable[[Mapping[str, Any], WorkloadKind, Cluster], tuple[str, ...]]]
    """What these patches cannot express."""
    component: Lazy[Callable[[WorkloadKind, Mapping[str, Any], Cluster], tuple[ComponentPatch, ...]]]
    """Patches of a kustomize component for jobs of a kind, whose pods get a PodSpec."""

    def includes(self, api_group: str) -> bool:
        return api_group == self.group or api_group in self.template_groups


class Target(NamedTuple):
    """One system. Light: importing it reads no file and builds no table."""

    name: str
    """As policies write it below `targets`: volcano, koordinator, ..."""
    title: str
    """As people write it: Volcano."""
    schedulers: frozenset[str] = frozenset()
    """schedulerName it serves unless the policy says otherwise; empty: it works with any."""
    keys: tuple[Key, ...] = ()
    supports_gangs: bool = False
    """Its scheduler starts the pods of a gang together."""
    gang_annotations: frozenset[str] = frozenset()
    """Of gangs, beside those among `keys`, which are looked for where other schedulers place the pods."""
    gang_substrings: tuple[str, ...] = ()
    """A file that states one of its gangs contains one of these."""
    overrides_scheduler: Lazy[Callable[[TargetSettings, str], bool]] | None = None
    """Whether its admission controller sets the schedulerName of all pods of a namespace; None: it never
    does."""
    assigned_scheduler: Lazy[Callable[[Cluster, PodSet, str], str]] | None = None
    """The schedulerName that its objects in a policy give pods of a namespace at admission; empty: none."""
    added_plugins: Lazy[Callable[[Mapping[str, Any]], frozenset[str]]] | None = None
    """Plugins that its scheduler adds to kube-scheduler's, if a KubeSchedulerConfiguration is its own; else
    none. None: its scheduler reads no such configuration."""
    resources_first: bool = False
    """Of several reasons against a node it names missing resources before all others."""
    ignores_preferences: Lazy[Callable[[PodSet, Cluster | None], bool]] | None = None
    """Whether it places these pods, and so ignores their preferences; None: it never ignores them."""
    groups_pods: bool = False
    """It groups the pods of known kinds by itself: they need no group object."""
    grouped_by_controllers: bool = False
    """Controllers of other kinds make groups for it."""
    group_priority: bool = False
    """It orders gangs by the PriorityClass of their group, not of their pods."""
    supports_reservations: bool = False
    """It can reserve capacity for future pods."""
    qos_annotation: str = ""
    """Annotation of pods with a QoS class by which its agent hands out unused cpu and memory, under the same
    resource names as other systems; empty: it has no such agent."""
    batch_scheduler: bool = False
    """Spark's operator knows it by its schedulerName, in the field batchScheduler."""
    application_label: str = ""
    """Label of pods that names the application they belong to; empty: it has no applications."""
    jobs: JobSupport | None = None
    """Job kinds of its own; None: it has none."""
    read_group: Callable[[Manifest, str], PodGroup | None] | None = None
    """A group object, with the namespace it stands in where it states none."""
    read_membership: Callable[[Manifest, PodSet, str], MembershipFact | None] | None = None
    gang_topology: Lazy[Mapping[tuple[str, str], Path]] | None = None
    """(API group, kind) to the field that keeps a whole gang within a part of the network; None: no kind
    has one."""
    configurations: tuple[Configuration, ...] = ()
    """The texts that configure it."""
    facts: tuple[FactReader, ...] = ()
    queues: QueueSupport | None = None
    """None: it has no queues, or lint does not know them."""
    pod_fields: Lazy[Callable[[WorkloadKind, Cluster, PodContext], PodFields]] | None = None
    """Fields of pods, and companion objects, for a workload kind."""
    priority_classes: frozenset[str] = frozenset()
    """PriorityClasses that its chart installs."""
    options: Lazy[type] | None = None
    """Type of its options in a compiled policy, a NamedTuple; None: it has no options."""
    releases: Lazy[Releases] | None = None
    """The releases that policykit has facts about; None: nothing about it is judged by release."""
    release_facts: Lazy[tuple[ReleaseFact, ...]] | None = None
    """What only some of them read or serve, as far as it is listed in one table."""
    merged_file: str = ""
    """Option of a policy that names the file which its configuration is merged into; empty: there is none."""
    generate: Lazy[Generate] | None = None
    """Writes its files; None: policykit writes nothing for it."""
    import_reader: Lazy[type[ImportReader]] | None = None
    """Reads its objects and configuration back into a policy; None: `policykit import` ignores them."""
    always: bool = False
    """Policies generate for it whether they name it or not."""


class _Targets(NamedTuple):
    targets: tuple[Target, ...] = ()
    readers: tuple[FactReader, ...] = ()
    """Those of the targets, and of facts that concern all of them."""
    configurations: tuple[Configuration, ...] = ()


class Targets(_Targets):
    """All systems of a run."""

    @computed_once
    def substrings(self) -> frozenset[str]:
        """What `without` may be asked for."""
        return frozenset(text for reader in self.readers for text in reader.substrings)

    @computed_once
    def _parts(self) -> dict[frozenset[str], Targets]:
        return {}

    def without(self, absent: frozenset[str]) -> Targets:
        """With the readers only that may find something in a text without these."""
        absent = absent & self.substrings
        found = self._parts.get(absent)
        if found is None:
            readers = tuple(r for r in self.readers if not (r.substrings and absent.issuperset(r.substrings)))
            found = self._replace(readers=readers)
            if len(self._parts) < _MAX_PARTS:
                self._parts[absent] = found
        return found


_MAX_PARTS = 1_000
