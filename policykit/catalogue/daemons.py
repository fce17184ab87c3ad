"""Device plugins and other node daemons, by container image."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from policykit import bundled
from policykit.model.pool import Toleration
from policykit.namedtuple import NamedTuple

_LONGEST = 2
"""Path components that identify an image: owner and name."""


class ChartTolerations(NamedTuple):
    """A list of tolerations in the values of a Helm chart, and its default.

    Helm replaces a list whole, so a longer one must repeat these.
    """

    chart: str
    value: str
    """Path in the chart's values: daemonsets.tolerations."""
    vendor: str
    """Vendor whose nodes the daemons serve; empty: every node."""
    tolerations: tuple[Toleration, ...]


def role(image: str) -> str:
    """What the daemon with this image does; empty: not a known daemon.

    device-plugin, discovery, exporter, driver, operator, network, cni, csi, autoscaler or agent.
    """
    return _daemon(image)[0]


def serves(image: str) -> str:
    """Id of the vendor whose nodes the daemon must run on; empty: every node, or unknown."""
    return _daemon(image)[1]


def charts() -> tuple[ChartTolerations, ...]:
    """Every known list, in the catalogue's order."""
    return tuple(
        ChartTolerations(
            entry["chart"],
            entry["value"],
            entry.get("vendor", ""),
            tuple(Toleration(**toleration) for toleration in entry["tolerations"]),
        )
        for _, entry in sorted(_table()["charts"].items(), key=lambda item: int(item[0]))
    )


@lru_cache(maxsize=1024)
def _daemon(image: str) -> tuple[str, str]:
    """Role and vendor by the longest listed end of the image's path: rocm/k8s-device-plugin."""
    path = image.strip().lower().partition("@")[0].split("/")
    path[-1] = path[-1].partition(":")[0]
    known = _table()["images"]
    for length in range(_LONGEST, 0, -1):
        found = known.get("/".join(path[-length:]))
        if found is not None:
            return found[0], found[1]
    return "", ""


def _table() -> Any:
    return bundled.table("profiles", "compiled", "daemons.json")
