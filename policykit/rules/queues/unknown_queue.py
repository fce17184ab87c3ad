"""A workload names a queue that does not exist.

Volcano refuses jobs and PodGroups of a queue that does not exist, YuniKorn rejects the application
or puts it elsewhere, Koordinator charges its default quota, Kueue never admits the workload. The
rule knows the queues of the policy and of the files linted together; without either it reports
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice

from policykit.kube.placeholders import UnfilledNames, is_placeholder
from policykit.linter.finding import Resource
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.manifests.patch import Patch
from policykit.model.declared_queues import QueueUse
from policykit.model.references import NameAffix
from policykit.model.severity import Applicability, Severity
from policykit.namedtuple import NamedTuple
from policykit.targets.facts import queue_trees
from policykit.targets.facts.queue_trees import Destination, Directory

BAD = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: research
spec:
  weight: 1
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: train
spec:
  queue: reserach
  minAvailable: 1
  tasks:
  - name: worker
    replicas: 1
    template:
      spec:
        restartPolicy: OnFailure
        containers:
        - name: main
          image: registry.example/train:1
          resources:
            requests: {cpu: "4", memory: 16Gi}
"""

GOOD = BAD.replace("reserach", "research")

_SHOWN = 5
"""Names of queues in a message."""


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Each named queue, where the existing ones are known."""
    directories: dict[str, Directory] = {}
    declared: dict[str, _Declared] = {}
    affixes = tuple(sorted({(each.value.prefix, each.value.suffix) for each in scope.of(NameAffix)}))
    for use in scope.of(QueueUse):
        target_name, name = use.value.target_name, use.value.queue
        known = directories.get(target_name)
        if known is None:
            known = directories[target_name] = queue_trees.directory(target_name, scope, context.cluster)
            declared[target_name] = _declared(known, affixes)
        if is_placeholder(name) or not known.proves_absence:
            continue
        found = queue_trees.destination(use.value, known)
        if (
            found
            and found.verdict in _REPORTED
            and not _where_it_is_applied(use.value, found, known, context)
        ):
            last = _last(found.queue)
            if declared[target_name].unfilled.may_be(last):
                continue
            # A file of queues names each level by itself.
            if not any(map(scope.may_hold, {found.queue, last, last.rpartition(".")[2]})):
                yield _violation(use, found, known, declared[target_name])


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def _where_it_is_applied(use: QueueUse, found: Destination, known: Directory, context: Context) -> bool:
    """Whether a queue of another namespace has the name, and the object may be applied to that one."""
    if not known.semantics.namespaced or use.namespace not in ("", context.namespace):
        return False
    return any(name.rpartition("/")[2] == use.queue for name in found.known)


def _violation(
    use: LocatedFact[QueueUse], found: Destination, known: Directory, declared: _Declared
) -> Violation:
    # Where neither the policy nor a likely name says so, another repository may define the queue.
    message = _message(use.value, found, known)
    misspelt = queue_trees.is_misspelt(use.value, found, known)
    near = queue_trees.likely(use.value, found, known)
    likely = near if misspelt else ""
    certain = found.verdict == queue_trees.NOWHERE and (misspelt or known.policy.queues)
    return Violation(
        use.at("queue"),
        message,
        "\n".join((_advice(found, known, likely), *_renamed(use, near, declared))),
        None if certain else Severity.WARNING,
        fix=partial(_fix, use, likely) if likely else None,
    )


_REPORTED = frozenset({queue_trees.UNREAD, queue_trees.ELSEWHERE, queue_trees.NOWHERE})


def _message(use: QueueUse, found: Destination, known: Directory) -> str:
    name = use.queue if use.queue == found.queue else f"{use.queue} ({found.queue})"
    if known.semantics.namespaced:
        name = found.queue
    if found.verdict == queue_trees.UNREAD:
        return f"no YuniKorn placement rule reads the queue that a pod names: {name} has no effect"
    who = "neither the policy nor the files here define" if known.policy.queues else "no file here defines"
    tail = ": other placement rules place the pods" if found.verdict == queue_trees.ELSEWHERE else ""
    return f"{who} {known.semantics.noun} {name}{tail}"


def _advice(found: Destination, known: Directory, likely: str) -> str:
    if found.verdict == queue_trees.UNREAD:
        return "delete the queue, or add a `provided` rule to placementrules"
    fault = known.semantics.unknown_fault
    if found.verdict == queue_trees.ELSEWHERE:
        fault = "the pods go to another queue than the one they name"
    if likely:
        return f"did you mean {likely}? {fault}"
    may_be_named = (name for name in found.known if not known.semantics.namespaced or "/" in name)
    names = [*islice(may_be_named, _SHOWN + 1)]
    there = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    first = f"defined: {there}; " if there else ""
    return f"{first}{fault}"


class _Declared(NamedTuple):
    """The queues of one system by the ends of their names, and what kustomizations add to names."""

    unfilled: UnfilledNames
    resources: Mapping[str, Resource]
    affixes: tuple[tuple[str, str], ...]


def _declared(known: Directory, affixes: tuple[tuple[str, str], ...]) -> _Declared:
    names = UnfilledNames(_last(each.value.name) for each in known.declared)  # in whatever namespace
    return _Declared(names, {each.resource.name: each.resource for each in known.declared}, affixes)


def _renamed(use: LocatedFact[QueueUse], near: str, declared: _Declared) -> Iterator[str]:
    """What keeps the reference where a kustomization renames the queue: kustomize knows none to queues."""
    now, path = _last(near), use.place("queue").path
    queue = declared.resources.get(now)
    if queue is None or not all(isinstance(step, str) for step in path):
        return
    for prefix, suffix in declared.affixes:
        if f"{prefix}{use.value.queue}{suffix}" == now:
            field = "namePrefix" if prefix else "nameSuffix"
            steps = "/".join(str(step).replace("/", "\\/") for step in path)
            group = queue.api_version.partition("/")[0]
            yield f"or, since {field} renames the queue, tell kustomize of the reference in `configurations`:"
            yield (
                f"nameReference: [{{kind: {queue.kind}, group: {group}, "
                f"fieldSpecs: [{{kind: {use.resource.kind}, path: {steps}}}]}}]"
            )
            return


def _fix(use: LocatedFact[QueueUse], likely: str) -> Fix:
    path, name = use.place("queue").path, likely.rpartition("/")[2]
    return Fix(f"submit to {name}", (Patch("replace", path, name),), Applicability.UNSAFE)


RULE = Rule(
    code="PK401",
    name="unknown-queue",
    severity=Severity.ERROR,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(QueueUse,),
    fix=Applicability.UNSAFE,
)
