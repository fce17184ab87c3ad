"""The configuration of NVIDIA's device plugin, or of HAMi, does not load, or a part of it has no effect.

The plugin does not start with fewer than two replicas of a card, without a number of them, with a word that
it does not know, such as a MIG strategy, or with a value of another type: the nodes then offer no card.
Keys that it does not know, those of a way of sharing outside of it, and `rename` are ignored. So are values
that the charts of the operator and the plugin do not read, such as timeSlicing beside `config`. nvidia-mig-
manager refuses a file with a key that it does not know, or without one that it needs. HAMi offers no card
with a split count of 0, and does not start if a number is written as a string. A node whose label asks for
slices that its card does not have offers none, and a file of slices that no card of the policy has cuts
none. AMD's device config manager divides the memory of all cards of a node or of none, and the cards of a
profile are those of the node.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.chart_values import KINDS as HELM_KINDS
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.rules.resources import (
    amd_partitions,
    hami_configuration,
    mig_configurations,
    node_slices,
    operator_values,
    plugin_sharing,
)
from policykit.targets.nodes import (
    AMD_PARTITIONS,
    HAMI_CONFIGURATION,
    MIG_CONFIGURATION,
    PLUGIN_CONFIGURATION,
)

BAD = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: device-plugin
  namespace: gpu-operator
data:
  any: |
    version: v1
    sharing:
      timeSlicing:
        resources:
        - name: nvidia.com/gpu
          replicas: 1
"""

GOOD = BAD.replace("replicas: 1", "replicas: 4")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Each module names its sources."""
    if manifest.kind == "DaemonSet":
        yield from plugin_sharing.of_daemon(manifest)
    elif manifest.kind in node_slices.KINDS:
        yield from node_slices.violations(manifest, context.cluster)
    elif not manifest.read_as:
        yield from operator_values.violations(manifest)
    elif manifest.read_as == MIG_CONFIGURATION:
        yield from mig_configurations.violations(manifest.data, context.cluster)
    elif manifest.read_as == AMD_PARTITIONS:
        yield from amd_partitions.violations(manifest.data, context.cluster)
    elif manifest.read_as == HAMI_CONFIGURATION:
        yield from hami_configuration.violations(manifest.data)
    else:
        yield from plugin_sharing.violations(manifest)


RULE = Rule(
    code="PK220",
    name="invalid-plugin-configuration",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset(
        {
            *("DaemonSet", AMD_PARTITIONS, HAMI_CONFIGURATION, MIG_CONFIGURATION, PLUGIN_CONFIGURATION),
            *HELM_KINDS,
            *node_slices.KINDS,
        }
    ),
)
