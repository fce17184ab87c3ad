"""Faults of an object's shape: fields, types, enums, quantities, labels, versions."""

from collections.abc import Iterator
from typing import Any

from policykit.kube.structure.schema import kinds_of
from policykit.linter.reader import is_partial
from policykit.manifests.path import Path
from tests.mutation.clean import Subject
from tests.mutation.fault import Change, fault, misspelt, put, remove, rename, replace
from tests.mutation.places import at, containers, has_schema, is_extract, named, written

_FIELDS = (
    "containers",
    "image",
    "replicas",
    "template",
    "schedulerName",
    "tolerations",
    "affinity",
    "nodeSelector",
    "resources",
    "limits",
    "minAvailable",
    "minMember",
    "restartPolicy",
    "tasks",
    "queue",
    "selector",
    "ports",
    "imagePullPolicy",
    "volumes",
)
_FREE = frozenset(("metadata", "labels", "annotations", "data", "nodeSelector", "matchLabels", "arguments"))
_REMOVED = {
    ("apps/v1", "Deployment"): "extensions/v1beta1",
    ("apps/v1", "DaemonSet"): "extensions/v1beta1",
    ("apps/v1", "StatefulSet"): "apps/v1beta2",
    ("apps/v1", "ReplicaSet"): "apps/v1beta2",
    ("batch/v1", "CronJob"): "batch/v1beta1",
    ("autoscaling/v2", "HorizontalPodAutoscaler"): "autoscaling/v2beta2",
    ("scheduling.k8s.io/v1", "PriorityClass"): "scheduling.k8s.io/v1beta1",
}
_BUILT_IN = ("Pod", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob")


def _fields(subject: Subject) -> Iterator[tuple[Path, Any]]:
    """Fields that people write often, in kinds whose schema is known, outside free maps."""
    for path, value in named(subject.manifest.data, *_FIELDS) if has_schema(subject) else ():
        if not _FREE.intersection(path[:-1]) and subject.manifest.kind != "ConfigMap":
            yield path, value


def _unknown_field(subject: Subject) -> Iterator[Change]:
    yield from (rename(path, misspelt(str(path[-1]))) for path, _ in _fields(subject))


def _field_in_lower_case(subject: Subject) -> Iterator[Change]:
    for path, _ in _fields(subject):
        if str(path[-1]) != str(path[-1]).lower():
            yield rename(path, str(path[-1]).lower())


def _text_for_number(subject: Subject) -> Iterator[Change]:
    for path, value in _fields(subject):
        if path[-1] in ("replicas", "minAvailable", "minMember") and type(value) is int:
            yield replace(path, "two")


def _quoted_number(subject: Subject) -> Iterator[Change]:
    for path, value in named(subject.manifest.data, "replicas", "containerPort", "completions", "minMember"):
        if has_schema(subject) and type(value) is int:
            yield replace(path, str(value))


def _mapping_for_list(subject: Subject) -> Iterator[Change]:
    for path, value in _fields(subject):
        if path[-1] in ("containers", "tolerations", "tasks") and isinstance(value, list) and value:
            yield replace(path, value[0])


def _enum(*keys: str) -> Any:
    def inject(subject: Subject) -> Iterator[Change]:
        for path, value in named(subject.manifest.data, *keys) if has_schema(subject) else ():
            if isinstance(value, str) and not _FREE.intersection(path[:-1]) and "$" not in value:
                yield replace(path, misspelt(value))

    return inject


def _operator(subject: Subject) -> Iterator[Change]:
    for path, value in named(subject.manifest.data, "operator") if has_schema(subject) else ():
        if value in ("In", "NotIn", "Exists", "DoesNotExist", "Equal"):
            yield replace(path, {"In": "in", "Exists": "Exist", "Equal": "Equals"}.get(value, f"{value}s"))


def _missing(field: str) -> Any:
    def inject(subject: Subject) -> Iterator[Change]:
        for path, container in (
            containers(subject) if subject.manifest.kind in _BUILT_IN and has_schema(subject) else ()
        ):
            if field in container:
                yield remove((*path, field))

    return inject


def _quantity(subject: Subject) -> Iterator[Change]:
    wrong = {"memory": ("10 GB", "10GB", "8gi"), "cpu": ("2 cores", "500mi")}
    for path, value in named(subject.manifest.data, "limits", "requests") if has_schema(subject) else ():
        if isinstance(value, dict) and not _FREE.intersection(path):
            yield from (replace((*path, key), text) for key in value for text in wrong.get(key, ()))


def _labels(subject: Subject) -> Iterator[tuple[Path, Any]]:
    for path, value in named(subject.manifest.data, "labels") if has_schema(subject) else ():
        if len(path) > 1 and path[-2] == "metadata" and isinstance(value, dict):
            yield from (((*path, key), text) for key, text in value.items() if isinstance(text, str))


def _label_with(value: Any) -> Any:
    def inject(subject: Subject) -> Iterator[Change]:
        yield from (replace(path, value) for path, _ in _labels(subject))

    return inject


def _label_key(subject: Subject) -> Iterator[Change]:
    yield from (rename(path, f"{path[-1]} name") for path, _ in _labels(subject))


def _annotation(subject: Subject) -> Iterator[Change]:
    for path, value in named(subject.manifest.data, "annotations") if has_schema(subject) else ():
        if len(path) > 1 and path[-2] == "metadata" and isinstance(value, dict):
            yield from (replace((*path, key), 4) for key in value)


def _environment(subject: Subject) -> Iterator[Change]:
    for path, container in containers(subject) if has_schema(subject) else ():
        for index, item in enumerate(container.get("env") or ()):
            if isinstance(item, dict) and "value" in item:
                yield replace((*path, "env", index, "value"), 8)


def _removed(subject: Subject) -> Iterator[Change]:
    old = _REMOVED.get((subject.manifest.api_version, subject.manifest.kind))
    if old:
        yield replace(("apiVersion",), old)


def _wrong_group(subject: Subject) -> Iterator[Change]:
    if (subject.manifest.api_version, subject.manifest.kind) in _REMOVED:
        yield replace(("apiVersion",), "v1")


def _misspelt_kind(subject: Subject) -> Iterator[Change]:
    if kinds_of(subject.manifest.group) and subject.manifest.group and not subject.manifest.read_as:
        yield replace(("kind",), misspelt(subject.manifest.kind))


def _misspelt_group(subject: Subject) -> Iterator[Change]:
    group, _, version = subject.manifest.api_version.partition("/")
    if version and kinds_of(group) and not subject.manifest.read_as:
        yield replace(("apiVersion",), f"{misspelt(group)}/{version}")


def _unknown_version(subject: Subject) -> Iterator[Change]:
    group, _, version = subject.manifest.api_version.partition("/")
    if version and kinds_of(group) and not subject.manifest.read_as:
        yield replace(("apiVersion",), f"{group}/v9")


def _bounds(subject: Subject) -> Iterator[Change]:
    """Fewer pods at most than at least, in every list of worker groups and every predictor."""
    for low in ("minReplicas", "minReplicaCount"):
        for path, value in written(subject, low):
            high = (*path[:-1], low.replace("min", "max"))
            most = at(subject, high)
            if isinstance(value, int) and isinstance(most, int) and most > 0:
                yield replace(path, most + 1)


def _same_names(subject: Subject) -> Iterator[Change]:
    for field, name in (("workerGroupSpecs", "groupName"), ("replicatedJobs", "name")):
        for path, value in written(subject, field):
            if isinstance(value, list) and len(value) > 1:
                yield replace((*path, 1, name), value[0].get(name))


def _replica_type(subject: Subject) -> Iterator[Change]:
    if subject.manifest.group == "kubeflow.org":
        for path, _ in written(subject, "Worker"):
            yield rename(path, "Workers")


def _thousandths(subject: Subject) -> Iterator[Change]:
    for path, value in written(subject, "memory"):
        if path[-2] in ("requests", "limits") and has_schema(subject) and isinstance(value, str):
            yield replace(path, f"{value.rstrip('KMGTi')}m")


def _mebibytes(subject: Subject) -> Iterator[Change]:
    """Processors in the unit of memory."""
    for path, container in containers(subject) if has_schema(subject) else ():
        resources = container.get("resources")
        asked = resources.get("requests") if isinstance(resources, dict) else None
        value = asked.get("cpu") if isinstance(asked, dict) else None
        if isinstance(value, str | int) and str(value).rstrip("m").isdecimal():
            yield replace((*path, "resources", "requests", "cpu"), f"{str(value).rstrip('m')}Mi")


def _schedule(subject: Subject) -> Iterator[Change]:
    if subject.manifest.group == "batch" and subject.manifest.kind == "CronJob":
        yield replace(("spec", "schedule"), "0 25 * * *")


def _name(subject: Subject) -> Iterator[Change]:
    # The name of a patch may be anything where a kustomization selects its target.
    whole = not (is_partial(subject.manifest, subject.pod_sets) or is_extract(subject))
    if has_schema(subject) and subject.manifest.name and whole:
        yield replace(("metadata", "name"), f"{subject.manifest.name}_Main")


_OF_SERVICES = (
    "InferenceService",
    "JobSet",
    "LeaderWorkerSet",
    "PyTorchJob",
    "RayCluster",
    "RayJob",
    "TrainJob",
)


def _digit(subject: Subject) -> Iterator[Change]:
    """A name that begins those of Services."""
    whole = not (is_partial(subject.manifest, subject.pod_sets) or is_extract(subject))
    if subject.manifest.kind in _OF_SERVICES and subject.manifest.name and whole:
        yield replace(("metadata", "name"), f"2{subject.manifest.name}")


def _below(subject: Subject) -> Iterator[Change]:
    """A PodSpec field one level too high: in the template, beside `spec`."""
    for field in ("tolerations", "nodeSelector", "schedulerName", "affinity"):
        for path, value in written(subject, field) if has_schema(subject) else ():
            if len(path) > 2 and path[-2] == "spec" and path[-3] == "template":
                change = remove(path)
                yield Change((*change.patches, *put((*path[:-2], field), value).patches))


_SHAPE = "PK003 PK004 PK613"
"""PK613: the template of a Reservation, which its CRD leaves open."""


def _entrypoint(subject: Subject) -> Iterator[Change]:
    """The template with which a workflow of Argo begins, misspelt."""
    name = at(subject, ("spec", "entrypoint")) if subject.manifest.group == "argoproj.io" else None
    if isinstance(name, str) and at(subject, ("spec", "templates")):
        yield replace(("spec", "entrypoint"), misspelt(name))


FAULTS = (
    fault("a workflow that begins nowhere", "PK004", _entrypoint),
    fault("a field is misspelt", _SHAPE, _unknown_field),
    fault("a field is in lower case", _SHAPE, _field_in_lower_case),
    fault("a PodSpec field stands in the template", _SHAPE, _below),
    fault("a word for a number", "PK004", _text_for_number),
    fault("a number in quotes", "PK004", _quoted_number),
    fault("a mapping for a list", "PK004 PK613", _mapping_for_list),
    fault("a misspelt restartPolicy", "PK004 PK210", _enum("restartPolicy")),
    fault("a misspelt imagePullPolicy", "PK004", _enum("imagePullPolicy")),
    fault("a misspelt taint effect", "PK004", _enum("effect")),
    fault("an operator of another spelling", "PK004", _operator),
    fault("a container without image", "PK004", _missing("image")),
    fault("a container without name", "PK004", _missing("name")),
    fault("an amount that is not a quantity", "PK005 PK613", _quantity),
    fault("a label value with a blank", "PK006", _label_with("two words")),
    fault("a label value that is a number", "PK006 PK613", _label_with(20)),
    fault("a label value that is a boolean", "PK006 PK613", _label_with(True)),
    fault("a label key with a blank", "PK006", _label_key),
    fault("an annotation that is a number", "PK004 PK310 PK613", _annotation),
    fault("an environment value that is a number", "PK004", _environment),
    fault("an apiVersion that is gone", "PK007", _removed),
    fault("an apiVersion without the group", "PK007 PK008", _wrong_group),
    fault("a minimum above the maximum", "PK004 PK208", _bounds),
    fault("two parts of one name", "PK004 PK310", _same_names),
    fault("a misspelt replica type", "PK004", _replica_type),
    fault("memory in thousandths", "PK005", _thousandths),
    fault("processors in mebibytes", "PK004 PK005", _mebibytes),
    fault("a schedule of hour 25", "PK004", _schedule),
    fault("a misspelt kind", "PK008", _misspelt_kind),
    fault("a misspelt API group", "PK008", _misspelt_group),
    fault("a version that does not exist", "PK008 PK601 PK802", _unknown_version),
    fault("a name with capitals", "PK004", _name),
    fault("a name of Services that begins with a digit", "PK004", _digit),
)
