import pytest

from policykit.generator.artifact import Artifact, Role
from policykit.model.pool import Pool, Shape
from policykit.model.queue import PoolAffinity, Queue
from policykit.targets.volcano import versions
from policykit.targets.volcano.objects import nodegroups
from tests.targets.volcano.clusters import POOLS, cluster

NEWEST = versions.parse("")
TRAIN, INFER, HYBRID = (pool.name for pool in POOLS)
ALL = PoolAffinity((TRAIN, INFER, HYBRID))


@pytest.mark.parametrize(
    ("pools", "expected"),
    [
        (PoolAffinity((TRAIN,)), PoolAffinity((TRAIN,))),
        (PoolAffinity(preferred=(TRAIN,)), ALL._replace(preferred=(TRAIN,))),
        (PoolAffinity(excluded=(TRAIN,)), PoolAffinity((INFER, HYBRID), excluded=(TRAIN,))),
        (PoolAffinity(avoided=(TRAIN,)), ALL._replace(avoided=(TRAIN,))),
        (PoolAffinity((TRAIN, INFER), (HYBRID,)), PoolAffinity((TRAIN, INFER))),
        (PoolAffinity((TRAIN, INFER), excluded=(INFER,)), PoolAffinity((TRAIN,), excluded=(INFER,))),
    ],
    ids=["required", "preferred", "excluded", "avoided", "preferred-outside", "excluded-of-required"],
)
def test_every_pool_a_queue_may_use_is_listed(pools: PoolAffinity, expected: PoolAffinity) -> None:
    found, _ = nodegroups.assign_node_groups((Queue("a", pools=pools),), POOLS, NEWEST)
    assert found == (Queue("a", pools=expected),)


def test_a_queue_that_names_none_has_those_of_the_nearest_above() -> None:
    queues = (Queue("a", pools=PoolAffinity((TRAIN,))), Queue("b", "a"), Queue("c", "b"), Queue("d"))
    found, notices = nodegroups.assign_node_groups(queues, POOLS, NEWEST)
    assert {queue.name: queue.pools for queue in found} == {
        "a": PoolAffinity((TRAIN,)),
        "b": PoolAffinity((TRAIN,)),
        "c": PoolAffinity((TRAIN,)),
        "d": ALL,
    }
    assert notices == ()


def test_without_pools_nothing_changes() -> None:
    queues = (Queue("a"), Queue("b", "a", pools=PoolAffinity()))
    assert nodegroups.assign_node_groups(queues, POOLS, NEWEST) == ((Queue("a"), Queue("b", "a")), ())


def test_what_a_wish_is_worth_is_said() -> None:
    queues = (
        Queue("b", pools=PoolAffinity(preferred=(TRAIN,))),
        Queue("a", pools=PoolAffinity(avoided=(TRAIN,))),
    )
    assert nodegroups.assign_node_groups(queues, POOLS, NEWEST)[1] == (
        "queue a, b: a preferred pool adds 50 points to a node's score, an avoided one removes 101, "
        "and plugin nodegroup has no weight: binpack and nodeaffinity may outweigh it",
    )


def _pool(name: str, *shapes: Shape, **labels: str) -> Pool:
    return Pool(name, shapes, {nodegroups.LABEL: labels["group"]} if labels else {})


SCRIPT = """\
#!/bin/sh
# Node groups for the affinity of Volcano's queues: one per pool. Safe to run again.
# Run it again for nodes that join, or let the provisioner set the label.
# Once plugin nodegroup is on, pods of these queues run only on nodes with this label.
set -eu

kubectl label nodes --overwrite \\
  n1 n2 \\
  volcano.sh/nodegroup-name=named

kubectl label nodes --overwrite \\
  -l pool=x \\
  volcano.sh/nodegroup-name=selected
"""


def test_nodes_are_labelled_where_they_can_be_named() -> None:
    pools = (
        _pool("named", Shape({}, node_names=("n2",)), Shape({}, node_names=("n1",))),
        _pool("selected", Shape({}, selector={"pool": "x"})),
        _pool("labelled", Shape({}, node_names=("n3",)), group="own"),
        _pool("unknown", Shape({}, 2, 2)),
        _pool("x" * 64, Shape({}, node_names=("n4",))),
    )
    queues = (Queue("a", pools=PoolAffinity(("labelled",))),)
    made = cluster(pools=pools, queues=queues)
    assert nodegroups.artifacts(made, NEWEST) == (
        (Artifact("volcano/nodegroups.sh", SCRIPT, Role.NODE),),
        (
            "pool unknown is a node group of queues, but the policy does not name its nodes: let the "
            "provisioner set label volcano.sh/nodegroup-name=unknown",
            f"pool {'x' * 64}: its name has 64 characters, the limit is 63, so it cannot be a value of label "
            "volcano.sh/nodegroup-name",
        ),
    )
    assert nodegroups.assign_node_groups(queues, pools, NEWEST)[0] == (
        Queue("a", pools=PoolAffinity(("own",))),
    )


@pytest.mark.parametrize(
    ("queues", "version"),
    [((Queue("a"),), ""), ((Queue("a", pools=PoolAffinity((TRAIN,))),), "1.8")],
    ids=["nobody-names-pools", "before-1.9"],
)
def test_no_script_without_need(queues: tuple[Queue, ...], version: str) -> None:
    assert nodegroups.artifacts(cluster(queues=queues), versions.parse(version)) == ((), ())
