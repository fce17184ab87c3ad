"""Koordinator releases, and the versions of KubeSchedulerConfiguration that each reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from policykit.manifests.memoize import memoize_last
from policykit.model.release import Releases, Version, stated_release
from policykit.namedtuple import NamedTuple
from policykit.targets.koordinator.names import TARGET_NAME

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

GROUP = "kubescheduler.config.k8s.io"


class ConfigVersions(NamedTuple):
    """Versions of KubeSchedulerConfiguration, without the group."""

    known: tuple[str, ...]
    """Versions that the binary reads at all."""
    args: tuple[str, ...]
    """Versions in which the args of Koordinator's own plugins are registered."""
    fit_plus: tuple[str, ...] = ()
    """Versions in which NodeResourcesFitPlusArgs is registered. In others the plugin prevents the start."""

    @property
    def newest(self) -> str:
        """The newest apiVersion that works with every plugin."""
        return f"{GROUP}/{(self.fit_plus or self.args)[-1]}"


_OLD, _BOTH = ("v1beta2", "v1beta3"), ("v1beta3", "v1")
_CONFIG_VERSIONS: Mapping[Version, ConfigVersions] = {
    Version(1, 3, 0): ConfigVersions(_OLD, ("v1beta2",)),
    Version(1, 4, 0): ConfigVersions(_OLD, ("v1beta2",)),
    Version(1, 4, 1): ConfigVersions(_OLD, ("v1beta2",)),
    Version(1, 5, 0): ConfigVersions(_BOTH, ("v1beta3",)),
    Version(1, 6, 0): ConfigVersions(_BOTH, _BOTH, ("v1beta3",)),
    Version(1, 6, 1): ConfigVersions(_BOTH, _BOTH, _BOTH),
    Version(1, 7, 0): ConfigVersions(_BOTH, _BOTH, _BOTH),
    Version(1, 8, 0): ConfigVersions(("v1",), ("v1",), ("v1",)),
}
"""Each row applies up to the next. Source: register.go of each config version at the release tags."""
READERS = tuple(_CONFIG_VERSIONS)
"""The known releases, one for each change of what they read, or of the fields of args."""
RELEASES = Releases("Koordinator", {3: 0, 4: 1, 5: 0, 6: 1, 7: 0, 8: 0})
_CHARTS: Mapping[str, str] = {"1.6": "1.6.0"}
"""Release that the last chart of a minor release installs, where it is not the last patch."""

FIT_PLUS = Version(1, 6, 0)
"""NodeResourcesFitPlus and ScarceResourceAvoidance."""
CRASHING_FIT_PLUS = Version(1, 6, 0)
"""Its NodeResourcesFitPlus asks for a feature gate that is not registered, so the scheduler panics at pods
that request ephemeral-storage. Source: `noderesourcefitplus` and its change in 1.6.1."""
KUBERNETES_1_28 = Version(1, 5, 0)
"""kube-scheduler 1.28 inside. Before it is 1.24, which knows no extension point preEnqueue and weighs the
default plugins as v1beta2 does."""
PRE_ENQUEUE = Version(1, 7, 0)
"""Gangs wait at preEnqueue, and PrioritySort sorts the queue."""
COSCHEDULING_SCORES = Version(1, 8, 0)
ANOMALY_NUMBERS = Version(1, 8, 0)
"""koord-descheduler refuses consecutiveNormalities: 0, and does not fill in both numbers."""
RESOURCE_KEYS = Version(1, 4, 0)
"""Resources in the scoringStrategy of Koordinator's own plugins have `name` and `weight`. 1.3 refuses these
and reads `Name` and `Weight`: its type has no JSON names."""
GPU_SPLIT = Version(1, 6, 0)
"""The webhook replaces koordinator.sh/gpu in pods by gpu-core and gpu-memory-ratio of the same amount."""
GPU_SHARED = Version(1, 6, 0)
"""koordinator.sh/gpu.shared beside amounts of memory and cores: a number of cards."""
NPU_CORES = Version(1, 7, 0)
"""huawei.com/npu-core and what belongs to it."""
NETWORK_TOPOLOGY = Version(1, 7, 0)
"""ClusterNetworkTopology, and gangs within a layer of it."""
QOS_UNENFORCED = (Version(1, 6, 0), Version(1, 8, 0))
"""First release whose webhook does not use its verdict on QoS classes, and the first that uses it again."""
JOB_PREEMPTION_VALUE = Version(1, 7, 0)
"""Chart value scheduler.enableJobPreemption: true."""
MODELS_VALUE = Version(1, 8, 0)
"""Chart value scheduler.deviceShare.gpuShareUnsupportedModels, a list of one."""
CHART_V1 = Version(1, 6, 0)
"""The chart's scheduler configuration is in v1; 1.5 has it in v1beta3, older ones in v1beta2."""


def parse(text: str) -> Version:
    """`1.8.0`, `v1.6` (the patch its chart installs), or empty for the newest known; a release that is
    not known is the nearest.

    Raises PolicykitError for a text that is not a release.
    """
    return RELEASES.parse(_CHARTS.get(text.removeprefix("v"), text))


@memoize_last
def release_of(cluster: Cluster | None) -> Version | None:
    """The release that the policy states; None if it states none."""
    return stated_release(cluster, TARGET_NAME, parse)


def possible_versions(cluster: Cluster | None) -> tuple[Version, ...]:
    """The release that the policy states, or else all known ones."""
    found = release_of(cluster)
    return (found,) if found else READERS


def config_versions(version: Version) -> ConfigVersions:
    """Raises KeyError below the first row, which `parse` never returns."""
    return _CONFIG_VERSIONS[max(row for row in READERS if row <= version)]


def reads_args(version: Version, api_version: object) -> bool:
    """Whether a release knows the args of its plugins under this apiVersion."""
    group, _, outer = api_version.partition("/") if isinstance(api_version, str) else ("", "", "")
    return group == GROUP and outer in config_versions(version).args
