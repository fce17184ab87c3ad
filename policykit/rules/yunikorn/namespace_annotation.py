"""A YuniKorn annotation of a namespace is ignored or has no effect.

YuniKorn takes the quota of a namespace's queue from annotations: JSON with string values, and the
resource names and quantities of Kubernetes. What it cannot read it ignores with a line in the log,
and the queue is unlimited. The annotations apply only to queues created for the namespace: a queue
of queues.yaml has its own amounts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import TYPE_CHECKING

from policykit.errors import PolicykitError
from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.declared_queues import NAMESPACE, PARENT, NamespaceMetadata, Route, StaticQueues
from policykit.model.quantity import parse
from policykit.model.severity import Severity
from policykit.nearest import nearest
from policykit.targets.yunikorn.facts import AMOUNTS, amount_field, annotation_amounts
from policykit.targets.yunikorn.names import NAMESPACE_QUOTA, PARENT_QUEUE
from policykit.targets.yunikorn.validation.failures import never_counted

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

BAD = """\
apiVersion: v1
kind: Namespace
metadata:
  name: research
  annotations:
    yunikorn.apache.org/namespace.quota: '{"cpu": 64, "memory": "256Gi"}'
"""

GOOD = BAD.replace("64,", '"64",')

_MAX_APPS = "yunikorn.apache.org/namespace.maxApps"
_SWITCHES = ("yunikorn.apache.org/namespace.enableYuniKorn", "yunikorn.apache.org/namespace.generateAppId")
_OLD = ("yunikorn.apache.org/namespace.max.cpu", "yunikorn.apache.org/namespace.max.memory")
_KNOWN = (*AMOUNTS, _MAX_APPS, PARENT_QUEUE, *_SWITCHES, *_OLD)
_LIKENESS = 0.9
_EXAMPLE = 'write {"cpu": "10", "memory": "64Gi"}: Kubernetes names and quantities, both quoted'

_Namespace = LocatedFact[NamespaceMetadata]


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Each annotation by itself, and against the queues of the scope, or else of the policy."""
    queues = [located.value for located in scope.of(StaticQueues)]
    namespaces = scope.of(NamespaceMetadata)
    if namespaces and not queues and context.cluster:
        queues = _of_policy(context.cluster)
    configurations = [(frozenset(each.leaves), each.routes) for each in dict.fromkeys(queues)]
    for located in namespaces:
        annotations = dict(located.value.annotations)
        yield from _annotation_violations(located, annotations)
        limits = [name for name in (*AMOUNTS, _MAX_APPS) if name in annotations]
        place = _only_static_queue(located.value.namespace, annotations, configurations) if limits else ""
        for name in limits:
            if place:
                message = f"{name} has no effect: namespace {located.value.namespace} uses queue {place}"
                advice = "set the amounts there: annotations apply only to queues that placement rules create"
                yield Violation(located.at(name), f"{message}, which queues.yaml defines", advice)


def _of_policy(cluster: Cluster) -> list[StaticQueues]:
    from policykit.targets.yunikorn.policy_configuration import policy_configuration
    from policykit.targets.yunikorn.queue_facts import static_queues

    target = cluster.targets.get("yunikorn")
    if target is None:
        return []
    try:
        made = policy_configuration(cluster, target)
    except PolicykitError:
        return []
    return [static_queues(made.configuration.partitions[0], made.root)]


def _annotation_violations(located: _Namespace, annotations: Mapping[str, str]) -> Iterator[Violation]:
    """Annotations that are ignored, or that mean something else than they seem to.

    Source: shim pkg/common/utils and pkg/cache, release 1.9.
    """
    for name, text in annotations.items():
        if is_placeholder(text):
            continue
        if name in AMOUNTS:
            yield from _amounts(located, name, text)
        elif name == _MAX_APPS and not (text.isascii() and text.isdecimal()):
            yield Violation(
                located.at(name),
                f"{name} is {text!r}, not a whole number of 0 or more: YuniKorn ignores it",
                "correct it",
            )
        elif name in _SWITCHES and text not in ("true", "false"):
            message = f"{name} is {text!r}, which YuniKorn reads as false: only lower-case true is true"
            yield Violation(located.at(name), message, "write true or false in lower case")
        elif name in _OLD and NAMESPACE_QUOTA in annotations:
            yield Violation(
                located.at(name), f"{name} is ignored because {NAMESPACE_QUOTA} is set", "delete it"
            )
        elif name not in _KNOWN:
            near = nearest(name, _KNOWN, _LIKENESS)
            if near:
                yield Violation(located.at(name), f"YuniKorn does not read {name}", f"did you mean {near}?")


