from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from policykit.errors import PolicykitError
from policykit.generator.artifact import Role, TargetOutput
from policykit.model.cluster import Cluster
from policykit.model.queue import Preemption, Queue, Quota, Reservation, Submitters, Tenant
from policykit.model.workload import WorkloadKind
from policykit.targets.yunikorn import validation, versions
from policykit.targets.yunikorn.configuration import queues_yaml
from policykit.targets.yunikorn.generate import configuration_text, generate
from policykit.targets.yunikorn.options import QueueOptions, YuniKornOptions
from policykit.targets.yunikorn.policy_configuration import policy_configuration
from tests.clusters import policy
from tests.targets.yunikorn.clusters import GPU, TRAINING, cluster, target, trees

RESEARCH = Queue("research", limit={"cpu": 100_000, GPU: 64}, submit=Submitters(groups=("dev",)))
TEAM = Queue("team-a", "research", guarantee={GPU: 8}, limit={GPU: 32}, priority=5, reclaimable=False)


def data(generated: TargetOutput) -> dict[str, Any]:
    """queues.yaml of the ConfigMap."""
    found: dict[str, Any] = yaml.safe_load(yaml.safe_load(generated.artifacts[0].text)["data"]["queues.yaml"])
    return found


def said(made: Cluster) -> list[str]:
    return [notice.message for notice in generate(made).notices]


def test_nothing_without_the_target() -> None:
    assert generate(cluster()._replace(targets={})) == TargetOutput()


def test_a_whole_file() -> None:
    made = cluster(RESEARCH, TEAM, kinds=(TRAINING,), preemption=Preemption(reclaim=True))
    generated = generate(made)
    assert [(a.path, a.role) for a in generated.artifacts] == [
        ("yunikorn/configmap.yaml", Role.MANIFEST),
        ("yunikorn/README.md", Role.PAGE),
    ]
    assert generated.notices == ()
    assert (
        generated.artifacts[0].text
        == """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: yunikorn-configs
  namespace: yunikorn
data:
  queues.yaml: |
    # Weight of nvidia.com/gpu: one card of 8 per node outweighs vcore and
    #     memory together
    partitions:
      - name: default
        nodesortpolicy:
          type: binpacking
          resourceweights:
            memory: 1
            nvidia.com/gpu: 17
            vcore: 1
        preemption:
          enabled: true
        placementrules:
          - name: provided
          - name: tag
            value: namespace.parentqueue
          - name: tag
            value: namespace
            create: true
            parent:
              name: tag
              value: namespace.parentqueue
          - name: fixed
            value: root.default
        queues:
          - name: root
            parent: true
            queues:
              - name: research
                parent: true
                submitacl: " dev"
                resources:
                  max:
                    nvidia.com/gpu: "64"
                    vcore: "100"
                queues:
                  - name: team-a
                    properties:
                      preemption.policy: disabled
                      priority.offset: "5"
                    resources:
                      guaranteed:
                        nvidia.com/gpu: "8"
                      max:
                        nvidia.com/gpu: "32"
              - name: default
                submitacl: "*"
"""
    )


def test_helm_values() -> None:
    options = YuniKornOptions(policy_group="mine", settings={"log.level": "debug"})
    first = generate(cluster(delivery="helm-values", options=options)).artifacts[0]
    assert (first.path, first.role) == ("yunikorn/values.yaml", Role.VALUES)
    values = yaml.safe_load(first.text)["yunikornDefaults"]
    assert list(values) == ["log.level", "service.policyGroup", "mine.yaml"]
    assert values["service.policyGroup"] == "mine"


@given(trees(), st.sampled_from(["1.6.0", "1.8.0", ""]))
def test_nothing_that_yunikorn_refuses_is_generated(queues: tuple[Queue, ...], version: str) -> None:
    made = cluster(*queues, version=version)
    found = policy_configuration(made, target(made)).configuration
    written = data(generate(made))
    assert validation.problems(written, versions.parse(version)) == ()
    assert validation.failing(found) == ()
    assert queues_yaml.read(written) == found


@given(trees())
def test_every_queue_is_written_once(queues: tuple[Queue, ...]) -> None:
    made = cluster(*(queue._replace(guarantee={}, deserved={}) for queue in queues))
    found = str(data(generate(made)))
    for queue in queues:
        assert found.count(f"'name': '{queue.name}'") == 1


