"""What pods and namespaces tell a scheduler that keeps applications in a tree of queues."""

from typing import NamedTuple


class Said(NamedTuple):
    """A value, and the label or annotation that says it: `label queue`."""

    key: str
    value: str


class Application(NamedTuple):
    """What the pods of one template say of their application; the first of several values counts."""

    namespace: str
    ids: tuple[Said, ...]
    queues: tuple[Said, ...] = ()
    user: str = ""
    """User and groups, as one text that equal ones share."""
    task_groups: str = ""
    """The gang's groups, likewise."""
    template: str = ""
    """Which of the templates of its object it is."""


class NamespaceMetadata(NamedTuple):
    """Annotations of a namespace that a scheduler reads."""

    namespace: str
    annotations: tuple[tuple[str, str], ...]


class Route(NamedTuple):
    """How a placement rule finds a queue for a namespace."""

    create: bool
    steps: tuple[str, ...]
    """Names from the root; NAMESPACE and PARENT stand for what the namespace gives."""


NAMESPACE = "{namespace}"
PARENT = "{parentqueue}"


class StaticQueues(NamedTuple):
    """The leaf queues that a configuration states, and the rules that namespaces go by."""

    leaves: tuple[str, ...]
    """Whole paths in small letters."""
    routes: tuple[Route, ...]
