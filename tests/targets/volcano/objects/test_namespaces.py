import pytest
import yaml

from policykit.generator.artifact import Role
from policykit.model.queue import Queue, Submitters, Tenant
from policykit.targets.volcano import versions
from policykit.targets.volcano.objects import namespaces
from tests.targets.volcano.clusters import TRAINING, cluster

TREE = (Queue("research"), Queue("team-a", "research"))
WEBHOOK = (
    "admission /podgroups/mutate reads the queue of a namespace, and is off by default since Volcano "
    "1.12.0: add it to the chart's value custom.enabled_admissions"
)


def test_namespaces_are_patched_and_never_made() -> None:
    tenants = (
        Tenant("a", ("team-a", "team-a-dev"), "team-a"),
        Tenant("b", ("team-b",)),
        Tenant("c", ("team-a", "c"), "research-c"),
    )
    made = cluster(queues=TREE)._replace(tenants=tenants)
    files, notices = namespaces.artifacts(made, versions.parse(""))
    assert notices == (WEBHOOK,)
    assert {file.role for file in files} == {Role.COMPONENT}
    assert [file.path for file in files] == [
        "volcano/namespaces/c.yaml",
        "volcano/namespaces/team-a.yaml",
        "volcano/namespaces/team-a-dev.yaml",
        "volcano/namespaces/kustomization.yaml",
    ]
    assert files[1].text == (
        "---\n# policykit: partial\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: team-a\n"
        "  annotations:\n    scheduling.volcano.sh/queue-name: team-a\n"
    )
    component = yaml.safe_load(files[-1].text)
    assert component["kind"] == "Component"
    assert "resources" not in component
    assert component["patches"][0] == {
        "path": "c.yaml",
        "target": {"version": "v1", "kind": "Namespace", "name": "c"},
    }


def test_the_webhook_was_on_before_1_12() -> None:
    made = cluster()._replace(tenants=(Tenant("a", ("a",), "q"),))
    files, notices = namespaces.artifacts(made, versions.parse("1.11"))
    assert len(files) == 2
    assert notices == ()


@pytest.mark.parametrize(
    ("queues", "version", "expected"),
    [
        pytest.param((Queue("a", submit=Submitters(("*",))), Queue("b")), "", (), id="everybody"),
        pytest.param(
            (Queue("b", submit=Submitters()), Queue("a", submit=Submitters(("ann",), ("dev",)))),
            "",
            (
                "queue a, b: Volcano lets everybody submit to every queue. Restrict it by RBAC on "
                "the tenants' namespaces, with a ValidatingAdmissionPolicy on the queue that pods "
                "and jobs name",
            ),
            id="some",
        ),
        pytest.param(
            TREE,
            "",
            (
                "workload kind training uses queue research, which has child queues: Volcano accepts "
                "jobs only in queues without children. Name one of those",
            ),
            id="not-the-lowest",
        ),
        pytest.param(TREE, "1.10", (), id="before-queue-trees"),
    ],
)
def test_what_is_said(queues: tuple[Queue, ...], version: str, expected: tuple[str, ...]) -> None:
    kind = TRAINING._replace(queue="research")
    made = cluster(queues=queues, kinds=(kind,))
    assert namespaces.artifacts(made, versions.parse(version)) == ((), expected)
