"""Applications and queues in the metadata of pods and namespaces (YuniKorn)."""

from policykit.namedtuple import NamedTuple


class MetadataValue(NamedTuple):
    """A value, and the label or annotation that contains it: `label queue`."""

    key: str
    value: str


class Application(NamedTuple):
    """The application of the pods of one template; the first of several values counts."""

    namespace: str
    ids: tuple[MetadataValue, ...]
    queues: tuple[MetadataValue, ...] = ()
    user: str = ""
    """User and groups as one comparable text."""
    task_groups: str = ""
    """The gang's task groups as one comparable text."""
    template: str = ""
    """Template within the object."""


class NamespaceMetadata(NamedTuple):
    """Annotations of a namespace that a scheduler reads."""

    namespace: str
    annotations: tuple[tuple[str, str], ...]


class Route(NamedTuple):
    """How a placement rule finds a queue for a namespace."""

    create: bool
    steps: tuple[str, ...]
    """Names from the root; NAMESPACE and PARENT are replaced by values of the namespace."""


NAMESPACE = "{namespace}"
PARENT = "{parentqueue}"


class StaticQueues(NamedTuple):
    """The leaf queues of a configuration, and its placement rules by namespace."""

    leaves: tuple[str, ...]
    """Full paths in lower case."""
    routes: tuple[Route, ...]
