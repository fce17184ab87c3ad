"""JobSets: replicated jobs, their order, and what names them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from policykit.kube.names import dns_label_problem
from policykit.kube.placeholders import is_capitals, is_filled_in
from policykit.kube.structure.admission.checks import (
    Data,
    name_of,
    named_differently,
    not_below,
    refused,
    words,
)
from policykit.kube.structure.problem import INCONSISTENT
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping, numbered, whole
from policykit.model.severity import Severity
from policykit.nearest import some

_JOBS: Path = ("spec", "replicatedJobs")
_REASONS = (
    "BackoffLimitExceeded",
    "DeadlineExceeded",
    "FailedIndexes",
    "MaxFailedIndexesExceeded",
    "PodFailurePolicy",
)


def job_set(data: Data) -> Iterator[Problem]:
    """Sources: the CRD's list keys and rules, `ValidateCreate` and what it calls of JobSet (v0.12)."""
    yield from _owned(data)
    jobs = lookup(data, _JOBS)
    if jobs == []:
        yield refused(_JOBS, "is empty", "add a job: later releases of JobSet refuse it", Severity.WARNING)
    if not isinstance(jobs, list) or not jobs or not all(isinstance(job, dict) for job in jobs):
        return
    yield from named_differently(jobs, _JOBS, "name", "replicated job")
    names = [name_of(job) for job in jobs]
    yield from _order(jobs, names)
    yield from _started_in_order(data, jobs)
    yield from _generated_names(name_of(mapping(data.get("metadata"))), jobs)
    yield from _volumes(data, jobs)
    yield from _restarted_in_place(data, jobs)
    if not all(names):
        return  # a placeholder may become any name
    yield from _targets(data, ("spec", "successPolicy"), names)
    rules: Path = ("spec", "failurePolicy", "rules")
    yield from named_differently(lookup(data, rules), rules, "name", "rule")
    for position, rule in numbered(lookup(data, rules)):
        yield from _rule_name((*rules, position, "name"), name_of(rule))
        yield from _targets(data, (*rules, position), names)
        for at, reason in words(rule.get("onJobFailureReasons")):
            if reason not in _REASONS:
                path = (*rules, position, "onJobFailureReasons", at)
                yield refused(
                    path,
                    f"is {reason}, which is not a failure reason",
                    f"known: {some(_REASONS)}",
                )
    yield from _coordinator(data, {name_of(job): job for job in jobs})


_RULE_NAME = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?")
_LONGEST_RULE_NAME = 128


def _rule_name(path: Path, name: str) -> Iterator[Problem]:
    """Source: `validateFailurePolicyRuleName` of JobSet (v0.12)."""
    if name and not _RULE_NAME.fullmatch(name):
        what = "which has other characters than letters, digits, _ , and :, or does not begin with a letter"
        yield refused(path, f'is "{name}", {what}', f"write {re.sub(r'[^A-Za-z0-9_,:]', '_', name)}")
    elif len(name) > _LONGEST_RULE_NAME:
        yield refused(path, f"has {len(name)} characters, but may have {_LONGEST_RULE_NAME}", "shorten it")


def _order(jobs: list[Data], names: list[str]) -> Iterator[Problem]:
    """A job may wait for those that are listed before it."""
    for position, job in enumerate(jobs):
        listed = job.get("dependsOn")
        if position == 0 and listed:
            yield refused(
                (*_JOBS, 0, "dependsOn"),
                "is set, but the first replicated job cannot wait for another",
                "list the job after those that it waits for",
                key=True,
            )
            continue
        for at, other in numbered(listed):
            name = name_of(other)
            if name and name not in names[:position] and all(names):
                where = "does not come before it" if name in names else "does not exist"
                yield refused(
                    (*_JOBS, position, "dependsOn", at, "name"),
                    f'is "{name}", which {where}',
                    f"a replicated job waits for those listed before it: {some(names[:position])}",
                    kind=INCONSISTENT,
                )


def _targets(data: Data, base: Path, names: list[str]) -> Iterator[Problem]:
    path = (*base, "targetReplicatedJobs")
    for position, name in words(lookup(data, path)):
        if name not in names:
            advice = f"the replicated jobs are {some(names)}"
            yield refused(
                (*path, position), f'is "{name}", which is not a replicated job', advice, kind=INCONSISTENT
            )


