"""Serving and autoscaling: KServe, Knative, KEDA."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube import cron
from policykit.kube.placeholders import is_filled_in
from policykit.kube.structure.admission.checks import (
    Data,
    name_of,
    not_below,
    one_of,
    ordered,
    refused,
    service_name,
)
from policykit.kube.structure.admission.serving_workers import KSERVE, SCALER, several_nodes
from policykit.kube.structure.problem import BAD_VALUE
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import digits, mapping, numbered, whole
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple
from policykit.nearest import one_edit_apart

_LEAST = ("autoscaling.knative.dev/min-scale", "autoscaling.knative.dev/minScale")
_MOST = ("autoscaling.knative.dev/max-scale", "autoscaling.knative.dev/maxScale")
_AUTOSCALING = "autoscaling.knative.dev"
_ANNOTATIONS: Path = ("spec", "template", "metadata", "annotations")


_SCALERS = ("hpa", "external", "keda", "none")
_MODE = "serving.kserve.io/deploymentMode"
_RAW, _KNATIVE = ("Standard", "RawDeployment"), ("Knative", "Serverless")
"""Deployment modes, and what earlier releases call them."""
_CLASS, _HPA = "autoscaling.knative.dev/class", "hpa.autoscaling.knative.dev"
_FORMATS = (
    *("catboost", "huggingface", "keras", "lightgbm", "mlflow", "onnx", "paddle", "pmml", "pytorch"),
    *("sklearn", "tensorflow", "tensorrt", "triton", "xgboost"),
)
"""Model formats of the runtimes that KServe ships. Source: config/runtimes (0.10 to 0.17)."""
_OF_HPA, _OF_KNATIVE = ("cpu", "memory"), ("concurrency", "rps")
"""What is measured for each autoscaler."""


def _model_format(predictor: Data) -> Iterator[Problem]:
    """Another runtime may serve any format, so only what is nearly a known one is a mistake."""
    path: Path = ("model", "modelFormat", "name")
    name = lookup(predictor, path)
    near = next((each for each in _FORMATS if isinstance(name, str) and one_edit_apart(name, each)), "")
    if near:
        yield refused(
            ("spec", "predictor", *path),
            f"is {name}, which no runtime that KServe ships has: without one the model does not start",
            f"did you mean {near}?",
            Severity.WARNING,
            kind=BAD_VALUE,
        )


def inference_service(data: Data) -> Iterator[Problem]:
    """Sources: `ComponentExtensionSpec.Validate`, `validateInferenceService` and what it calls (v0.17); a
    maximum of 0 is none."""
    who = KSERVE
    yield from service_name(data, who)
    yield from _mode(data)
    predictor = mapping(lookup(data, ("spec", "predictor")))
    yield from _implementations(predictor)
    yield from _model_format(predictor)
    yield from several_nodes(data)
    annotations = mapping(lookup(data, ("metadata", "annotations")))
    yield from _stored(predictor, annotations.get(_MODE))
    scaler = annotations.get(SCALER)
    if isinstance(scaler, str) and scaler not in _SCALERS and not is_filled_in(scaler):
        near = next((each for each in _SCALERS if each == scaler.lower()), "")
        yield refused(
            ("metadata", "annotations", SCALER),
            f'is "{scaler}", which is not an autoscaler of KServe: its webhook refuses that',
            f"write {near}" if near else f"known: {', '.join(_SCALERS)}",
        )
    measured = _measured(annotations)
    for component in ("predictor", "transformer", "explainer"):
        base: Path = ("spec", component)
        there = lookup(data, base)
        if not isinstance(there, dict):
            continue
        if there.get("scaleMetric") is not None and measured:
            yield from _metric(there["scaleMetric"], (*base, "scaleMetric"), measured)
        yield from _target(there, base, measured)
        if there.get("maxReplicas") != 0:
            yield from ordered(there, base, "minReplicas", "maxReplicas", who)
        for field in ("minReplicas", "maxReplicas", "containerConcurrency"):
            yield from not_below(there, base, field, 0, who)
        yield from _sources(there, base)
        if there.get("deploymentStrategy") is not None and annotations.get(_MODE) in _KNATIVE:
            what = f"conflicts with {_MODE}: {annotations[_MODE]}"
            yield refused((*base, "deploymentStrategy"), what, f"delete it: {who}", key=True)
        share = whole(there.get("canaryTrafficPercent"))
        if share is not None and not 0 <= share <= 100:
            yield refused(
                (*base, "canaryTrafficPercent"), f"is {share}", "write 0 to 100: Knative refuses the route"
            )
        workers = there.get("workerSpec")
        if isinstance(workers, dict):
            for field in ("pipelineParallelSize", "tensorParallelSize"):
                yield from not_below(workers, (*base, "workerSpec"), field, 1, who)


def _target(component: Data, base: Path, measured: _Measured | None) -> Iterator[Problem]:
    """A share of the cpu that pods request. Source: `validateScalingHPACompExtension` (v0.12 to 0.17)."""
    target = whole(component.get("scaleTarget"))
    by_cpu = component.get("scaleMetric", "cpu") == "cpu"
    if measured and measured.metrics == _OF_HPA and by_cpu and target is not None and not 1 <= target <= 100:
        what = f"is {target}, but it is the share of cpu in use"
        yield refused((*base, "scaleTarget"), what, f"write 1 to 100: {KSERVE}", measured.severity)


_MODES = (*_RAW, *_KNATIVE, "ModelMesh")


def _mode(data: Data) -> Iterator[Problem]:
    """Source: `GetDeploymentMode` (KServe v0.12 to 0.17): another word is none."""
    path: Path = ("metadata", "annotations", _MODE)
    who = "KServe takes its default mode instead"
    for problem in one_of(data, path, _MODES, who):
        yield problem._replace(severity=Severity.WARNING)


_MODELS = (
    *("huggingface", "lightgbm", "model", "onnx", "paddle", "pmml"),
    *("pytorch", "sklearn", "tensorflow", "triton", "xgboost"),
)
_MAIN = "kserve-container"


def _stored(predictor: Data, mode: object) -> Iterator[Problem]:
    """Source: `processInferenceService` of ModelMesh Serving (v0.12), which reads models from storage."""
    if mode != "ModelMesh":
        return
    for field in _MODELS:
        model = predictor.get(field)
        if isinstance(model, dict) and not any(model.get(each) for each in ("storageUri", "storage")):
            what = "has neither storageUri nor storage, and ModelMesh reads models from storage alone"
            yield refused(("spec", "predictor", field), what, "add storageUri", Severity.WARNING, key=True)


def _implementations(predictor: Data) -> Iterator[Problem]:
    """Exactly one program predicts. Source: `validateExactlyOneImplementation` (v0.12 to 0.17)."""
    there = [field for field in _MODELS if isinstance(predictor.get(field), dict)]
    main = [at for at, each in numbered(predictor.get("containers")) if name_of(each) == _MAIN]
    path: Path = ("spec", "predictor")
    if len(there) > 1:
        what = f"conflicts with {there[0]}: a predictor has one"
        yield refused((*path, there[1]), what, f"delete one of the two: {KSERVE}", key=True)
    elif there and main:
        what = f"is {_MAIN}, but there is {there[0]} too"
        yield refused((*path, "containers", main[0], "name"), what, f"delete one of the two: {KSERVE}")
    for field in there:
        name = name_of(predictor[field])
        if name and name != _MAIN:
            yield refused(
                (*path, field, "name"),
                f"is {name}, but KServe finds the container of a model by the name {_MAIN}",
                "delete it: the model is then not brought to the container, or the revision fails",
                Severity.WARNING,
            )


def _sources(component: Data, base: Path) -> Iterator[Problem]:
    """Source: `validateStorageURISpec` and `validateMultipleStorageURIs` (v0.16 to 0.17)."""
    listed: Path = (*base, "storageUris")
    if component.get("storageUris") and lookup(component, ("model", "storageUri")) is not None:
        what = "conflicts with storageUri of model: a model comes from one of them"
        yield refused(listed, what, f"delete one of the two: {KSERVE}", key=True)
    for position, each in numbered(component.get("storageUris")):
        place = each.get("mountPath")
        if not isinstance(place, str) or not place or is_filled_in(place):
            continue
        if place == "/" or not place.startswith("/") or ".." in place:
            advice = f"write the full path of a folder: {KSERVE}"
            yield refused((*listed, position, "mountPath"), f"is {place}", advice)


class _Measured(NamedTuple):
    """What the autoscaler of an InferenceService takes as scaleMetric."""

    metrics: tuple[str, ...]
    by: str
    severity: Severity | None


def _measured(annotations: Data) -> _Measured | None:
    """None: KServe's own configuration decides. RawDeployment is judged in another way since 0.16."""
    mode, scaler, knative = (annotations.get(key) for key in (_MODE, SCALER, _CLASS))
    severity = None if mode == _RAW[0] else Severity.WARNING
    if mode in _RAW and scaler == "hpa":
        return _Measured(_OF_HPA, "the HorizontalPodAutoscaler", severity)
    if mode in _RAW and scaler is None:  # which it is by default
        return _Measured(_OF_HPA, "the HorizontalPodAutoscaler", Severity.WARNING)
    if mode in _RAW and scaler == "keda":
        return _Measured((), "KEDA", severity)
    if mode in _KNATIVE and knative == _HPA:
        return _Measured(_OF_HPA, _HPA, None)
    return _Measured(_OF_KNATIVE, "Knative's autoscaler", None) if mode in _KNATIVE and not knative else None


