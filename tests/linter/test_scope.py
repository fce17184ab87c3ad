"""Facts about gangs: what a file leaves behind, and what rules about scopes make of it."""

import pickle
from textwrap import dedent
from typing import Any

import pytest

from policykit.kube.podsets import pod_sets
from policykit.linter.apply_rules import facts_of, unreadable
from policykit.linter.finding import Resource
from policykit.linter.location import LocatedObject
from policykit.linter.rule import Context
from policykit.linter.scope import (
    AnyFact,
    LocatedFact,
    Scope,
    name_of_fact,
    names_in,
    objects_of,
    scope_of,
)
from policykit.linter.target import Targets
from policykit.manifests.document import manifests
from policykit.manifests.parser import parse
from policykit.model.gang import Autoscaler, Membership, OwnGang, PodGroup
from policykit.model.severity import Severity
from policykit.rules.gangs.gang_exceeds_replicas import check as exceeds
from policykit.rules.gangs.gang_without_group import check as without_group
from policykit.targets import TARGETS

GROUP = """\
    apiVersion: scheduling.sigs.k8s.io/v1alpha1
    kind: PodGroup
    metadata:
      name: train
      namespace: team-a
    spec:
      minMember: 3
    """
WORKERS = """\
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: workers
      namespace: team-a
    spec:
      replicas: 2
      selector: {matchLabels: {app: workers}}
      template:
        metadata:
          labels:
            pod-group.scheduling.sigs.k8s.io: train
        spec:
          containers: [{name: main, image: "registry.example/train:1"}]
    """
SCALER = """\
    apiVersion: autoscaling/v2
    kind: HorizontalPodAutoscaler
    metadata: {name: workers, namespace: team-a}
    spec:
      scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: workers}
      maxReplicas: 3
    """


def facts(text: str, path: str = "case.yaml", *, partial: bool = False) -> list[AnyFact]:
    found: list[AnyFact] = []
    for index, document in enumerate(parse(dedent(text))):
        assert document.root is not None
        for manifest in manifests(document.root, index):
            manifest = manifest._replace(partial=partial)
            located = LocatedObject(manifest, dedent(text))
            found.extend(facts_of(located, pod_sets(manifest.data), Targets(TARGETS), Context(path=path)))
    return found


def scope(*texts: str, complete: bool = True) -> Scope:
    """The facts of texts that each stand in a file of their own."""
    found = [fact for number, text in enumerate(texts) for fact in facts(text, f"{number}.yaml")]
    return scope_of(found, complete=complete)


def messages(violations: Any) -> list[str]:
    return [violation.message for violation in violations]


def test_a_group_and_its_places() -> None:
    (group,) = facts(GROUP, "gang.yaml")
    assert isinstance(group, LocatedFact)
    assert group.value == PodGroup("koordinator", "team-a", "train", 3)
    assert (group.path, group.document, str(group.resource)) == ("gang.yaml", 0, "PodGroup team-a/train")
    span, pointer = group.place("min_member").span, group.place("min_member").pointer
    assert (span.line, span.column, span.end_column, pointer) == (7, 14, 15, "/spec/minMember")
    assert group.place("name").pointer == "/metadata/name"


def test_an_item_of_a_list_is_placed_from_the_document_root() -> None:
    (group,) = facts("""\
        apiVersion: v1
        kind: List
        items:
        - apiVersion: scheduling.volcano.sh/v1beta1
          kind: PodGroup
          metadata: {name: train}
          spec: {minMember: 2}
        """)
    assert isinstance(group, LocatedFact)
    assert group.place("min_member").pointer == "/items/0/spec/minMember"
    assert group.place("min_member").span.line == 7


def test_a_membership_stands_in_the_namespace_of_its_object() -> None:
    (member,) = facts(WORKERS)
    assert isinstance(member, LocatedFact)
    assert member.value == Membership("koordinator", "team-a", "train", 2, "")
    assert member.place("group").pointer.endswith("/labels/pod-group.scheduling.sigs.k8s.io")
    assert member.place("group").span.line == 12


def test_gangs_that_fit_leave_nothing_behind() -> None:
    job = """\
        apiVersion: batch.volcano.sh/v1alpha1
        kind: Job
        metadata: {name: train}
        spec:
          minAvailable: 2
          tasks:
          - {name: worker, replicas: 2, template: {spec: {containers: []}}}
        """
    assert facts(job) == []
    (gang,) = facts(job.replace("minAvailable: 2", "minAvailable: 3"))
    assert isinstance(gang, LocatedFact)
    assert gang.value == OwnGang("default", "the gang of this Job", 3, 2)


def test_facts_travel_between_processes() -> None:
    everything = [*facts(GROUP), *facts(WORKERS), *facts(SCALER)]
    assert pickle.loads(pickle.dumps(everything)) == everything