def _coordinator(data: Data, jobs: Mapping[str, Data]) -> Iterator[Problem]:
    base: Path = ("spec", "coordinator")
    coordinator = lookup(data, base)
    if not isinstance(coordinator, dict):
        return
    name = name_of(coordinator, "replicatedJob")
    if name and name not in jobs:
        advice = f"the replicated jobs are {some(jobs)}"
        yield refused(
            (*base, "replicatedJob"), f'is "{name}", which is not a replicated job', advice, kind=INCONSISTENT
        )
        return
    index = whole(coordinator.get("jobIndex"))
    replicas = whole(jobs.get(name, {}).get("replicas", 1))
    if index is not None and replicas is not None and index >= replicas:
        what = f"is {index}, but {name} has {replicas} {'job' if replicas == 1 else 'jobs'}"
        yield refused((*base, "jobIndex"), what, "indices start at 0")
    yield from _coordinating_pod(coordinator, mapping(lookup(jobs.get(name), ("template", "spec"))), name)
    yield from _address(data, coordinator, name)


def _address(data: Data, coordinator: Data, name: str) -> Iterator[Problem]:
    """Jobs have the coordinator's address as a label. Source: `CoordinatorEndpoint` (v0.7 to 0.12)."""
    owner = name_of(mapping(data.get("metadata")))
    network = mapping(lookup(data, ("spec", "network")))
    domain = name_of(network, "subdomain") if network.get("subdomain") else owner
    numbers = [whole(coordinator.get(field, 0)) for field in ("jobIndex", "podIndex")]
    if not owner or not name or not domain or None in numbers:
        return
    address = f"{owner}-{name}-{numbers[0]}-{numbers[1]}.{domain}"
    if len(address) > _LONGEST:
        what = f"makes the label {address}, of {len(address)} characters, more than {_LONGEST}"
        advice = "write a short spec.network.subdomain: the API server refuses the jobs"
        yield refused(("spec", "coordinator"), what, advice, key=True)


def _coordinating_pod(coordinator: Data, spec: Data, name: str) -> Iterator[Problem]:
    """Only pods with an index have a name that does not change."""
    base: Path = ("spec", "coordinator")
    if not name or not spec:
        return
    completions = spec.get("completions")
    if completions is None or spec.get("completionMode", _INDEXED) != _INDEXED:
        lacks = "no completions" if completions is None else f"completionMode {spec['completionMode']}"
        what = f'is "{name}", which has {lacks}: its pods have no index'
        advice = f"write completions and completionMode: {_INDEXED} for {name}: {_WHO}"
        yield refused((*base, "replicatedJob"), what, advice)
        return
    index, pods = whole(coordinator.get("podIndex")), whole(completions)
    if index is not None and pods is not None and index >= pods:
        what = f"is {index}, but a job of {name} has {pods} {'pod' if pods == 1 else 'pods'}"
        yield refused((*base, "podIndex"), what, "indices start at 0")


_WHO = "JobSet's webhook refuses it"
_INDEXED = "Indexed"
_RANDOM = "-abcde"
"""What the name of a pod ends with; as many characters."""
_LONGEST = 63


def _owned(data: Data) -> Iterator[Problem]:
    """Its Service, and the controller that it is left to."""
    path: Path = ("spec", "network", "subdomain")
    name = name_of(mapping(lookup(data, path[:-1])), "subdomain")
    if name and (not name[0].isalpha() or "." in name or dns_label_problem(name)):
        what = f'is "{name}", no name of a Service'
        advice = "write at most 63 lower-case letters, digits and -, with a letter first"
        yield refused(path, what, f"{advice}: {_WHO}")
    manager = lookup(data, ("spec", "managedBy"))
    if isinstance(manager, str) and manager.count("/") < 1 and not is_filled_in(manager):
        advice = f"write jobset.sigs.k8s.io/jobset-controller, or delete it: {_WHO}"
        yield refused(("spec", "managedBy"), f"is {manager}, without the domain of a controller", advice)


def _started_in_order(data: Data, jobs: list[Data]) -> Iterator[Problem]:
    path: Path = ("spec", "startupPolicy", "startupPolicyOrder")
    waiting = [position for position, job in enumerate(jobs) if job.get("dependsOn")]
    if waiting and waiting[0] and lookup(data, path) == "InOrder":
        where: Path = (*_JOBS, waiting[0], "dependsOn")
        what = "conflicts with startupPolicyOrder InOrder"
        yield refused(where, what, "delete startupPolicy: the API server refuses both", key=True)


