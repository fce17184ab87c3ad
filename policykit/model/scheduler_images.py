"""Plugins that a configuration of kube-scheduler enables, and the images that are started with it."""

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
