"""Katib: experiments, and the trials that are made of their template."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policykit.kube.placeholders import is_filled_in
from policykit.kube.structure.admission.checks import (
    Data,
    name_of,
    named_differently,
    not_below,
    one_of,
    refused,
    service_name,
    words,
)
from policykit.kube.structure.problem import INCONSISTENT
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping, numbered, whole
from policykit.model.severity import Severity
from policykit.nearest import nearest, some

_WHO = "Katib's webhook refuses it"
_LONGEST = 40
_LEAST = {"maxFailedTrialCount": 0, "maxTrialCount": 1, "parallelTrialCount": 1}
_RANGES, _LISTS = ("double", "int"), ("categorical", "discrete")
_TEMPLATE: Path = ("spec", "trialTemplate")
_USED = re.compile(r"\$\{trialParameters\.(.+?)\}")


def experiment(data: Data) -> Iterator[Problem]:
    """Sources: `ValidateExperiment` and what it calls (Katib v0.19)."""
    spec = data.get("spec")
    if not isinstance(spec, dict):
        return
    yield from service_name(data, _WHO, _LONGEST)
    for field, least in _LEAST.items():
        yield from not_below(spec, ("spec",), field, least, _WHO)
    most = whole(spec.get("maxTrialCount"))
    for field in ("maxFailedTrialCount", "parallelTrialCount"):
        count = whole(spec.get(field))
        if count is not None and most is not None and count > most > 0:
            what = f"is {count}, above maxTrialCount {most}"
            yield refused(("spec", field), what, f"lower it, or raise maxTrialCount: {_WHO}")
    yield from _objective(mapping(spec.get("objective")))
    yield from one_of(spec, ("resumePolicy",), ("Never", "LongRunning", "FromVolume"), _WHO, ("spec",))
    yield from _parameters(spec.get("parameters"))
    if isinstance(spec.get("trialTemplate"), dict):
        names = [name_of(each) for _, each in numbered(spec.get("parameters"))]
        yield from _template(spec["trialTemplate"], names)


def _objective(objective: Data) -> Iterator[Problem]:
    base: Path = ("spec", "objective")
    yield from one_of(objective, ("type",), ("minimize", "maximize"), _WHO, base)
    metric = name_of(objective, "objectiveMetricName")
    for at, name in words(objective.get("additionalMetricNames")):
        if name == metric:
            where = (*base, "additionalMetricNames", at)
            yield refused(where, f"is {name}, the metric of the objective", f"delete it: {_WHO}")


def _parameters(listed: object) -> Iterator[Problem]:
    path: Path = ("spec", "parameters")
    yield from named_differently(listed, path, "name", "parameter")
    for position, parameter in numbered(listed):
        at: Path = (*path, position)
        yield from one_of(parameter, ("parameterType",), (*_RANGES, *_LISTS), _WHO, at)
        kind, space = parameter.get("parameterType"), parameter.get("feasibleSpace")
        if not isinstance(space, dict):
            continue
        where: Path = (*at, "feasibleSpace")
        if kind in _RANGES and space.get("list"):
            what = f"is of a {kind}, which has min and max"
            yield refused((*where, "list"), what, f"write parameterType: discrete: {_WHO}", key=True)
        elif kind in _RANGES and ("min" not in space or "max" not in space):
            lacks = "min" if "min" not in space else "max"
            yield refused(where, f"has no {lacks}", f"add {lacks}: {_WHO}", kind=INCONSISTENT)
        elif kind in _LISTS and (there := next((key for key in ("min", "max", "step") if key in space), "")):
            what = f"is of a {kind} parameter, which has a list"
            yield refused((*where, there), what, f"write list, or parameterType: double: {_WHO}", key=True)


def _template(template: Data, names: list[str]) -> Iterator[Problem]:
    """What the trials are told, and what their template makes of it."""
    path: Path = (*_TEMPLATE, "trialParameters")
    listed = template.get("trialParameters")
    yield from named_differently(listed, path, "name", "parameter of the trial")
    yield from named_differently(listed, path, "reference", "reference")
    for position, parameter in numbered(listed):
        reference = parameter.get("reference")
        if not isinstance(reference, str) or not reference or is_filled_in(reference):
            continue
        if names and all(names) and reference not in names:
            near = nearest(reference, tuple(names), 0.6)
            advice = f"did you mean {near}?" if near else f"write {some(names)}"
            what = f"is {reference}, which no parameter of the experiment is called"
            yield refused((*path, position, "reference"), what, f"{advice}: {_WHO}")
    made = template.get("trialSpec")
    if not listed and isinstance(made, dict) and isinstance(listed, (list, type(None))):
        what = "has no parameters" if path[-1] in template else "is missing"
        severity = None if path[-1] in template else Severity.WARNING
        advice = f"name the parameters of the experiment that a trial is told: {_WHO}"
        yield refused(path, what, advice, severity, key=True, kind=INCONSISTENT)
    if not isinstance(made, dict) or not isinstance(listed, list):
        return
    yield from _main_container(template, made)
    main = template.get("primaryContainerName")
    if not main and isinstance(main, (str, type(None))) and made.get("apiVersion") in _JOBS:
        what = (
            "is empty"
            if isinstance(main, str)
            else "is missing: nothing says which container has the metrics"
        )
        place: Path = (*_TEMPLATE, "primaryContainerName")
        yield refused(place, what, f"name the container: {_WHO}", key=True, kind=INCONSISTENT)
    yield from _condition(template, made)
    used = {found for text in _texts(made) for found in _USED.findall(text)}
    told = {name_of(parameter) for _, parameter in numbered(listed)}
    if all(told) and len(told) == len(listed):
        for position, parameter in numbered(listed):
            if parameter["name"] not in used:
                what = (
                    f"is {parameter['name']}, and trialSpec has no ${{trialParameters.{parameter['name']}}}"
                )
                yield refused((*path, position, "name"), what, f"use it, or delete it: {_WHO}")
        for name in sorted(used - told):
            what = f"has ${{trialParameters.{name}}}, and trialParameters no {name}"
            yield refused((*_TEMPLATE, "trialSpec"), what, f"add it to trialParameters: {_WHO}", key=True)
    for field in ("name", "namespace"):
        if lookup(made, ("metadata", field)):
            where: Path = (*_TEMPLATE, "trialSpec", "metadata", field)
            yield refused(where, "is set, but each trial gets its own", f"delete it: {_WHO}", key=True)


def _main_container(template: Data, made: Data) -> Iterator[Problem]:
    """Source: `mutateMetricsCollectorVolume` and `wrapWorkerContainer` of the webhook for pods (v0.19)."""
    main = name_of(template, "primaryContainerName")
    if not main or made.get("apiVersion") not in _JOBS:
        return
    names = [name_of(each) for each in _containers(made.get("spec"))]
    if names and all(names) and main not in names:
        near = nearest(main, tuple(names), 0.6)
        yield refused(
            (*_TEMPLATE, "primaryContainerName"),
            f"is {main}, and the pods of a trial have no such container",
            f"{f'did you mean {near}?' if near else f'write {some(names)}'}: Katib refuses the pods",
        )


def _condition(template: Data, made: Data) -> Iterator[Problem]:
    """What says that a trial is done is a condition of its kind: a trial that nothing ends never succeeds."""
    stated, version = template.get("successCondition"), made.get("apiVersion")
    wrong, right = _DONE.get(version if isinstance(version, str) else "", ("", ""))
    if wrong and isinstance(stated, str) and re.search(rf"type ?== ?.?{wrong}\b", stated):
        what = f"waits for the condition {wrong}, but a {made.get('kind')} that succeeds has {right}"
        help_ = f"write {right}, or delete it: Katib knows the condition of this kind"
        yield refused((*_TEMPLATE, "successCondition"), what, help_, Severity.WARNING)


_DONE = {
    "batch/v1": ("Succeeded", "Complete"),
    "kubeflow.org/v1": ("Complete", "Succeeded"),
    "kubeflow.org/v2beta1": ("Complete", "Succeeded"),
}
"""Of the kinds of jobs in each API version a condition that is none of theirs, and theirs."""
_JOBS = ("batch/v1", "kubeflow.org/v1", "kubeflow.org/v2beta1")


def _containers(value: object) -> Iterator[Data]:
    """Of every pod template."""
    if isinstance(value, dict):
        yield from (each for _, each in numbered(lookup(value, ("template", "spec", "containers"))))
        for inner in value.values():
            yield from _containers(inner)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)