_PART = re.compile(r"[a-z0-9-]+\Z")


def _generated_names(name: str, jobs: list[Data]) -> Iterator[Problem]:
    """Names of jobs and their pods are host names, and begin with a letter."""
    if name and (not name[0].isalpha() or "." in name):
        advice = f"write a name with a letter first, and no dot: {_WHO}"
        yield refused(("metadata", "name"), f'is "{name}", which begins the names of pods', advice)
    for position, job in enumerate(jobs):
        part = name_of(job)
        replicas, spec = whole(job.get("replicas", 1)), mapping(lookup(job, ("template", "spec")))
        yield from not_below(job, (*_JOBS, position), "replicas", 0, _WHO)
        group = name_of(job, "groupName")
        if group and (not group[0].isalpha() or "." in group or dns_label_problem(group)):
            advice = f"write lower-case letters, digits and -, with a letter first: {_WHO}"
            yield refused((*_JOBS, position, "groupName"), f'is "{group}", no host name', advice)
        if part and not _PART.match(part) and not is_capitals(part):
            advice = f"write lower-case letters, digits and -: {_WHO}"
            yield refused((*_JOBS, position, "name"), f'is "{part}", no part of the name of a host', advice)
            continue
        pods = whole(spec.get("completions"))
        if not name or not part or not replicas or replicas < 1:
            continue
        longest = f"{name}-{part}-{replicas - 1}"
        if pods and spec.get("completionMode", _INDEXED) == _INDEXED:
            longest += f"-{pods - 1}{_RANDOM}"
        if len(longest) > _LONGEST:
            size = f"names of {len(longest)} characters, more than {_LONGEST}"
            what = f'is "{part}": with the name of the JobSet it makes {size}'
            advice = f"shorten one of the two by {len(longest) - _LONGEST}: {_WHO}"
            yield refused((*_JOBS, position, "name"), what, advice)


_POD: Path = ("template", "spec", "template", "spec")


def claims_elsewhere(listed: object, path: Path) -> Iterator[Problem]:
    """Templates of claims with a namespace: a JobSet makes them in its own."""
    for position, policy in numbered(listed):
        for number, template in numbered(policy.get("templates")):
            if mapping(template.get("metadata")).get("namespace"):
                where = (*path, position, "templates", number, "metadata", "namespace")
                advice = "delete it: the API server refuses it"
                yield refused(where, "may not be set in a template", advice, key=True)


def _volumes(data: Data, jobs: list[Data]) -> Iterator[Problem]:
    """Volumes that JobSet makes and adds to pods."""
    path: Path = ("spec", "volumeClaimPolicies")
    yield from claims_elsewhere(lookup(data, path), path)
    for _, policy in numbered(lookup(data, path)):
        for _, template in numbered(policy.get("templates")):
            metadata = mapping(template.get("metadata"))
            if name := name_of(metadata):
                yield from _own_volumes(name, jobs)


def _own_volumes(name: str, jobs: list[Data]) -> Iterator[Problem]:
    for position, job in enumerate(jobs):
        for number, volume in numbered(lookup(job, (*_POD, "volumes"))):
            if name_of(volume) == name:
                where = (*_JOBS, position, *_POD, "volumes", number, "name")
                advice = f"delete the volume: {_WHO}"
                yield refused(where, f'is "{name}", which volumeClaimPolicies adds', advice)


_MOST = 2**31 - 1


def _restarted_in_place(data: Data, jobs: list[Data]) -> Iterator[Problem]:
    """Containers are restarted in their pods, so the Job itself must never fail (since v0.11)."""
    if lookup(data, ("spec", "failurePolicy", "restartStrategy")) != "InPlaceRestart":
        return
    wanted = {"backoffLimit": _MOST, "podReplacementPolicy": "Failed"}
    for position, job in enumerate(jobs):
        spec = mapping(lookup(job, ("template", "spec")))
        for field, value in wanted.items():
            if spec and spec.get(field) != value:
                at: Path = (*_JOBS, position, "template", "spec")
                there = (*at, field) if field in spec else at
                says = f"is {spec[field]}" if field in spec else f"has no {field}"
                what = f"{says}, but restartStrategy InPlaceRestart demands {value}"
                yield refused(there, what, f"write {field}: {value}: {_WHO}", kind=INCONSISTENT)
                return
