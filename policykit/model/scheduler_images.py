"""What configurations of kube-scheduler and the descheduler need, and the images started with them."""

from policykit.namedtuple import NamedTuple


class OutOfTreePlugins(NamedTuple):
    """Plugins of another image in a configuration of a ConfigMap. Locations of its fact: `plugin`."""

    namespace: str
    config_map: str
    key: str
    names: tuple[str, ...]


class StockScheduler(NamedTuple):
    """A container that starts an image of Kubernetes with a file of a ConfigMap. It has no locations."""

    namespace: str
    config_map: str
    key: str
    image: str
    what: str
    """Kind and name of the object, for display."""


class DeschedulerNeed(NamedTuple):
    """What only some releases read in a policy of a ConfigMap. Locations of its fact: `need`."""

    namespace: str
    config_map: str
    key: str
    what: str
    """descheduler/v1alpha2, or an argument and its plugin."""
    first: int
    """First minor release that reads it; 0: all before `end` do."""
    end: int
    """First minor release that no longer reads it; 0: none."""


class StartedDescheduler(NamedTuple):
    """A container that starts a release of the descheduler with a policy. It has no locations."""

    namespace: str
    config_map: str
    key: str
    image: str
    minor: int
    what: str
    """Kind and name of the object, for display."""
