"""Releases of scheduler-plugins, and what only some of them read of the coscheduling plugin.

Source: `apis/config/types.go` and `apis/scheduling` at the tag of each release, and at the one before.
"""

from __future__ import annotations

from policykit.model.release import ReleaseFact, Releases, Version
from policykit.targets.coscheduling import POD_GROUP

RELEASES = Releases(
    "scheduler-plugins",
    {25: 12, 26: 7, 27: 9, 28: 9, 29: 8, 30: 12, 31: 8, 32: 7, 33: 5, 34: 7},
    major=0,
    by_patch=False,
)
"""The minor release is that of the Kubernetes inside."""
_ARGS = "apis/config/types.go"


def _argument(name: str, since: Version | None = None, gone: Version | None = None) -> ReleaseFact:
    return ReleaseFact("plugin argument", f"Coscheduling: {name}", since, gone, source=_ARGS)


FACTS = (
    ReleaseFact(
        "label",
        "pod-group.scheduling.sigs.k8s.io",
        gone=Version(0, 25, 0),
        instead=f"label {POD_GROUP}",
        source="apis/scheduling/v1alpha1/types.go",
    ),
    _argument("kubeMaster", gone=Version(0, 22, 0)),
    _argument("kubeConfigPath", gone=Version(0, 22, 0)),
    _argument("deniedPGExpirationTimeSeconds", gone=Version(0, 23, 0)),
    _argument("podGroupBackoffSeconds", Version(0, 26, 0)),
    _argument("podGroupRejectPercentage", Version(0, 34, 4)),
)
