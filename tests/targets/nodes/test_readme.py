"""The page tells the order, the pools and the files."""

import re

import pytest

from policykit.model.cluster import Cluster
from policykit.model.pool import Shape, Sharing, Taint
from tests.targets.nodes.clusters import COUNTED, NAMED, SCALED, SELECTED, cluster, pool, texts

DAEMONS, LABELS, PATCHES, LAST = range(4)


def page(made: Cluster) -> str:
    return texts(made)["nodes/README.md"]


def test_daemons_first_taints_last() -> None:
    steps = re.findall(r"^[0-9]\. (.*)$", page(cluster()), re.MULTILINE)
    assert steps[DAEMONS].startswith("Tolerations of the node daemons")
    assert steps[LABELS].startswith("Labels")
    assert steps[PATCHES].startswith("The workloads' patches")
    assert steps[LAST].startswith("Taints, last")


@pytest.mark.parametrize(
    ("shapes", "size"),
    [
        ((COUNTED,), "4"),
        ((NAMED, COUNTED), "6"),
        ((SCALED,), "0 to 6"),
        ((SELECTED,), "by selector"),
        ((Shape({}),), "unknown"),
        ((Shape({}, 2),), "2 or more"),
    ],
    ids=["count", "two shapes", "range", "selector", "unknown", "no bound"],
)
def test_table(shapes: tuple[Shape, ...], size: str) -> None:
    (row,) = [line for line in page(cluster(pool(*shapes))).splitlines() if line.startswith("| train-h20")]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1] == size
    assert "`maip.mxsf.io/node.usage=training`" in cells[2]
    assert cells[3] == "`nvidia.com/gpu.product=NVIDIA-H20`"
    assert cells[4] == (
        "`maip.mxsf.io/node.usage=training:NoSchedule`<br>`nvidia.com/gpu.product=NVIDIA-H20:NoSchedule`"
    )


def test_every_file_is_explained() -> None:
    made = cluster(pool(NAMED), pool(SCALED, name="b"), control_plane=Taint("k"))
    text = page(made)
    for path in texts(made):
        if path != "nodes/README.md":
            name = path.removeprefix("nodes/") if "/daemons/" in path else path.rpartition("/")[2]
            assert f"`{name}`" in text.partition("## Files")[2]


@pytest.mark.parametrize(
    ("made", "remark"),
    [
        (cluster(pool()), "Every pool of this policy is tainted"),
        (cluster(pool(taints=(Taint("k", "", "NoExecute"),))), "NoExecute also immediately evicts"),
        (
            cluster(pool(taints=(Taint("k", "A100-MIG-1g.5gb"),))._replace(sharing=Sharing("mig-single"))),
            "becomes outdated",
        ),
        (cluster(pool(NAMED)), "deleting a Node object evicts all its pods"),
        (cluster(pool(COUNTED)), "## Left out"),
    ],
    ids=["all tainted", "NoExecute", "cut cards", "prune", "left out"],
)
def test_remarks(made: Cluster, remark: str) -> None:
    other = cluster(pool(NAMED, taints=()), pool(NAMED, name="b"))
    assert remark in page(made)
    if remark.startswith(("Every", "NoExecute", "goes", "##")):
        assert remark not in page(other)