def _metric(metric: object, path: Path, measured: _Measured) -> Iterator[Problem]:
    if not isinstance(metric, str) or metric in measured.metrics or is_filled_in(metric):
        return
    known = " or ".join(measured.metrics)
    takes, help_ = (
        (f"takes {known}", f"write {known}") if known else ("reads autoScaling.metrics", "delete it")
    )
    yield refused(path, f"is {metric}, but {measured.by} {takes}", f"{help_}: {KSERVE}", measured.severity)


_REVISION = "Knative's webhook refuses it"
_OF_PROXY = frozenset({8008, 8012, 8013, 8022, 9090, 9091})
"""Ports of the proxy that Knative adds to each pod."""
_PROTOCOLS = ("", "h2c", "http1")


def _ports(data: Data) -> Iterator[Problem]:
    """Sources: `validateContainersPorts` and `validateContainerPorts` (Knative v1.12 to 1.20)."""
    base: Path = ("spec", "template", "spec", "containers")
    listed = [
        ((*base, number, "ports", position), port)
        for number, container in numbered(lookup(data, base))
        for position, port in numbered(container.get("ports"))
    ]
    for path, _ in listed[1:2]:
        yield refused(path, "is one port too many: a revision has one", f"delete it: {_REVISION}")
    for path, port in listed[:1]:
        number, name = whole(port.get("containerPort")), port.get("name", "")
        if number in _OF_PROXY:
            what = f"is {number}, which the proxy beside the container takes"
            yield refused((*path, "containerPort"), what, f"write another port: {_REVISION}")
        if isinstance(name, str) and name not in _PROTOCOLS and not is_filled_in(name):
            what = f"is {name}, but the name of the port is its protocol"
            yield refused((*path, "name"), what, f"write http1 or h2c, or delete it: {_REVISION}")
        protocol = port.get("protocol", "TCP")
        if isinstance(protocol, str) and protocol != "TCP" and not is_filled_in(protocol):
            yield refused((*path, "protocol"), f"is {protocol}", f"write TCP, or delete it: {_REVISION}")


