"""Components that `gen` wrote, read back."""

from __future__ import annotations

from policykit.model.inventory import Component
from policykit.model.pool import Toleration
from policykit.targets.workloads.importing import read_component
from tests.clusters import profile
from tests.importer.cluster_files import generated


def test_a_component() -> None:
    files = {
        path.rpartition("/")[2]: raw.decode()
        for path, raw in generated(profile("hybrid-volcano")).items()
        if "/workloads/training-h20/" in path
    }
    usage = "maip.mxsf.io/node.usage"
    assert read_component("training-h20", files) == Component(
        "training",
        "h20",
        ((usage, ("training", "hybrid")),),
        ((100, usage, "training"),),
        (
            Toleration(usage, "Equal", "training", "NoSchedule"),
            Toleration(usage, "Equal", "hybrid", "NoSchedule"),
            Toleration("nvidia.com/gpu.product", "Equal", "NVIDIA-H20", "NoSchedule"),
        ),
        "volcano",
        gang=True,
    )
    assert read_component("training-h20", {}) is None
    assert read_component("training-h20", {"kustomization.yaml": "patches: 3\n"}) is None
