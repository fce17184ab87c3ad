"""Facts about operators that make groups of the pods of their jobs, about such jobs, and about roles.

Source: `main.go` of KubeRay (1.0 to 1.6), `cmd/training-operator.v1/main.go` of the Training Operator
(1.5 to 1.9), and of the Spark operator `main.go` (v1beta2-1.0 to 1.6) and `cmd/operator` (2.0 to 2.5).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.kube.requests import containers
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, mappings, text, texts
from policykit.model.gang_operators import DeclaredRole, GroupedJob, RoleOfAccount, StartedOperator

KUBERAY, SPARK, TRAINING = "kuberay-operator", "spark-operator", "training-operator"
_IMAGES = {
    **{name: name for name in (KUBERAY, SPARK, TRAINING)},
    "kuberay/operator": KUBERAY,
    "spark-operator/controller": SPARK,
}
"""The end of the path of an image to its operator."""
_SWITCHES: Mapping[str, tuple[str, ...]] = {
    KUBERAY: ("batch-scheduler", "enable-batch-scheduler"),
    SPARK: ("enable-batch-scheduler", "default-batch-scheduler"),
    TRAINING: ("gang-scheduler-name",),
}
_FLAG = re.compile(r"--?([A-Za-z][A-Za-z0-9_-]*)(?:=(.*))?\Z", re.DOTALL)
_WEBHOOK = "enable-webhook"
"""The flag of the Spark operator up to 1.6, whose webhook names the scheduler in pods."""
_OFF = ("", "false", "0", "f")
_LIKE = 0.85
_SHELLS = frozenset({"sh", "bash", "ash", "dash"})
_UNASKED: Mapping[str, str] = {TRAINING: "kubeflow.org/v1"}
"""apiVersion of the jobs that get a group in any case: `SyncPodGroup` counts all of their pods."""
_OF_TRAINING = frozenset({"JAXJob", "MPIJob", "PaddleJob", "PyTorchJob", "TFJob", "XGBoostJob"})
_GANG, _RAY_SCHEDULER = "ray.io/gang-scheduling-enabled", "ray.io/scheduler-name"
_SPARK_FIELDS: Mapping[str, Path] = {
    "SparkApplication": ("spec", "batchScheduler"),
    "ScheduledSparkApplication": ("spec", "template", "batchScheduler"),
}
_ALL_ACCOUNTS = frozenset({"system:serviceaccounts", "system:authenticated"})
_RESOURCES, _VERBS = frozenset({"*", "podgroups", "podgroups/*"}), frozenset({"*", "create"})


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Operators, by the images of their containers."""
    for pod_set in () if manifest.partial else pod_sets:
        for field, position, container in containers(pod_set.spec):
            name = _operator(text(container.get("image"))) if field == "containers" else ""
            words = _words(container, pod_set.place(field, position))
            if name and words is not None:
                namespace = manifest.namespace or context.namespace
                account = text(pod_set.spec.get("serviceAccountName"))
                image = pod_set.place(field, position, "image")
                yield _started(name, words, namespace, account, image)


def _operator(image: str) -> str:
    path = image.partition("@")[0].split("/")
    path[-1] = path[-1].partition(":")[0]
    return _IMAGES.get("/".join(path[-2:])) or _IMAGES.get(path[-1], "")


def _words(container: Mapping[str, Any], place: Path) -> list[tuple[str, Path]] | None:
    """The items of command and args; None: they are unknown, or of something else in the image."""
    found: list[tuple[str, Path]] = []
    for part in ("command", "args"):
        items = container.get(part) or []
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            return None
        found += [(item, (*place, part, at)) for at, item in enumerate(items)]
    words = [word for word, _ in found]
    if any(is_placeholder(word) or "$(" in word for word in words):
        return None
    program = words[0].rpartition("/")[2] if words else ""
    other = program in _SHELLS or program.endswith(".sh") or "webhook" in words
    return None if other else found


def _started(name: str, words: Sequence[tuple[str, Path]], namespace: str, account: str, image: Path) -> Fact:
    starts, scheduler, misspelt, meant = False, "", "", ""
    started = ("controller", "start") in pairwise(word for word, _ in words)  # since 2.0
    place, missing = image, _WEBHOOK if name == SPARK and not started else ""
    for at, (word, path) in enumerate(words):
        found = _FLAG.match(word)
        if found is None:
            continue
        flag, value = found[1], found[2]
        if value is None:
            after = words[at + 1][0] if at + 1 < len(words) else "-"
            value = "true" if after.startswith("-") else after
        if name == KUBERAY and flag == "config":
            starts = True  # its file decides
        elif flag == _WEBHOOK and value.lower() not in _OFF:
            missing = ""
        elif flag in _SWITCHES[name]:
            if value.lower() not in (*_OFF, "none") and flag != "default-batch-scheduler":
                starts, place = True, path
            scheduler = value if flag in ("batch-scheduler", "gang-scheduler-name") else scheduler
        elif not misspelt and (likely := _likely(flag, name)):
            misspelt, meant, place = flag, likely, path
    unasked = _UNASKED.get(name, "") if starts and not misspelt else ""
    value = StartedOperator(name, starts, scheduler, misspelt, meant, namespace, account, missing, unasked)
    return Fact(value, {"container": image, "flag": place})