def rules(generated: TargetOutput) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = data(generated)["partitions"][0]["placementrules"]
    return found


@pytest.mark.parametrize(
    ("options", "last"),
    [
        (YuniKornOptions(), [{"name": "fixed", "value": "root.default"}]),
        (YuniKornOptions(fallback="b"), [{"name": "fixed", "value": "root.a.b"}]),
        (YuniKornOptions(fallback=""), []),
        (
            YuniKornOptions(namespace_queues="root", fallback=""),
            [{"name": "tag", "value": "namespace", "create": True}],
        ),
        (
            YuniKornOptions(namespace_queues="c", fallback=""),
            [
                {
                    "name": "tag",
                    "value": "namespace",
                    "create": True,
                    "parent": {"name": "fixed", "value": "root.c"},
                }
            ],
        ),
    ],
    ids=["default", "queue", "none", "namespaces-below-root", "namespaces-below-a-queue"],
)
def test_placement_rules(options: YuniKornOptions, last: list[dict[str, Any]]) -> None:
    generated = generate(cluster(Queue("a"), Queue("b", "a"), Queue("c"), options=options))
    assert rules(generated)[3:] == last


@pytest.mark.parametrize(
    ("queues", "options", "names"),
    [
        ((), YuniKornOptions(), ["default"]),
        ((Queue("default", limit={"cpu": 1000}),), YuniKornOptions(), ["default"]),
        ((Queue("a"),), YuniKornOptions(fallback="a"), ["a"]),
        ((Queue("a"),), YuniKornOptions(fallback=""), ["a"]),
        ((Queue("a"),), YuniKornOptions(rules=()), ["a"]),
    ],
    ids=["made", "of-the-policy", "other", "none", "own-rules"],
)
def test_the_fallback_is_made_where_it_is_needed(
    queues: tuple[Queue, ...], options: YuniKornOptions, names: list[str]
) -> None:
    root = data(generate(cluster(*queues, options=options)))["partitions"][0]["queues"][0]
    assert [queue["name"] for queue in root.get("queues", [])] == names


def test_a_number_of_applications_holds_below() -> None:
    options = YuniKornOptions(queues={"a": QueueOptions(applications=4), "c": QueueOptions(applications=2)})
    made = cluster(Queue("a"), Queue("b", "a"), Queue("c", "b"), options=options)
    above = data(generate(made))["partitions"][0]["queues"][0]["queues"][0]
    assert above["maxapplications"] == above["queues"][0]["maxapplications"] == 4
    assert above["queues"][0]["queues"][0]["maxapplications"] == 2


@pytest.mark.parametrize(
    ("version", "preemption", "properties"),
    [
        ("1.9.0", {"quotapreemptionenabled": True}, {"quota.preemption.delay": "1m"}),
        ("1.8.0", {"quotapreemptionenabled": True}, {"preemption.quota.delay": "1m"}),
        ("1.7.0", None, None),
    ],
)
def test_what_older_releases_do_not_know(version: str, preemption: Any, properties: Any) -> None:
    own = QueueOptions(properties={"quota.preemption.delay": "1m"})
    options = YuniKornOptions(quota_preemption=True, queues={"a": own})
    made = cluster(Queue("a"), version=version, options=options)
    found = data(generate(made))["partitions"][0]
    assert found.get("preemption") == preemption
    assert found["queues"][0]["queues"][0].get("properties") == properties
    if preemption is None:
        assert said(made) == [
            "quotaPreemption requires YuniKorn 1.8.0 or later: left out",
            "property quota.preemption.delay of queue a requires YuniKorn 1.8.0 or later: left out",
        ]


HIGH = QueueOptions(properties={"priority.policy": "high"})


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (cluster(version="newest"), "'newest' is not a release of YuniKorn"),
        (cluster(delivery="post-render"), "delivery post-render is not known for YuniKorn"),
        (
            cluster(Queue("a", guarantee={GPU: 4}), Queue("b", "a", guarantee={GPU: 8})),
            f"YuniKorn would refuse the queues: the queues below a are guaranteed 8 {GPU} in total, "
            "but a only 4",
        ),
        (
            cluster(options=YuniKornOptions(fallback="gone")),
            "YuniKorn would refuse the queues: placement rule for root.gone: queue gone does not exist "
            "and create is not true",
        ),
        (
            cluster(Queue("a"), options=YuniKornOptions(queues={"a": HIGH})),
            "property priority.policy of queue a is 'high', not default or fence",
        ),
        (
            cluster(options=YuniKornOptions(settings={"log.level": "loud"})),
            "setting log.level is 'loud', not a level from debug to fatal or -1 to 5",
        ),
    ],
    ids=["version", "delivery", "guarantee", "fallback", "property", "setting"],
)  # fmt: skip
def test_refused(made: Cluster, message: str) -> None:
    with pytest.raises(PolicykitError) as error:
        generate(made)
    assert error.value.message == message
    assert error.value.hint


