"""Shapes of objects: every kind of fault, what is let pass, and what bounds the walk."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from policykit.kube.structure import Problem, check
from policykit.manifests.path import Path

POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "app"},
    "spec": {"containers": [{"name": "main", "image": "app:1"}]},
}


def problems(text: str) -> tuple[Problem, ...]:
    data = yaml.safe_load(text)
    return check(data, data["apiVersion"], data["kind"])


def pod(**spec: Any) -> tuple[Problem, ...]:
    return check({**POD, "spec": {**POD["spec"], **spec}}, "v1", "Pod")


def container(**fields: Any) -> tuple[Problem, ...]:
    return pod(containers=[{"name": "main", "image": "app:1", **fields}])


C = ("spec", "containers", 0)

FAULTS: list[tuple[str, tuple[Problem, ...], Path, str, str]] = [
    (
        "text for a list",
        container(command="sh"),
        (*C, "command"),
        "wrong-type",
        'spec.containers[0].command must be a list, but is the string "sh"',
    ),
    (
        "boolean for text",
        container(env=[{"name": "DEBUG", "value": True}]),
        (*C, "env", 0, "value"),
        "wrong-type",
        "spec.containers[0].env[0].value must be a string, but is the boolean true",
    ),
    (
        "text for a boolean",
        pod(hostNetwork="true"),
        ("spec", "hostNetwork"),
        "wrong-type",
        'spec.hostNetwork must be true or false, but is the string "true"',
    ),
    (
        "fraction for a whole number",
        pod(terminationGracePeriodSeconds=1.5),
        ("spec", "terminationGracePeriodSeconds"),
        "wrong-type",
        "spec.terminationGracePeriodSeconds must be a whole number, but is the number 1.5",
    ),
    (
        "boolean for a whole number",
        pod(priority=True),
        ("spec", "priority"),
        "wrong-type",
        "spec.priority must be a whole number, but is the boolean true",
    ),
    (
        "mapping for text",
        pod(schedulerName={"name": "volcano"}),
        ("spec", "schedulerName"),
        "wrong-type",
        "spec.schedulerName must be a string, but is a mapping",
    ),
    (
        "list for a mapping, once",
        check({**POD, "spec": [{"containers": 1}, {"nonsense": 2}]}, "v1", "Pod"),
        ("spec",),
        "wrong-type",
        "spec must be a mapping, but is a list",
    ),
    (
        "outside the enum",
        pod(restartPolicy="Sometimes"),
        ("spec", "restartPolicy"),
        "bad-value",
        'spec.restartPolicy is "Sometimes", which is not one of Always, OnFailure, Never',
    ),
    (
        "below the minimum",
        container(ports=[{"containerPort": 0}]),
        (*C, "ports", 0, "containerPort"),
        "bad-value",
        "spec.containers[0].ports[0].containerPort is 0, the minimum is 1",
    ),
    (
        "above the maximum",
        container(ports=[{"containerPort": 70000}]),
        (*C, "ports", 0, "containerPort"),
        "bad-value",
        "spec.containers[0].ports[0].containerPort is 70000, the maximum is 65535",
    ),
    (
        "outside the pattern",
        pod(containers=[{"name": "Main_1", "image": "app:1"}]),
        (*C, "name"),
        "bad-value",
        'spec.containers[0].name is "Main_1", which may have only lower-case letters, digits and '
        "'-', and no '-' at either end",
    ),
    (
        "empty image",
        pod(containers=[{"name": "main", "image": ""}]),
        (*C, "image"),
        "bad-value",
        "spec.containers[0].image is empty",
    ),
    (
        "empty list of containers",
        pod(containers=[]),
        ("spec", "containers"),
        "bad-value",
        "spec.containers is an empty list",
    ),
    (
        "missing",
        pod(containers=[{"name": "main"}]),
        C,
        "missing-field",
        "spec.containers[0] (main) has no `image`",
    ),
    ("null where required", pod(containers=None), ("spec",), "missing-field", "spec has no `containers`"),
    (
        "no name",
        check({**POD, "metadata": {}}, "v1", "Pod"),
        ("metadata",),
        "missing-field",
        "the object has no `metadata.name`",
    ),
    (
        "a name with an underscore",
        check({**POD, "metadata": {"name": "my_pod"}}, "v1", "Pod"),
        ("metadata", "name"),
        "bad-value",
        "metadata.name is 'my_pod', with an underscore: names have lower-case letters, digits, '-' and '.'",
    ),
    (
        "quantity",
        container(resources={"limits": {"memory": "1.5 gb"}}),
        (*C, "resources", "limits", "memory"),
        "invalid-quantity",
        'spec.containers[0].resources.limits.memory is "1.5 gb", which is not a quantity',
    ),
    (
        "boolean for a quantity",
        container(resources={"limits": {"nvidia.com/gpu": True}}),
        (*C, "resources", "limits", "nvidia.com/gpu"),
        "wrong-type",
        "spec.containers[0].resources.limits['nvidia.com/gpu'] must be a quantity, but is the boolean true",
    ),
    (
        "negative amount",
        container(resources={"requests": {"cpu": "-1"}}),
        (*C, "resources", "requests", "cpu"),
        "bad-value",
        'spec.containers[0].resources.requests.cpu is "-1", but an amount must not be negative',
    ),
    (
        "unquoted label value",
        pod(nodeSelector={"gpu": 1}),
        ("spec", "nodeSelector", "gpu"),
        "invalid-label",
        "spec.nodeSelector.gpu is the number 1, but a label value must be a string",
    ),
    (
        "label key",
        pod(nodeSelector={"a b": "c"}),
        ("spec", "nodeSelector", "a b"),
        "invalid-label",
        'a key of spec.nodeSelector is "a b"; as a label key it must begin and end with a letter or digit, '
        "with only letters, digits, '-', '_' and '.' between",
    ),
    (
        "toleration value",
        pod(tolerations=[{"key": "usage", "value": False}]),
        ("spec", "tolerations", 0, "value"),
        "invalid-label",
        "spec.tolerations[0].value is the boolean false, but a label value must be a string",
    ),
    (
        "unknown field without a likeness",
        pod(zzz=1),
        ("spec", "zzz"),
        "unknown-field",
        "unknown field spec.zzz",
    ),
]


@pytest.mark.parametrize(
    ("found", "path", "kind", "message"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS]
)
def test_one_fault(found: tuple[Problem, ...], path: Path, kind: str, message: str) -> None:
    assert [(p.path, p.kind, p.message) for p in found] == [(path, kind, message)]


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(pod(), id="plain"),
        pytest.param(pod(nodeSelector=None, tolerations=None, affinity=None), id="null is absent"),
        pytest.param(pod(terminationGracePeriodSeconds=30.0), id="whole float"),
        pytest.param(pod(priority="$(PRIORITY)"), id="placeholder for a number"),
        pytest.param(pod(tolerations="${TOLERATIONS}"), id="placeholder for a list"),
        pytest.param(pod(restartPolicy="<policy>"), id="placeholder for an enum"),
        pytest.param(pod(nodeSelector={"$(KEY)": "{{ value }}"}), id="placeholder in labels"),
        pytest.param(pod(**{"$patch": "replace", "$(field)": 1}), id="directive and placeholder key"),
        pytest.param(pod(restartPolicy="", dnsPolicy=""), id="empty optional enum"),
        pytest.param(pod(workloadRef={"name": "w", "podGroup": "g"}), id="field of an older release"),
        pytest.param(
            container(resources={"limits": {"cpu": 0.5, "memory": 1024}}), id="numbers as quantities"
        ),
        pytest.param(
            container(
                ports=[{"containerPort": 80, "name": "http"}], livenessProbe={"httpGet": {"port": "http"}}
            )
        ),
        pytest.param(container(env=[{"name": "EMPTY", "value": None}]), id="null value"),
        pytest.param(check({**POD, "status": {"x": 1}}, "v1", "Pod"), id="status"),
        pytest.param(check({**POD, "metadata": {"generateName": "app-"}}, "v1", "Pod"), id="generateName"),
        pytest.param(check({"apiVersion": "x/v1", "kind": "Y", "spec": []}, "x/v1", "Y"), id="foreign kind"),
        pytest.param(check({"metadata": ["odd"]}, "x/v1", "Y"), id="foreign metadata"),
    ],
)
def test_nothing_wrong(found: tuple[Problem, ...]) -> None:
    assert found == ()


def test_foreign_kinds_are_judged_by_labels_and_annotations() -> None:
    data = {
        "metadata": {"labels": {"a": True}, "annotations": {"b": 5}, "other": 1},
        "spec": {"replicas": "x"},
    }
    assert [(p.path, p.kind) for p in check(data, "example.com/v1", "Widget")] == [
        (("metadata", "labels", "a"), "invalid-label"),
        (("metadata", "annotations", "b"), "wrong-type"),
    ]


def test_custom_resources_take_no_fractions_as_quantities() -> None:
    queue = {"metadata": {"name": "q"}, "spec": {"capability": {"cpu": 4.5, "memory": "4.5Gi"}}}
    assert [p.message for p in check(queue, "scheduling.volcano.sh/v1beta1", "Queue")] == [
        "spec.capability.cpu must be a whole number or text, but is the number 4.5"
    ]


def test_pods_of_custom_resources_take_no_fractions_either() -> None:
    template = {"spec": {"containers": [{"name": "a", "image": "b", "resources": {"limits": {"cpu": 0.5}}}]}}
    spec = {"headGroupSpec": {"template": template, "rayStartParams": {}}}
    cluster = {"metadata": {"name": "r"}, "spec": spec}
    (problem,) = check(cluster, "ray.io/v1", "RayCluster")
    where = "spec.headGroupSpec.template.spec.containers[0].resources.limits.cpu"
    assert problem.message == f"{where} must be a whole number or text, but is the number 0.5"
    assert problem.help == "put the value in quotes"


@pytest.mark.parametrize("cpu", [1.0, 1, "0.5", None])
def test_what_pods_of_custom_resources_take(cpu: object) -> None:
    template = {"spec": {"containers": [{"name": "a", "image": "b", "resources": {"limits": {"cpu": cpu}}}]}}
    spec = {"headGroupSpec": {"template": template, "rayStartParams": {}}}
    assert check({"metadata": {"name": "r"}, "spec": spec}, "ray.io/v1", "RayCluster") == ()


def test_a_template_that_the_api_server_does_not_read_takes_fractions() -> None:
    template = {"spec": {"containers": [{"name": "a", "resources": {"limits": {"cpu": 0.5}}}]}}
    spec = {
        "type": "Python",
        "mainApplicationFile": "local:///a.py",
        "sparkVersion": "3.5.3",
        "driver": {"template": template},
        "executor": {},
    }
    found = check(
        {"metadata": {"name": "s"}, "spec": spec}, "sparkoperator.k8s.io/v1beta2", "SparkApplication"
    )
    assert found == ()


def test_a_null_item_lacks_what_its_type_requires() -> None:
    assert [p.message for p in pod(containers=[None])] == [
        "spec.containers[0] has no `image`",
        "spec.containers[0] has no `name`",
    ]


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("16GB", "write 16Gi or 16G"),
        ("16gi", "write 16Gi"),
        ("100K", "write 100Ki or 100k"),
        ("1 Ti", "write 1Ti"),
        ("500mb", "write 500Mi or 500M"),
        ("100 m", "write 100m"),
        ("4 cores", "write 4"),
        ("4核", "write 4"),
    ],
)
def test_quantity_advice(text: str, advice: str) -> None:
    assert [p.help for p in container(resources={"limits": {"memory": text}})] == [advice]


@pytest.mark.parametrize(
    ("command", "advice"),
    [
        ("serve", 'write it as a list: ["serve"]'),
        ("sleep  60", 'write it as a list: ["sleep", "60"]'),
        ("echo 'a b'", "write it as a list, with one item for each word"),
        ("sleep " + "9" * 60, None),
    ],
)
def test_advice_of_a_command_in_one_text(command: str, advice: str | None) -> None:
    (problem,) = container(command=command)
    assert problem.message.startswith("spec.containers[0].command must be a list, but is the string ")
    assert problem.help == advice or (advice is None and problem.help.startswith("write it as a list: ["))


@pytest.mark.parametrize(
    ("value", "stands"),
    [
        (["ACCESS_KEY"], True),
        ([["size"]], True),
        ([["size", "name"]], False),
        ([[1]], False),
        ({"volume-id": None}, True),
        ({"bucket name": None}, True),
        ({"NAME": None}, True),
        (["plain"], False),
        (["A_KEY", "B_KEY"], False),
        ({"volume-id": "v"}, False),
        ({"name": None}, False),
        ([], False),
        ({}, False),
    ],
)
def test_brackets_around_a_name_stand_for_text(value: object, stands: bool) -> None:
    assert (container(image=value) == ()) is stands


@pytest.mark.parametrize(
    ("surge", "said"),
    [(1, False), ("25%", False), ("${SURGE}", False), ("MAX_SURGE", False), ("1", True), ("25 %", True)],
)
def test_a_percentage_is_a_text_with_its_sign(surge: object, said: bool) -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": POD["spec"]}
    strategy = {"rollingUpdate": {"maxSurge": surge}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template, "strategy": strategy}
    found = check({"metadata": {"name": "web"}, "spec": spec}, "apps/v1", "Deployment")
    words = "which is neither a number without quotes nor a percentage like 25%"
    message = f'spec.strategy.rollingUpdate.maxSurge is "{surge}", {words}'
    assert [(p.message, p.help) for p in found] == (
        [(message, "remove the quotes" if surge == "1" else "")] if said else []
    )


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("http", False),
        ("8080-tcp", False),
        ("a" * 15, False),
        ("${NAME}", False),
        ("a" * 16, True),
        ("metricsPort", True),
        ("8080", True),
        ("a--b", True),
        ("-a", True),
    ],
)
def test_names_of_ports(name: str, refused: bool) -> None:
    found = container(ports=[{"containerPort": 80, "name": name}])
    assert [p.path[-1] for p in found] == ["name"] * refused


def test_shared_data_is_walked_once() -> None:
    """As aliases share it: a thousand times the same container and the same selector."""
    label: dict[str, Any] = {"matchLabels": {"a": 1}}
    terms = [{"topologyKey": "zone", "labelSelector": label}] * 1000
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    both = {"containers": [POD["spec"]["containers"][0]] * 1000, "affinity": affinity}
    assert [p.kind for p in check({**POD, "spec": both}, "v1", "Pod")] == ["invalid-label", "inconsistent"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=True) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.sampled_from(
        [("v1", "Pod"), ("batch/v1", "CronJob"), ("batch.volcano.sh/v1alpha1", "Job"), ("a/b", "C")]
    ),
    st.dictionaries(st.sampled_from(["metadata", "spec", "status", "kind", "template", "name"]), JSON),
)
def test_any_data_is_judged_without_raising(kind: tuple[str, str], data: dict[str, Any]) -> None:
    assert all(isinstance(problem, Problem) for problem in check(data, *kind))
