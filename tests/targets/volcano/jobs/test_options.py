from typing import Any

import pytest

from policykit.manifests.patch import Patch, patched
from policykit.model.cluster import Cluster
from policykit.model.workload import WorkloadKind
from policykit.targets.volcano.jobs import options as job_options
from policykit.targets.volcano.jobs import patches as jobs
from policykit.targets.volcano.jobs.objects import Task
from tests.targets.volcano import racks
from tests.targets.volcano.jobs.test_patches import job
from tests.targets.volcano.stated import options as stating

KIND = WorkloadKind("training")
MASTER, WORKER = Task("master", 1), Task("worker", 4)


def cluster(said: dict[str, Any], **options: Any) -> Cluster:
    made = racks.cluster(KIND)
    target = made.targets["volcano"]._replace(options=stating({"jobs": {"training": said}, **options}))
    return made._replace(targets={"volcano": target})


TOPOLOGY = {
    "affinity": [["master", "worker"], ["ps"]],
    "anti_affinity": [["worker"]],
    "order": ["master", "ps", "worker"],
}


@pytest.mark.parametrize(
    ("said", "data", "expected", "notices"),
    [
        pytest.param({}, job(MASTER), [], (), id="nothing"),
        pytest.param(
            {"plugins": {"svc": [], "pytorch": ["--master=master"]}},
            job(MASTER, WORKER, plugins={"svc": []}),
            [Patch("add", ("spec", "plugins", "pytorch"), ["--master=master"])],
            (),
            id="plugins",
        ),
        pytest.param(
            {"plugins": {"svc": ["--disable-network-policy"]}},
            job(MASTER, plugins={"svc": [], "env": []}),
            [Patch("add", ("spec", "plugins", "svc"), ["--disable-network-policy"])],
            (),
            id="other-arguments",
        ),
        pytest.param(
            {"plugins": {"mpi": []}},
            job(WORKER),
            [],
            ("job plugin mpi names task master, which the job does not have: it is left out",),
            id="a-role-without-task",
        ),
        pytest.param(
            {"task_topology": TOPOLOGY},
            job(MASTER, WORKER),
            [
                Patch(
                    "add", ("metadata", "annotations", "volcano.sh/task-topology-affinity"), "master,worker"
                ),
                Patch("add", ("metadata", "annotations", "volcano.sh/task-topology-anti-affinity"), "worker"),
                Patch(
                    "add", ("metadata", "annotations", "volcano.sh/task-topology-task-order"), "master,worker"
                ),
            ],
            ("task topology names task ps, which the job does not have: it is left out",),
            id="task-topology",
        ),
    ],
)
def test_patches(
    said: dict[str, Any], data: dict[str, Any], expected: list[Patch], notices: tuple[str, ...]
) -> None:
    meant = cluster(said)
    assert list(jobs.patches(data, KIND, meant)) == expected
    assert jobs.notices(data, KIND, meant) == notices
    for patch in expected:
        data = patched(data, patch)
    assert jobs.patches(data, KIND, meant) == ()


def test_other_kinds_have_no_part_in_it() -> None:
    other = WorkloadKind("inference")
    assert jobs.patches(job(MASTER), other, cluster({"plugins": {"svc": []}})) == ()


def test_task_topology_needs_its_plugin() -> None:
    assert job_options.unread(cluster({"task_topology": TOPOLOGY})) == (
        "task topology of training needs plugin task-topology, which is not in the configuration: "
        "add it to targets.volcano.plugins",
    )
    assert job_options.unread(cluster({"task_topology": TOPOLOGY}, plugins={"task-topology": {}})) == ()
    assert job_options.unread(cluster({"plugins": {"svc": []}})) == ()
    assert job_options.unread(racks.cluster()._replace(targets={})) == ()