PREFERRING = WorkloadKind("t", ("a", "b"), {"a": 100, "b": 1}, scheduler="yunikorn")


@pytest.mark.parametrize(
    ("made", "beginning"),
    [
        (cluster(Queue("a", weight=2)), "weight of queue a has no counterpart"),
        (
            cluster(Queue("a", submit=Submitters(("a:b",)))),
            "queue a: YuniKorn's access lists cannot name a:b: left out",
        ),
        (cluster(preemption=Preemption(within_queue=True)), "preemption within a queue"),
        (cluster(Queue("a"), preemption=Preemption(reclaim=True)), "no queue has a guarantee"),
        (
            cluster(reservations=(Reservation("eval", {GPU: 8}),)),
            "reservation eval: YuniKorn reserves no capacity",
        ),
        (cluster(kinds=(PREFERRING,)), "preferred usages of workload kind t have no effect"),
        (
            cluster(Queue("a"), tenants=(Tenant("t", ("n",), "a", ("ann",)),)),
            "users and groups of tenant t do not restrict its queue",
        ),
        (cluster(Queue("a"), tenants=(Tenant("t", ("n",)),)), "tenant t has no queue"),
        (
            cluster(
                Queue("a"),
                kinds=(TRAINING._replace(gang="all", queue="a"),),
                options=YuniKornOptions(
                    queues={"a": QueueOptions(properties={"application.sort.policy": "fair"})}
                ),
            ),
            "queue a sorts applications fair, where YuniKorn rejects gangs",
        ),
        (
            cluster(
                Queue("a"),
                Queue("b", "a", submit=Submitters(("ann",))),
                tenants=(Tenant("t", ("n",), "a"),),
            ),
            "namespaces with a queue of their own below root.a: their pods are rejected",
        ),
    ],
    ids=[
        "weight",
        "names",
        "within-queue",
        "reclaim",
        "reservation",
        "preferred",
        "people-of-tenant",
        "no-queue",
        "fair-gang",
        "closed",
    ],
)
def test_what_cannot_be_said(made: Cluster, beginning: str) -> None:
    (notice,) = said(made)
    assert notice.startswith(beginning)


def test_namespaces_of_tenants() -> None:
    quotas = (
        Quota("res", "one", {"cpu": 4000, GPU: 4}),
        Quota("res", "two", {GPU: 2}),
        Quota("res", "high", {"cpu": 1000}, priorities=("high",)),
    )
    tenants = (Tenant("r", ("res",), "research"), Tenant("a", ("a", "b"), "team-a"), Tenant("none", ("c",)))
    made = cluster(RESEARCH._replace(submit=None), TEAM, tenants=tenants, quotas=quotas)
    files = {artifact.path: artifact for artifact in generate(made).artifacts}
    assert sorted(files) == [
        "yunikorn/README.md",
        "yunikorn/configmap.yaml",
        "yunikorn/namespaces/a/a.yaml",
        "yunikorn/namespaces/a/b.yaml",
        "yunikorn/namespaces/kustomization.yaml",
        "yunikorn/namespaces/r/res.yaml",
    ]
    assert {files[path].role for path in files if "namespaces" in path} == {Role.COMPONENT}
    assert yaml.safe_load(files["yunikorn/namespaces/kustomization.yaml"].text)["patches"] == [
        {"path": "a/a.yaml", "target": {"kind": "Namespace", "name": "a"}},
        {"path": "a/b.yaml", "target": {"kind": "Namespace", "name": "b"}},
        {"path": "r/res.yaml", "target": {"kind": "Namespace", "name": "res"}},
    ]
    assert yaml.safe_load(files["yunikorn/namespaces/r/res.yaml"].text)["metadata"] == {
        "name": "res",
        "annotations": {
            "yunikorn.apache.org/parentqueue": "root.research",
            "yunikorn.apache.org/namespace.quota": '{"cpu": "4", "nvidia.com/gpu": "2"}',
        },
    }
    assert (
        "kubectl annotate --overwrite namespace a "
        "yunikorn.apache.org/parentqueue='root.research.team-a'\n" in files["yunikorn/README.md"].text
    )