def test_scope_sorts_facts_by_what_they_are_about() -> None:
    found = scope(GROUP, WORKERS, SCALER)
    assert [len(found.groups), len(found.memberships), len(found.gangs)] == [1, 1, 0]
    assert [each.value for each in found.autoscalers] == [Autoscaler("team-a", "Deployment", "workers", 3)]


class Stored:
    """Facts as from the cache; notes which types were asked for."""

    def __init__(self, *facts: AnyFact, path: str = "b.yaml") -> None:
        self._facts = facts
        self.path = path
        self.asked: list[str] = []

    @property
    def names(self) -> list[str]:
        return [*dict.fromkeys(map(name_of_fact, self._facts))]

    @property
    def may_have_findings(self) -> bool:
        return any(isinstance(fact, LocatedFact) and not fact.answers for fact in self._facts)

    def of(self, name: str) -> list[AnyFact]:
        self.asked.append(name)
        return [fact for fact in self._facts if name_of_fact(fact) == name]

    def objects(self) -> list[Resource]:
        return [*objects_of(self._facts)]


def test_stored_facts_keep_the_order_of_files_and_are_read_once_if_asked_for() -> None:
    first, last = facts(GROUP, "a.yaml"), facts(GROUP, "c.yaml")
    stored = Stored(*facts(GROUP, "b.yaml"), *facts(WORKERS, "b.yaml"), unreadable("kind: Deployment"))
    mixed = scope_of([*first, stored, *last], complete=True)
    for _ in range(2):
        assert [each.path for each in mixed.groups] == ["a.yaml", "b.yaml", "c.yaml"]
    assert stored.asked == ["gang.PodGroup"]
    assert mixed.may_hold("Deployment")
    assert mixed.autoscalers == ()
    assert stored.asked == ["gang.PodGroup", "scope.UnreadableText"]


@pytest.mark.parametrize(
    ("paths", "others", "expected"),
    [
        (None, (), ["a.yaml", "b.yaml", "c.yaml"]),
        ({"a.yaml", "b.yaml", "c.yaml", "d.yaml"}, (), ["a.yaml", "b.yaml", "c.yaml"]),
        ({"a.yaml", "c.yaml", "d.yaml"}, (), ["a.yaml", "c.yaml"]),
        ({"c.yaml", "d.yaml"}, (), ["c.yaml"]),
        ({"c.yaml", "d.yaml"}, (Autoscaler,), ["a.yaml", "b.yaml", "c.yaml"]),
        ({"c.yaml"}, (Autoscaler, Membership), ["c.yaml"]),
        ({"d.yaml"}, (), []),
    ],
)
def test_facts_at_which_findings_are_reported(
    paths: set[str] | None, others: tuple[type, ...], expected: list[str]
) -> None:
    """Also those of b.yaml, which are as an earlier run stored them."""
    stated = [*facts(GROUP, "a.yaml"), Stored(*facts(GROUP, "b.yaml")), *facts(GROUP, "c.yaml")]
    known = scope_of([*stated, *facts(SCALER, "d.yaml")], complete=True, judged=paths)
    assert [each.path for each in known.judged(PodGroup, *others)] == expected


def test_objects_are_those_that_files_make() -> None:
    patch = facts(WORKERS, partial=True)
    names = [about.name for about in objects_of([*facts(GROUP), *patch, Stored(*facts(SCALER))])]
    assert names == ["train", "workers"]
    assert names_in([*facts(GROUP), unreadable("a: b")]) == {"gang.PodGroup"}


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ((GROUP, WORKERS), ["gang train needs 3 members but Deployment workers has 2 pods"]),
        ((GROUP, WORKERS, SCALER), []),
        ((GROUP, WORKERS, SCALER.replace("maxReplicas: 3", "maxReplicas: ${MAX}")), []),
        ((GROUP, WORKERS, SCALER.replace("name: workers}", "name: others}")), [
            "gang train needs 3 members but Deployment workers has 2 pods"
        ]),
        ((GROUP, WORKERS, WORKERS.replace("name: workers", "name: more")), []),
        ((GROUP, WORKERS, WORKERS), ["gang train needs 3 members but Deployment workers has 2 pods"]),
        ((GROUP, GROUP.replace("minMember: 3", "minMember: 2"), WORKERS), []),
        ((GROUP, WORKERS.replace("replicas: 2", "replicas: ${N}")), []),
        ((GROUP.replace("minMember: 3", "minMember: 0"), WORKERS), []),
        ((GROUP, WORKERS.replace("namespace: team-a", "namespace: team-b")), []),
    ],
    ids=[
        "too-few", "autoscaler-brings-more", "autoscaler-unknown", "autoscaler-of-another", "two-workloads",
        "base-and-overlay-count-once", "two-copies-of-the-group", "placeholder", "no-gang",
        "another-namespace",
    ],
)  # fmt: skip
def test_named_gangs(texts: tuple[str, ...], expected: list[str]) -> None:
    assert messages(exceeds(scope(*texts), Context())) == expected


