"""Where the queue that a pod names stands in YuniKorn's tree, and who makes it."""

import pytest

from policykit.linter.rule import Context
from policykit.manifests.document import manifests
from policykit.manifests.parser import parse
from policykit.model.declared_queues import DeclaredQueue, QueuePlacement
from policykit.targets.yunikorn import queue_facts
from tests.clusters import profile

HEAD = "partitions:\n- name: default\n"
ROOT = "  queues:\n  - name: root\n    submitacl: '*'\n"


def stated(text: str) -> list[object]:
    document = next(iter(parse(text)))
    assert document.root is not None
    manifest = next(iter(manifests(document.root, 0)))._replace(read_as="queues.yaml")
    return [each.value for each in queue_facts.facts(manifest, (), Context(path="q.yaml"))]


def placing(rules: str) -> QueuePlacement:
    found = stated(f"{HEAD}  placementrules:\n{rules}{ROOT}")[-1]
    assert isinstance(found, QueuePlacement)
    return found


PROVIDED = "  - name: provided\n"
BELOW = f"{PROVIDED}    parent: {{name: fixed, value: teams}}\n"
BY_USER = f"{PROVIDED}    parent: {{name: user}}\n"


@pytest.mark.parametrize(
    ("name", "rules", "path"),
    [
        pytest.param("root.Research.vision", PROVIDED, "root.research.vision", id="a whole path"),
        pytest.param("research", PROVIDED, "root.research", id="a name stands below the root"),
        pytest.param(
            "research.vision", PROVIDED, "root.research_dot_vision", id="dots of a name are replaced"
        ),
        pytest.param("rootling", PROVIDED, "root.rootling", id="a name that only begins like the root"),
        pytest.param("root", PROVIDED, "root", id="the root itself"),
        pytest.param(
            "root", f"{PROVIDED}    create: true\n", "root.root", id="a queue made of the root's name"
        ),
        pytest.param("research", BELOW, "root.teams.research", id="below what a fixed rule gives"),
        pytest.param("root.research", BELOW, "root.research", id="a whole path needs no parent rule"),
        pytest.param("research", BY_USER, "", id="below a queue that depends on the user"),
        pytest.param("research", PROVIDED + BELOW, "", id="two rules that differ"),
    ],
)
def test_resolved(name: str, rules: str, path: str) -> None:
    assert queue_facts.resolved(name, placing(rules)) == path


@pytest.mark.parametrize(
    ("rules", "reads", "creates", "others"),
    [
        pytest.param(PROVIDED, True, False, False, id="only a name that is there"),
        pytest.param(f"{PROVIDED}    create: true\n", True, True, False, id="any name"),
        pytest.param(
            "  - name: tag\n    value: namespace\n    create: true\n", False, False, True, id="no name"
        ),
        pytest.param(f"{PROVIDED}    filter: {{users: [bob]}}\n", True, False, True, id="names of one user"),
    ],
)
def test_placing(rules: str, reads: bool, creates: bool, others: bool) -> None:
    found = placing(rules)
    assert (found.honours_pod_queue, found.creates_queues, found.has_other_rules) == (reads, creates, others)


def test_a_rule_below_the_queue_that_pods_name() -> None:
    found = placing("  - name: user\n    create: true\n    parent:\n      name: provided\n")
    assert (found.honours_pod_queue, found.reads_as_parent) == (False, True)
    assert not placing(PROVIDED).reads_as_parent


def test_queues_have_their_amounts_in_kubernetes_units() -> None:
    below = "    queues:\n    - name: Vision\n      resources: {max: {vcore: 500m, memory: 1Gi}}\n"
    root, vision, _ = stated(f"{HEAD}{ROOT}{below}")
    tree = "q.yaml#0/(document)"
    assert root == DeclaredQueue("yunikorn", "root", tree=tree, holds_queues=True)
    limit = {"cpu": 500, "memory": 1 << 30}
    assert vision == DeclaredQueue("yunikorn", "root.vision", "root", limit=limit, tree=tree)


def test_a_file_that_does_not_decode_states_nothing() -> None:
    assert stated(f"{HEAD}  Queues: []\n") == []


def test_what_the_policy_plans() -> None:
    planned = queue_facts.policy_queues(profile("teams-yunikorn"))
    assert planned.queues == {
        "root.production": "root",
        "root.research": "root",
        "root.research.team-a": "root.research",
        "root.research.team-b": "root.research",
    }
    assert planned.holding == {"root.research"}
