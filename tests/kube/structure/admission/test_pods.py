"""Pod specs of built-in kinds that the API server refuses."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from policykit.kube.structure import check
from policykit.kube.structure.problem import CONFLICTING, INCONSISTENT, MISSING_REFERENCE

POD = """
apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  volumes: VOLUMES
  resourceClaims: CLAIMS
  initContainers:
  - name: fetch
    image: registry.example.com/fetch:1
    volumeMounts: [{name: data, mountPath: /data}]
  containers:
  - name: main
    image: registry.example.com/train:1
    volumeMounts: [{name: data, mountPath: /data}]
    resources: {claims: [{name: gpu}]}
"""
STATEFUL = """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers:
      - name: main
        image: registry.example.com/db:1
        volumeMounts: [{name: data, mountPath: /data}]
  volumeClaimTemplates:
  - metadata: {name: NAME}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
"""
CLAIM = "{name: gpu, resourceClaimName: one}"


def said(text: str) -> list[tuple[str, str]]:
    data: dict[str, Any] = yaml.safe_load(text)
    return [(found.kind, found.message) for found in check(data, data["apiVersion"], data["kind"])]


def pod(volumes: str, claims: str = f"[{CLAIM}]") -> str:
    return POD.replace("VOLUMES", volumes).replace("CLAIMS", claims)


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (pod("[{name: data, emptyDir: {}}]"), []),
        (
            pod("[{name: date, emptyDir: {}}]"),
            [
                (
                    MISSING_REFERENCE,
                    'spec.initContainers[0].volumeMounts[0].name is "data", not a volume of the pod: '
                    "it has date",
                ),
                (
                    MISSING_REFERENCE,
                    'spec.containers[0].volumeMounts[0].name is "data", not a volume of the pod: it has date',
                ),
            ],
        ),
        (
            pod("null"),
            [
                (
                    MISSING_REFERENCE,
                    'spec.initContainers[0].volumeMounts[0].name is "data", not a volume of the pod',
                ),
                (
                    MISSING_REFERENCE,
                    'spec.containers[0].volumeMounts[0].name is "data", not a volume of the pod',
                ),
            ],
        ),
        (pod('[{name: "$(NAME)", emptyDir: {}}]'), []),
        (pod("[{name: DATA_VOLUME, emptyDir: {}}]"), []),
        (
            pod("[{name: data, emptyDir: {}}]", "[{name: gpus, resourceClaimName: one}]"),
            [
                (
                    INCONSISTENT,
                    'spec.containers[0].resources.claims[0].name is "gpu", not a claim of the pod: '
                    "it has gpus",
                )
            ],
        ),
        (pod("[{name: data, emptyDir: {}}]", '[{name: "{{ x }}", resourceClaimName: one}]'), []),
        (STATEFUL.replace("NAME", "data"), []),
        (
            STATEFUL.replace("NAME", "disk"),
            [
                (
                    MISSING_REFERENCE,
                    'spec.template.spec.containers[0].volumeMounts[0].name is "data", '
                    "not a volume of the pod: it has disk",
                )
            ],
        ),
    ],
)
def test_names_of_volumes_and_claims(text: str, problems: list[tuple[str, str]]) -> None:
    assert said(text) == problems


GATED = """
apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  nodeName: NODE
  schedulingGates: GATES
  containers: [{name: main, image: registry.example.com/train:1}]
"""


@pytest.mark.parametrize(
    ("node", "gates", "refused"),
    [("gpu-1", "[{name: example.com/data}]", True), ("gpu-1", "[]", False), ('""', "[{name: a/b}]", False)],
)
def test_a_pod_with_a_gate_has_no_node_yet(node: str, gates: str, refused: bool) -> None:
    message = "spec.nodeName conflicts with schedulingGates: the API server refuses such a pod"
    text = GATED.replace("NODE", node).replace("GATES", gates)
    assert said(text) == ([(CONFLICTING, message)] if refused else [])


LIMITED = """
apiVersion: v1
kind: Pod
metadata: {name: serve}
spec:
  resources: {limits: {cpu: 4, memory: 16Gi}}
  containers:
  - {name: main, image: "registry.example.com/m:1", resources: {limits: {cpu: CPU, memory: 16Gi}}}
  - {name: side, image: "registry.example.com/s:1", resources: {limits: {memory: 8Gi}}}
"""


@pytest.mark.parametrize(("cpu", "refused"), [("8", True), ("4000m", False), ('"${CPU}"', False)])
def test_limits_of_containers_are_within_that_of_their_pod(cpu: str, refused: bool) -> None:
    message = "spec.containers[0].resources.limits.cpu is 8, above 4 of the pod"
    assert said(LIMITED.replace("CPU", cpu)) == ([(CONFLICTING, message)] if refused else [])


PAGES = """
apiVersion: v1
kind: Pod
metadata: {name: serve}
spec:
  volumes: [{name: pages, emptyDir: {medium: MEDIUM}}]
  containers:
  - name: main
    image: registry.example.com/serve:1
    volumeMounts: [{name: pages, mountPath: /pages}]
    resources: {limits: {cpu: 1, memory: 1Gi, RESOURCE: SIZE}}
