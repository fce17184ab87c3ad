"""A network topology that Koordinator does not see, or a wish for it that it does not read.

The scheduler reads one ClusterNetworkTopology, named default, whose layers form one chain down to
the nodes. Otherwise it only logs, and gangs that ask for closeness stay pending or are spread.
Names of the design document never shipped.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.targets.koordinator.checks import network

BAD = """\
apiVersion: scheduling.koordinator.sh/v1alpha1
kind: ClusterNetworkTopology
metadata:
  name: default
spec:
  networkTopologySpec:
  - topologyLayer: BlockLayer
    labelKey: [network.example/block]
"""

GOOD = BAD + "  - topologyLayer: NodeTopologyLayer\n    parentTopologyLayer: BlockLayer\n"


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Source: koordinator `frameworkext/networktopology/tree.go` (1.8)."""
    if manifest.kind == "PodGroup":
        if manifest.group == "scheduling.sigs.k8s.io":
            yield from network.wishes(manifest)
    elif manifest.group == "scheduling.koordinator.sh":
        yield from network.tree(manifest)


RULE = Rule(
    code="PK614",
    name="invalid-network-topology",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"ClusterNetworkTopology", "PodGroup"}),
)