def test_the_first_suggestion_is_to_raise_replicas() -> None:
    (found,) = exceeds(scope(GROUP, WORKERS), Context())
    assert found.help == "raise replicas of Deployment workers to 3, or lower the minimum to 2"


@pytest.mark.parametrize("texts", [(GROUP,), (WORKERS,), (GROUP, WORKERS)], ids=["group", "pods", "both"])
def test_nothing_is_said_of_an_incomplete_scope(texts: tuple[str, ...]) -> None:
    partly = scope(*texts, complete=False)
    assert list(exceeds(partly, Context())) == []
    assert list(without_group(partly, Context())) == []


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("kind: Pod\nmetadata\n  name: train-0.a", "train-0.a", True),
        ("kind: Pod\nmetadata\n  name: train-0.a", "train", False),
        ("group-name: [train, 'eval'", "eval", True),
        ("queues:\n- name: ml_team\n bad", "ml_team", True),
        (" ".join(str(number) for number in range(6_000)), "train", True),
    ],
    ids=["says-it", "says-another", "in-a-list", "with-a-line-below", "says-too-much"],
)
def test_what_a_document_that_nobody_can_read_may_hold(text: str, name: str, expected: bool) -> None:
    assert scope_of([unreadable(text)], complete=True).may_hold(name) is expected


def test_what_several_documents_that_nobody_can_read_may_hold() -> None:
    several = [unreadable("name: train"), unreadable("name: eval")]
    known = scope_of(several, complete=True)
    assert [known.may_hold(name) for name in ("train", "eval", "serve")] == [True, True, False]
    endless = unreadable(" ".join(map(str, range(6_000))))
    assert scope_of([*several, endless], complete=True).may_hold("serve")


def test_pods_that_may_stand_where_nobody_can_read_are_not_missing() -> None:
    broken = unreadable("kind: Pod\nlabels\n  pod-group.scheduling.sigs.k8s.io: train")
    known = scope_of([*facts(GROUP), broken], complete=True)
    assert list(without_group(known, Context())) == []
    assert list(exceeds(scope_of([*facts(GROUP), *facts(WORKERS), broken], complete=True), Context())) == []


def test_an_own_gang_needs_no_complete_scope_unless_it_can_be_scaled() -> None:
    job = """\
        apiVersion: batch.volcano.sh/v1alpha1
        kind: Job
        metadata: {name: train}
        spec:
          minAvailable: 3
          tasks:
          - {name: worker, replicas: 2, template: {spec: {containers: []}}}
        """
    deployment = WORKERS.replace(
        "namespace: team-a",
        'namespace: team-a\n      annotations: {scheduling.volcano.sh/group-min-member: "3"}',
        1,
    ).replace("spec:\n          containers", "spec:\n          schedulerName: volcano\n          containers")
    own = "the gang of this Deployment needs 3 members but has 2 pods"
    assert len(messages(exceeds(scope(job, complete=False), Context()))) == 1
    assert messages(exceeds(scope(deployment, complete=False), Context())) == []
    assert own in messages(exceeds(scope(deployment), Context()))
    assert own not in messages(exceeds(scope(deployment, SCALER), Context()))


def test_a_size_in_a_schedulers_annotation_counts_for_its_pods_only() -> None:
    job = """\
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: train
          annotations: {scheduling.volcano.sh/group-min-member: "3"}
        spec:
          parallelism: 2
          template: {spec: {schedulerName: SCHEDULER, restartPolicy: Never, containers: []}}
        """
    assert len(facts(job.replace("SCHEDULER", "volcano"))) == 1
    assert facts(job.replace("SCHEDULER", "koord-scheduler")) == []


def test_a_partial_document_joins_but_lacks_nothing() -> None:
    alone = scope_of(facts(WORKERS, partial=True), complete=True)
    assert list(without_group(alone, Context())) == []
    both = scope_of([*facts(WORKERS, partial=True), *facts(GROUP)], complete=True)
    assert list(without_group(both, Context())) == []
    assert list(exceeds(both, Context())) == []


def test_a_group_in_another_namespace_is_named() -> None:
    both = scope(GROUP, WORKERS.replace("team-a", "team-b"))
    found = list(without_group(both, Context()))
    assert [(one.at, one.severity) for one in found] == [
        (both.groups[0].at("name"), Severity.WARNING),
        (both.memberships[0].at("group"), Severity.ERROR),
    ]
    assert found[0].help == "pods in namespace team-b name it, but a gang stays within one namespace"
    assert found[1].message.endswith("does not exist in namespace team-b; there is one in namespace team-a")