def _likely(flag: str, name: str) -> str:
    """The flag that is meant by one that the operator does not have; empty: it has it, or none is like it."""
    from policykit.nearest import nearest
    from policykit.targets.facts.operator_flags import KNOWN

    known = KNOWN[name]
    if flag in known or flag.replace("-", "_") in known:
        return ""
    plain = flag.replace("-", "").replace("_", "").lower()
    same = next((each for each in sorted(known) if each.replace("-", "").lower() == plain), "")
    return same or nearest(flag.lower(), tuple(sorted(known)), _LIKE)


def jobs(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Jobs that ask for a group."""
    if manifest.partial:
        return
    kind, group = manifest.kind, manifest.group
    if group == "sparkoperator.k8s.io" and kind in _SPARK_FIELDS:
        path = _SPARK_FIELDS[kind]
        scheduler = text(lookup(manifest.data, path))
        if scheduler and not is_placeholder(scheduler):
            yield _job(SPARK, manifest, scheduler, "batchScheduler", path)
    elif manifest.api_version == "kubeflow.org/v1" and kind in _OF_TRAINING:
        names = {each.scheduler_name for each in pod_sets}
        policy = mapping(lookup(manifest.data, ("spec", "runPolicy", "schedulingPolicy")))
        scheduler = next(iter(names)) if len(names) == 1 else ""
        if policy and scheduler and not is_placeholder(scheduler):
            place: Path = ("spec", "runPolicy", "schedulingPolicy")
            yield _job(TRAINING, manifest, scheduler, "schedulingPolicy", place)
    elif group == "ray.io":
        asked = manifest.labels.get(_GANG) == "true"
        scheduler = manifest.labels.get(_RAY_SCHEDULER, "")
        if (asked or scheduler) and not is_placeholder(scheduler):
            key = _GANG if asked else _RAY_SCHEDULER
            yield _job(KUBERAY, manifest, scheduler, key, ("metadata", "labels", key))


def _job(operator: str, manifest: Manifest, scheduler: str, asks: str, place: Path) -> Fact:
    return Fact(GroupedJob(operator, manifest.kind, scheduler, asks), {"asks": place})


def roles(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Roles, and the accounts that have them."""
    if manifest.group != "rbac.authorization.k8s.io":
        return
    spread = manifest.kind.startswith("Cluster")
    namespace = "" if spread else manifest.namespace or context.namespace
    if not manifest.kind.endswith("Binding"):
        rules = mappings(manifest.data.get("rules"))
        value = DeclaredRole(
            manifest.kind,
            namespace,
            manifest.name,
            frozenset(group for rule in rules if _creates(rule) for group in texts(rule.get("apiGroups"))),
            "aggregationRule" not in manifest.data and not manifest.partial,
        )
        yield Fact(value, {"name": ("metadata", "name")}, answers=True)
        return
    refers = mapping(manifest.data.get("roleRef"))
    kind = text(refers.get("kind"))
    held = namespace if kind == "Role" else ""
    for each in mappings(manifest.data.get("subjects")):
        if account := _account(each, namespace):
            yield Fact(RoleOfAccount(kind, held, text(refers.get("name")), *account), {}, answers=True)


def _account(subject: Mapping[str, Any], namespace: str) -> tuple[str, str] | None:
    """Namespace and name; `*`: any. None: it is not an account."""
    name = text(subject.get("name"))
    if subject.get("kind") == "ServiceAccount":
        return text(subject.get("namespace")) or namespace, name
    if name.startswith("system:serviceaccount:"):
        of, _, account = name.removeprefix("system:serviceaccount:").partition(":")
        return of, account
    if name.startswith("system:serviceaccounts:"):
        return name.removeprefix("system:serviceaccounts:"), "*"
    return ("*", "*") if name in _ALL_ACCOUNTS else None


def _creates(rule: Mapping[str, Any]) -> bool:
    may = not _VERBS.isdisjoint(texts(rule.get("verbs")))
    return may and not _RESOURCES.isdisjoint(texts(rule.get("resources")))