def knative(data: Data) -> Iterator[Problem]:
    """Sources: `ValidateAnnotations` of Knative's autoscaling (v1.20), where a maximum of 0 is none, and
    `ValidateHasNoAutoscalingAnnotation`."""
    yield from _ports(data)
    for key in mapping(lookup(data, ("metadata", "annotations"))):
        if isinstance(key, str) and key.startswith(_AUTOSCALING):
            what = "is of the revision, not of the object"
            help_ = "move it to spec.template.metadata.annotations: Knative's webhook refuses it"
            yield refused(("metadata", "annotations", key), what, help_, key=True)
    annotations = lookup(data, _ANNOTATIONS)
    if not isinstance(annotations, dict):
        return
    low = next((key for key in _LEAST if key in annotations), "")
    high = next((key for key in _MOST if key in annotations), "")
    least, most = digits(annotations.get(low)), digits(annotations.get(high))
    if least is not None and most and least > most:
        help_ = "raise max-scale or lower min-scale: Knative's webhook refuses it"
        yield refused((*_ANNOTATIONS, low), f"is {least}, above {high} {most}", help_)


def keda(data: Data) -> Iterator[Problem]:
    """Source: `CheckReplicaCountBoundsAreValid` (KEDA v2.18): at most 100 where nothing is written, and a
    minimum of 0 that is written counts as 1, which is that of the HorizontalPodAutoscaler."""
    spec = data.get("spec")
    if not isinstance(spec, dict):
        return
    bounds = {"maxReplicaCount": 100, **spec}
    yield from ordered(bounds, ("spec",), "minReplicaCount", "maxReplicaCount", "KEDA refuses it")
    paused = any(str(key).startswith(_PAUSED) for key in mapping(lookup(data, ("metadata", "annotations"))))
    if "scaleTargetRef" in spec and whole(spec.get("maxReplicaCount")) == 0 and not paused:
        help_ = f'write 1 or more; for no pods at all, add the annotation {_PAUSED}-replicas: "0"'
        what = "is 0, but the HorizontalPodAutoscaler that KEDA makes of it needs at least 1"
        yield refused(("spec", "maxReplicaCount"), what, help_)
    idle, least = whole(spec.get("idleReplicaCount")), whole(spec.get("minReplicaCount", 0))
    if spec.get("cooldownPeriod") is not None and idle is None and least and "scaleTargetRef" in spec:
        help_ = (
            "KEDA waits for it before it scales to 0; for less, write stabilizationWindowSeconds of scaleDown"
        )
        what = f"has no effect while minReplicaCount is {least}"
        yield refused(("spec", "cooldownPeriod"), what, help_, Severity.INFO, key=True)
    written = spec.get("minReplicaCount") is not None
    if idle is not None and least is not None and idle >= (max(least, 1) if written else 0):
        help_ = "write idleReplicaCount: 0 and minReplicaCount: 1 or more"
        yield refused(("spec", "idleReplicaCount"), f"is {idle}, not below minReplicaCount {least}", help_)
    yield from _by_pods_alone(spec, data.get("kind") == "ScaledObject")
    for position, trigger in numbered(spec.get("triggers")):
        for field in sorted(_OF_SPEC.intersection(mapping(trigger.get("metadata")))):
            path: Path = ("spec", "triggers", position, "metadata", field)
            what = f"is not read: {field} is a field of spec"
            yield refused(path, what, f"write it as spec.{field}", Severity.WARNING, key=True)
        if trigger.get("type") == "cron":
            yield from _times(mapping(trigger.get("metadata")), ("spec", "triggers", position, "metadata"))


