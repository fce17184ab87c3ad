import yaml

from policykit.manifests.path import lookup
from policykit.model.queue import PoolAffinity, Queue
from policykit.model.tenant import Tenant
from policykit.targets.reading import Read
from policykit.targets.volcano import versions
from policykit.targets.volcano.jobs.objects import Job
from policykit.targets.volcano.objects import everything as objects
from policykit.targets.volcano.objects.hypernodes import HyperNode
from policykit.targets.volcano.objects.podgroups import PodGroup
from tests.targets.volcano import racks

TEXT = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: a}
spec: {capability: {cpu: 4}}
---
apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: Pod}
  - {apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: g}, spec: {minMember: 2}}
  - {apiVersion: batch/v1, kind: Job, metadata: {name: not-volcano}}
  - {apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j}, spec: {minAvailable: 3}}
---
{apiVersion: topology.volcano.sh/v1alpha1, kind: HyperNode, metadata: {name: h}, spec: {tier: 1}}
---
[: not yaml
"""


def test_every_object_with_where_it_stands() -> None:
    assert objects.read(TEXT) == [
        Read(Queue("a", limit={"cpu": 4000}), 0, ()),
        Read(PodGroup("", "g", 2), 1, ("items", 1)),
        Read(Job("", "j", (), min_available=3), 1, ("items", 3)),
        Read(HyperNode("h", 1, ()), 2, ()),
    ]


def test_places_of_fields() -> None:
    documents = list(yaml.safe_load_all(TEXT.rpartition("---")[0]))
    queue, group, job, hyper_node = objects.read(TEXT)
    found = [
        (queue, "limit", {"cpu": 4}),
        (group, "min_member", 2),
        (job, "min_available", 3),
        (hyper_node, "tier", 1),
        (hyper_node, "tier_name", None),
    ]
    for read, field, expected in found:
        assert lookup(documents[read.document], objects.place(read, field)) == expected


def test_everything_at_once() -> None:
    made = racks.cluster()._replace(
        queues=(Queue("a", pools=PoolAffinity(("train",))),), tenants=(Tenant("a", ("team-a",), "a"),)
    )
    files, notices = objects.generate(made, versions.parse(""))
    assert [file.path for file in files] == [
        "volcano/hypernodes.yaml",
        "volcano/nodegroups.sh",
        "volcano/namespaces/team-a.yaml",
        "volcano/namespaces/kustomization.yaml",
    ]
    assert len(notices) == 1


def test_nothing_asked_nothing_made() -> None:
    assert objects.generate(racks.cluster(levels=()), versions.parse("")) == ((), ())