"""


@pytest.mark.parametrize(
    ("medium", "resource", "size", "refused"),
    [
        ("HugePages", "nvidia.com/gpu", "1", True),
        ("HugePages-1Gi", "hugepages-2Mi", "1Gi", True),
        ("HugePages", "hugepages-2Mi", "1Gi", False),
        ("HugePages-2Mi", "hugepages-2Mi", '"${PAGES}"', False),
    ],
)
def test_pages_of_a_volume_are_requested(medium: str, resource: str, size: str, refused: bool) -> None:
    text = PAGES.replace("MEDIUM", medium).replace("RESOURCE", resource).replace("SIZE", size)
    found = [message for _, message in said(text) if "medium" in message]
    there = f"spec.volumes[0].emptyDir.medium is {medium}"
    assert found == ([f"{there}, but no container requests any: the pod never starts"] if refused else [])


def test_pages_of_several_sizes_need_a_medium_of_one() -> None:
    text = PAGES.replace("RESOURCE: SIZE", "hugepages-2Mi: 4Mi, hugepages-1Gi: 1Gi")
    found = [message for _, message in said(text.replace("MEDIUM", "HugePages")) if "medium" in message]
    assert found == ["spec.volumes[0].emptyDir.medium is HugePages, but the pod requests pages of 2 sizes"]
    assert not [
        message for _, message in said(text.replace("MEDIUM", "HugePages-1Gi")) if "medium" in message
    ]


CONTROLLER = """
apiVersion: apps/v1
kind: KIND
metadata: {name: web}
spec:
  selector: {matchExpressions: [{key: app, EXPRESSION}]}
  template:
    metadata: {labels: {app: web, tier: "${TIER}"}}
    spec:
      EXTRA
      containers: [{name: main, image: registry.example.com/web:1}]
"""


def controller(expression: str = "operator: Exists", extra: str = "", kind: str = "Deployment") -> str:
    """With `open` the pods have a label that is not known yet."""
    text = CONTROLLER if extra == "open" else CONTROLLER.replace("${TIER}", "front")
    extra = extra.replace("open", "")
    return text.replace("EXPRESSION", expression).replace("EXTRA", extra).replace("KIND", kind)


@pytest.mark.parametrize(
    ("expression", "pods"),
    [
        ("operator: Exists", None),
        ("operator: In, values: [web, api]", None),
        ("operator: NotIn, values: [api]", None),
        ('operator: In, values: ["$(APP)"]', None),
        ("operator: DoesNotExist", '"web"'),
        ("operator: In, values: [api]", '"web"'),
        ("operator: NotIn, values: [web]", '"web"'),
    ],
)
def test_expressions_of_a_selector(expression: str, pods: str | None) -> None:
    operator = expression.split(",")[0].removeprefix("operator: ")
    message = f"spec.selector.matchExpressions[0] requires app {operator}, but its own pods have {pods}"
    assert said(controller(expression)) == ([(INCONSISTENT, message)] if pods else [])
    assert said(controller(expression, "open")) == []


def test_an_expression_about_another_label() -> None:
    text = controller().replace("key: app", "key: team")
    message = "spec.selector.matchExpressions[0] requires team Exists, but its own pods have no such label"
    assert said(text) == [(INCONSISTENT, message)]


@pytest.mark.parametrize("kind", ["DaemonSet", "Deployment", "ReplicaSet"])
def test_pods_that_are_replaced_take_no_end(kind: str) -> None:
    assert said(controller(extra="restartPolicy: Always", kind=kind)) == []
    assert said(controller(extra='restartPolicy: "${POLICY}"', kind=kind)) == []
    assert said(controller(extra="restartPolicy: Never", kind=kind)) == [
        (CONFLICTING, f"spec.template.spec.restartPolicy is Never; a {kind} only allows Always")
    ]
    assert said(controller(extra="activeDeadlineSeconds: 60", kind=kind)) == [
        (CONFLICTING, f"spec.template.spec.activeDeadlineSeconds is 60, which a {kind} does not support")
    ]


def test_two_volumes_at_one_place() -> None:
    text = pod("[{name: data, emptyDir: {}}]").replace(
        "volumeMounts: [{name: data, mountPath: /data}]\n    resources",
        "volumeMounts: [{name: data, mountPath: /a}, {name: data, mountPath: /a}]\n    resources",
    )
    message = 'spec.containers[0].volumeMounts[1].mountPath is "/a", where another volume is already mounted'
    assert said(text) == [(INCONSISTENT, message)]
    assert said(text.replace("mountPath: /a}]", "mountPath: /b}]")) == []


WEB = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  volumes: VOLUMES
  initContainers: [{name: first, image: registry.example.com/first:1, INITIAL}]
  containers: [{name: main, image: registry.example.com/web:1, CONTAINER}]
"""
SERVED = """
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: chat}
spec:
  predictor:
    containers: [{name: main, image: registry.example.com/chat:1, readinessProbe: {periodSeconds: 5}}]
"""