def _amounts(located: _Namespace, annotation: str, text: str) -> Iterator[Violation]:
    found = annotation_amounts(annotation, text)
    if not found:
        message = f"{annotation} is not a JSON object of amounts: YuniKorn ignores it"
        yield Violation(located.at(annotation), message, _EXAMPLE)
        return
    numbers = {name: value for name, value in found.items() if not isinstance(value, str)}
    for name, value in numbers.items():
        shown = json.dumps(value)
        message = f"{name} is {shown}, not a string: YuniKorn ignores all of {annotation}"
        advice = f'quote it: "{shown}"' if isinstance(value, (int, float)) else _EXAMPLE
        yield Violation(located.at(amount_field(annotation, name)), message, advice)
    parsed = {name: parse(value) for name, value in found.items() if isinstance(value, str)}
    for name, amount in parsed.items():
        if amount is None and not is_placeholder(found[name]):
            message = f"{found[name]!r} is not a quantity of {name}: YuniKorn ignores all of {annotation}"
            yield Violation(located.at(amount_field(annotation, name)), message, _EXAMPLE)
        elif name == "vcore":
            message = f"vcore {found[name]} in an annotation means {found[name]} thousandths of a core"
            advice = "write cpu: annotations use the names of Kubernetes"
            yield Violation(located.at(amount_field(annotation, name)), message, advice)
        elif name != "cpu" and (meant := never_counted(name)):
            message = f"YuniKorn counts nothing as {name}: the amount has no effect"
            yield Violation(
                located.at(amount_field(annotation, name)), message, f"write {meant.replace('vcore', 'cpu')}"
            )
    if not numbers and all(amount is not None for amount in parsed.values()):
        yield from _negative_or_zero(located, annotation, found)


def _negative_or_zero(
    located: _Namespace, annotation: str, found: Mapping[str, object]
) -> Iterator[Violation]:
    texts = {name: str(text).strip() for name, text in found.items()}
    below = next((name for name, text in texts.items() if text.startswith("-")), "")
    if below:
        message = f"{below} is negative: YuniKorn ignores all of {annotation}"
        yield Violation(located.at(amount_field(annotation, below)), message, "write amounts of 0 or more")
    elif not any(digit in text for text in texts.values() for digit in "123456789"):
        message = f"{annotation} is all zeros, which YuniKorn treats as no quota"
        yield Violation(located.at(annotation), message, "set one resource above zero")


def _only_static_queue(
    namespace: str,
    annotations: Mapping[str, str],
    configurations: Iterable[tuple[Set[str], Iterable[Route]]],
) -> str:
    """The queue that a namespace's pods go to in every configuration, each of leaves and routes; empty: there
    is none.
    """
    given = {NAMESPACE: namespace.replace(".", "_dot_").lower()}
    parent = annotations.get(PARENT_QUEUE, "").lower()
    if parent:
        given[PARENT] = parent.removeprefix("root.")
    found = ""
    for leaves, routes in configurations:
        place = _static_queue(given, leaves, routes)
        if not place or found not in ("", place):
            return ""
        found = place
    return found


def _static_queue(given: Mapping[str, str], leaves: Set[str], routes: Iterable[Route]) -> str:
    """The queue of the configuration that a namespace's pods go to; empty: it has one of its own."""
    for route in routes:
        if any(step in (NAMESPACE, PARENT) and step not in given for step in route.steps):
            continue
        place = ".".join(("root", *(given.get(step, step) for step in route.steps)))
        if place in leaves:
            return place
        if route.create:
            return ""
    return ""


RULE = Rule(
    code="PK710",
    name="namespace-annotation",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(NamespaceMetadata,),
)