def _times(stated: Data, base: Path) -> Iterator[Problem]:
    """Source: `pkg/scalers/cron_scaler.go` of KEDA (2.10 to 2.18)."""
    who = "KEDA does not scale by this trigger"
    for field in ("start", "end", "timezone", "desiredReplicas"):
        if stated and stated.get(field) in (None, ""):
            yield refused(base, f"has no {field}", f"add {field}, which type cron needs: {who}")
    for field in ("start", "end"):
        schedule = stated.get(field)
        if not isinstance(schedule, str) or not schedule or is_filled_in(schedule):
            continue
        wrong = "begins with @, which KEDA does not read" if schedule[0] == "@" else cron.problem(schedule)
        if wrong:
            yield refused((*base, field), wrong, f"write five fields: {who}", kind=BAD_VALUE)
        elif field == "end" and schedule == stated.get("start"):
            yield refused((*base, field), "is the same as start", f"write another time: {who}")


def _by_pods_alone(spec: Data, scales: bool) -> Iterator[Problem]:
    """With cpu and memory alone. Sources: `verifyCPUMemoryScalers` and `CheckFallbackValid` (v2.12 to 2.19).

    Warnings, since the webhook may be off: the HorizontalPodAutoscaler then keeps one pod.
    """
    measured = {str(trigger.get("type")) for _, trigger in numbered(spec.get("triggers"))}
    if not scales or not measured or not measured <= {"cpu", "memory"}:
        return
    of_pods = " and ".join(sorted(measured))
    if whole(spec.get("minReplicaCount")) == 0:
        what = f"is 0, but {of_pods} of no pods start none, and no other trigger does"
        advice = "write 1, or add another trigger: KEDA's webhook refuses it"
        yield refused(("spec", "minReplicaCount"), what, advice, Severity.WARNING)
    if isinstance(spec.get("fallback"), dict) and lookup(spec, _FORMULA) is None:
        what = f"has no effect: it is for metrics that KEDA fetches, and the triggers are {of_pods}"
        advice = "delete it: KEDA's webhook refuses it"
        yield refused(("spec", "fallback"), what, advice, Severity.WARNING, key=True)


_FORMULA: Path = ("advanced", "scalingModifiers", "formula")
_PAUSED = "autoscaling.keda.sh/paused"
_OF_SPEC = frozenset(
    {
        "cooldownPeriod",
        "idleReplicaCount",
        "initialCooldownPeriod",
        "maxReplicaCount",
        "minReplicaCount",
        "pollingInterval",
    }
)
"""Fields of spec that no scaler has in its metadata."""