def said_of(container: str = "", initial: str = "", volumes: str = "[]") -> list[tuple[str, str]]:
    text = WEB.replace("CONTAINER", container).replace("INITIAL", initial).replace("VOLUMES", volumes)
    return [(found.kind, found.message) for found in check(yaml.safe_load(text), "v1", "Pod")]


@pytest.mark.parametrize(
    "container",
    [
        "livenessProbe: {tcpSocket: {port: a}, successThreshold: 1}, ports: [{name: a, containerPort: 1}]",
        "livenessProbe: {tcpSocket: {port: web}}, ports: [{name: '${NAME}', containerPort: 1}]",
        "readinessProbe: {tcpSocket: {port: 80}, successThreshold: 3}",
        "startupProbe: {exec: {command: [ready]}, httpGet: null}",
        "livenessProbe: null",
        'livenessProbe: {"...": }',
        "livenessProbe: {'{{ include probe }}': }",
        "ports: [{name: a, containerPort: 1}, {name: b, containerPort: 2}, {containerPort: 3}]",
        "ports: [{name: HTTP_PORT, containerPort: 1}, {name: HTTP_PORT, containerPort: 2}]",
    ],
)
def test_nothing_to_say(container: str) -> None:
    assert said_of(container) == []


_NAMED = "[{containerPort: 1}, {name: b, containerPort: 2}]"


@pytest.mark.parametrize(("ports", "known"), [("null", ""), (_NAMED, ": it has b")])
def test_a_probe_asks_a_port_that_the_container_calls_so(ports: str, known: str) -> None:
    place = "spec.containers[0].readinessProbe.httpGet.port"
    said = f'{place} is "web", which no port of the container is called{known}'
    probe = "readinessProbe: {httpGet: {port: web}}"
    assert said_of(f"{probe}, ports: {ports}") == [(MISSING_REFERENCE, said)]


@pytest.mark.parametrize(
    ("container", "problem"),
    [
        pytest.param(
            "livenessProbe: {periodSeconds: 5}",
            (
                INCONSISTENT,
                "spec.containers[0].livenessProbe has no handler: none of exec, grpc, httpGet, tcpSocket",
            ),
            id="no handler",
        ),
        pytest.param(
            "readinessProbe: {tcpSocket: {port: 80}, httpGet: {port: 80}}",
            (
                CONFLICTING,
                "spec.containers[0].readinessProbe.tcpSocket conflicts with httpGet: "
                "a probe takes only one of them",
            ),
            id="two handlers",
        ),
        pytest.param(
            "startupProbe: {tcpSocket: {port: 80}, successThreshold: 2}",
            (
                CONFLICTING,
                "spec.containers[0].startupProbe.successThreshold is 2, but must be 1 for this probe",
            ),
            id="threshold",
        ),
        pytest.param(
            "ports: [{name: http, containerPort: 1}, {name: http, containerPort: 2}]",
            (
                INCONSISTENT,
                'spec.containers[0].ports[1].name is "http", '
                "which is also the name of spec.containers[0].ports[0]",
            ),
            id="one port name twice",
        ),
    ],
)
def test_refused(container: str, problem: tuple[str, str]) -> None:
    assert said_of(container) == [problem]


def test_probes_of_init_containers() -> None:
    probe = "livenessProbe: {httpGet: {port: 80}}"
    message = "spec.initContainers[0].livenessProbe is on an init container, which cannot have probes"
    assert said_of(initial=probe) == [(CONFLICTING, message)]
    assert said_of(initial=f"restartPolicy: Always, {probe}") == []


def test_volumes() -> None:
    assert said_of(volumes="[{name: a}, {name: b, emptyDir: {}, hostPath: null}]") == []
    assert said_of(volumes="[{name: a, emptyDir: {}}, {name: a, emptyDir: {}}]") == [
        (INCONSISTENT, 'spec.volumes[1].name is "a", which is also the name of spec.volumes[0]')
    ]
    assert said_of(volumes="[{name: a, emptyDir: {}, hostPath: {path: /data}}]") == [
        (CONFLICTING, "spec.volumes[0].hostPath conflicts with emptyDir: a volume has one source")
    ]


def test_knative_fills_in_what_a_probe_asks() -> None:
    assert check(yaml.safe_load(SERVED), "serving.kserve.io/v1beta1", "InferenceService") == ()


UNMOUNTABLE = "which no kubelet can mount: the pod never starts"


@pytest.mark.parametrize(
    ("medium", "said"),
    [
        (
            "memory",
            ["spec.volumes[0].emptyDir.medium is memory, which no kubelet can mount: the pod never starts"],
        ),
        ("Memory", []),
        ("HugePages-2Mi", []),
        ("", []),
    ],
)
def test_media(medium: str, said: list[str]) -> None:
    spec = {
        "containers": [
            {"name": "main", "image": "app:1", "resources": {"limits": {"cpu": 1, "hugepages-2Mi": "1Gi"}}}
        ],
        "volumes": [{"name": "shm", "emptyDir": {"medium": medium}}],
    }
    data = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec}
    assert [problem.message for problem in check(data, "v1", "Pod")] == said
