"""Objects that workloads name, and pods that others select, with where they do so."""

from collections.abc import Mapping

from policykit.namedtuple import NamedTuple


class NamedObject(NamedTuple):
    """An object of a kind that workloads name."""

    kind: str
    name: str
    namespace: str = ""
    """Where it is found only from there; empty: not stated, or anywhere."""


class ObjectReference(NamedTuple):
    """A name of another object. Locations of its fact: `name`."""

    kinds: tuple[str, ...]
    """Those that may have the name."""
    name: str
    namespace: str = ""
    """Where it is looked for; empty: not stated, or anywhere."""


class NamedParts(NamedTuple):
    """What an object has of some kind: the keys of a ConfigMap, the requests of a device claim."""

    owner: str
    """Kind and name of the object, in words."""
    namespace: str
    part: str
    """In words: `key`, `request`."""
    names: frozenset[str]


class PartReference(NamedTuple):
    """A name of a part of an object. Locations of its fact: `name`."""

    owner: str
    namespace: str
    part: str
    name: str
    advice: str = ""
    """What to do if there is none; empty: use one that is there."""
    message: str = ""
    """What is wrong then; empty: that the owner has none."""


class NamedTarget(NamedTuple):
    """A port of pods by its name, to which a Service sends. Locations of its fact: `name`."""

    selector: Mapping[str, str]
    namespace: str
    """Empty: not stated."""
    name: str


class ServedFormat(NamedTuple):
    """A format of models that a runtime of KServe serves."""

    name: str
    by_itself: bool
    """It is chosen for models whose runtime is not named."""


class UnassignedModel(NamedTuple):
    """A model whose runtime is not named. Locations of its fact: `format`."""

    format: str
    common: bool
    """KServe has runtimes of its own for it."""


class LentTemplate(NamedTuple):
    """A template that workflows may borrow, with the volumes that it mounts and does not have itself."""

    owner: str
    namespace: str
    name: str
    mounts: frozenset[str]


class BorrowedTemplate(NamedTuple):
    """A template of another object, and the volumes of the workflow. Locations of its fact: `name`."""

    owner: str
    namespace: str
    name: str
    volumes: frozenset[str]


class PodSelector(NamedTuple):
    """What selects pods of others by labels. Locations of its fact: each key, `selector`, and `bound`."""

    labels: Mapping[str, str]
    fault: str = ""
    """What follows if there are none, after a colon; for display."""
    budget: str = ""
    """Name of the disruption budget; empty: it is an affinity."""
    namespace: str = ""
    """Of the budget; empty: not stated."""
    kept: int = 0
    """Pods of the budget that must stay."""
    keeps_all: bool = False
    """Whatever their number, none of them may go."""
    is_share: bool = False
    """How many pods stay depends on how many their controllers are asked for."""


class AffinityTerm(NamedTuple):
    """A required term of pod affinity, which selects the pods to be near."""

    key: str
    """Node label with the domain that both share."""
    expressions: tuple[tuple[str, str, tuple[str, ...]], ...]
    """Label key, operator and values, of which all must hold; those of matchLabels among them."""
    namespaces: tuple[str, ...] = ()
    """Listed by name; empty: that of the pod itself, unless `selected`."""
    selected: bool = False
    """A selector may choose other namespaces, too."""


class PlacedPods(NamedTuple):
    """Pods of one template, and the pools that may take them. Its fact has no location."""

    policy: str
    """Name of the policy, which lists every pool; empty: nothing is known about pools."""
    namespace: str
    stated_namespace: bool
    what: str
    """In words: `Deployment cache`."""
    labels: Mapping[str, str]
    request: Mapping[str, int] = {}
    """Of one pod."""
    pools: tuple[str, ...] = ()
    """Those that do not refuse them."""
    certain: bool = False
    """There are such pods, and nothing else decides where they go."""
    everywhere: tuple[str, ...] = ()
    """Of a DaemonSet: pools each of whose nodes runs one."""


class AffinePods(NamedTuple):
    """Pods that must be near others. Locations of its fact: the number of each term."""

    pods: PlacedPods
    terms: tuple[AffinityTerm, ...]


class SeparatePods(NamedTuple):
    """Pods that must not be near others. Locations of its fact: the number of each term."""

    pods: PlacedPods
    terms: tuple[AffinityTerm, ...]


class EmptySelection(NamedTuple):
    """A term of pod affinity that no pod can match. Locations of its fact: `term`."""

    message: str
    waits: bool
    """The pods stay pending; if not, the term has no effect."""


class NameAffix(NamedTuple):
    """What a kustomization adds to the names of its objects. Locations of its fact: `name`."""

    prefix: str
    suffix: str