def test_options_of_a_policy() -> None:
    stated = {
        "version": "1.9.0",
        "fallback": "a",
        "placementRules": [
            {
                "name": "tag",
                "value": "namespace",
                "create": True,
                "filter": {"type": "deny", "users": ["ann"]},
                "parent": {"name": "fixed", "value": "root.p"},
            },
        ],
        "nodeSort": {"type": "fair", "weights": {"cpu": 1, "h20": 4.5}},
        "quotaPreemption": True,
        "queues": {
            "root": {"limits": [{"users": ["*"], "max": {"h20": 4}, "maxApplications": 2}]},
            "p": {
                "admins": {"users": ["bob"]},
                "properties": {"application.sort.priority": "disabled"},
                "childTemplate": {"guarantee": {"h20": 1}, "limit": {"cpu": 4}, "maxApplications": 3},
            },
        },
    }
    made = policy(
        {
            "domain": "example.com",
            "cards": {"h20": {"product": "NVIDIA-H20"}},
            "pools": {"train": {"card": "h20", "usage": "training", "nodes": 4}},
            "queues": {"p": {}, "a": {"parent": "p"}},
            "targets": {"yunikorn": {**stated, "delivery": "manifest"}},
        }
    )
    found = data(generate(made))["partitions"][0]
    assert found["nodesortpolicy"] == {"type": "fair", "resourceweights": {GPU: 4.5, "vcore": 1}}
    assert found["preemption"] == {"quotapreemptionenabled": True}
    assert found["placementrules"] == [
        {
            "name": "tag",
            "value": "namespace",
            "create": True,
            "filter": {"type": "deny", "users": ["ann"]},
            "parent": {"name": "fixed", "value": "root.p"},
        }
    ]
    root = found["queues"][0]
    assert root["limits"] == [{"users": ["*"], "maxapplications": 2, "maxresources": {GPU: "4"}}]
    assert root["queues"] == [
        {
            "name": "p",
            "parent": True,
            "adminacl": "bob",
            "properties": {"application.sort.priority": "disabled"},
            "childtemplate": {
                "maxapplications": 3,
                "resources": {"guaranteed": {GPU: "1"}, "max": {"vcore": "4"}},
            },
            "queues": [{"name": "a"}],
        }
    ]


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"schedulerName": "mine"}, "YuniKorn serves only schedulerName yunikorn, not mine"),
        (
            {"version": "1.7.0", "quotaPreemption": True},
            "YuniKorn 1.7.0 has no quota preemption (added in 1.8)",
        ),
        ({"fallback": "gone"}, "'gone' is not a queue of this policy"),
        ({"namespaceQueues": "default"}, "'default' is not a queue of this policy"),
        ({"queues": {"gone": {}}}, "'gone' is not a queue of this policy"),
        ({"nodeSort": {"weights": {"cpu": -1.5}}}, "weight of cpu is -1.5, below 0"),
    ],
    ids=["scheduler", "version", "fallback", "namespaces", "queue", "weight"],
)
def test_options_that_cannot_be(stated: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicykitError) as error:
        policy({"queues": {"a": {}}, "targets": {"yunikorn": stated}})
    assert error.value.message == message


def test_reasons_stand_on_top_as_comments() -> None:
    made = cluster(Queue("a"))
    shown = configuration_text(policy_configuration(made, target(made)))
    assert shown.startswith("# Weight of nvidia.com/gpu: one card of 8 per node outweighs")
    assert queues_yaml.read(yaml.safe_load(shown)) == policy_configuration(made, target(made)).configuration


@pytest.mark.parametrize("version", [str(each) for each in versions.RELEASES.minors])
def test_every_release_accepts_its_file(version: str) -> None:
    """As its loader checks it; before 1.4 no rule may name a leaf."""
    made = cluster(RESEARCH, TEAM, version=version)
    old = version == "1.3.0"
    assert validation.problems(data(generate(made)), versions.parse(version)) == ()
    assert [rule["value"] for rule in rules(generate(made)) if rule["name"] == "fixed"] == (
        [] if old else ["root.default"]
    )
    assert any("none is written for default" in each for each in said(made)) == old
