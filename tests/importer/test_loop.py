"""Any policy: what `gen` writes imports to a policy from which `gen` writes the same shares again.

Compared are the objects of the files below, whatever their order. Not compared are Volcano's own queue
`default`, which any node group brings with it, and, as the files do not carry all that they follow from:
weights in the configurations of schedulers (they follow from placements of kinds whose scheduler has one
for all, and from kinds that no pool serves), the second kube-scheduler, reservations (their tolerations are
those of the kind, which a kind without components does not show), the topology where no page of nodes names
its levels, and ElasticQuotas: they have one minimum, and which part of it is guaranteed is not read back
where it is lent. Left out are trees of queues under a release of Volcano that has none: it is given a flat
queue where YuniKorn has a child, which are two queues to whoever reads them; and pools that no page of nodes
names, whose nodes differ in labels: they come back as several pools, and import says which queue lost its
pool.
"""

from __future__ import annotations

import json

import yaml
from hypothesis import HealthCheck, given, settings

from policykit.errors import PolicykitError
from policykit.importer.policy import policy_of
from policykit.model.cluster import Cluster
from policykit.policy.load import load, load_text
from policykit.targets.volcano import options as volcano
from policykit.targets.volcano.versions import HIERARCHY, release_of
from policykit.workspace.files import read
from tests.importer.cluster_files import as_file, generated, nodes_of
from tests.policies import clusters
from tests.shared import ROOT

COMPARED = (
    *("kubernetes/priorities.yaml", "kubernetes/quotas.yaml", "kubernetes/limit-ranges.yaml"),
    *("kubernetes/autoscalers.yaml", "volcano/queues.yaml"),
)
SCHEDULERS = ROOT / "docs" / "schedulers" / "policykit.yaml"


def objects(files: dict[str, bytes]) -> dict[str, list[str]]:
    """File to the objects in it, in an order of their own."""
    return {
        path: sorted(
            json.dumps(each, sort_keys=True) for each in yaml.safe_load_all(files[f"generated/{path}"])
        )
        for path in COMPARED
        if f"generated/{path}" in files
    }


def files_of(cluster: Cluster) -> dict[str, bytes]:
    """The generated files; none where a target refuses the policy, which names the way out."""
    try:
        return generated(cluster)
    except PolicykitError as error:
        if not error.hint:
            raise
        return {}


def is_flattened(cluster: Cluster) -> bool:
    """Whether Volcano has the queues of a tree side by side."""
    stated = release_of(cluster)
    return stated is not None and stated < HIERARCHY and any(queue.parent for queue in cluster.queues)


@settings(max_examples=30, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(clusters())
def test_shares_come_back(cluster: Cluster) -> None:
    files = files_of(cluster)
    if not files or is_flattened(cluster):
        return
    made = policy_of({**files, "nodes.json": as_file(nodes_of(cluster))})
    assert load_text(made.text.encode(), "policykit.yaml", read).cluster.queues == made.cluster.queues
    if any("is left out: unknown pool" in remark for remark in made.remarks):
        return
    # Nodes whose cards Volcano's plugin shares show Volcano, which the policy need not have as a target.
    before, after = objects(files), objects(generated(made.cluster))
    assert {path: after.get(path) for path in before} == before
    assert {each.name: each for each in made.cluster.priorities} == {p.name: p for p in cluster.priorities}


def test_the_policy_of_the_chapter_on_schedulers_comes_back_whole() -> None:
    cluster = load(str(SCHEDULERS), read).cluster
    files = generated(cluster)
    made = policy_of(files)
    again = generated(made.cluster)
    assert [path for path in {*files, *again} if files.get(path) != again.get(path)] == []
    assert made.remarks == ()
    # Volcano has one way of scoring for all its pods: it comes back as options of the scheduler.
    training, before = (each.workloads["training"] for each in (made.cluster, cluster))
    assert training._replace(namespaces=()) == before._replace(namespaces=(), placement="", placement_name="")
    assert volcano.volcano_options(made.cluster.targets["volcano"]).resources
