"""A YuniKorn configuration differs from the policy.

With missing queues, different amounts, access lists or priorities, or another node order, the
cluster shares its cards differently from what the policy says. `policykit gen` writes the
configuration of a policy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policykit.errors import PolicykitError
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.model.queue import Submitters
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple
from policykit.rules.yunikorn.queue_config import settled
from policykit.targets.yunikorn import NAME
from policykit.targets.yunikorn.configuration import access_lists
from policykit.targets.yunikorn.configuration.placement_rules import Rule as PlacementRule
from policykit.targets.yunikorn.configuration.queues_yaml import Partition, Queue, QueueNode
from policykit.targets.yunikorn.configuration.values import counted
from policykit.targets.yunikorn.default_partition import read
from policykit.targets.yunikorn.names import ROOT
from policykit.targets.yunikorn.policy_configuration import policy_configuration
from policykit.targets.yunikorn.queue_tree import queue_paths
from policykit.targets.yunikorn.validation.queues import shown

BAD = """\
partitions:
- name: default
  nodesortpolicy: {type: fair}
  queues:
  - name: root
    submitacl: '*'
"""

GOOD = """\
partitions:
- name: default
  nodesortpolicy:
    type: binpacking
    resourceweights: {memory: 1, nvidia.com/gpu: 17, vcore: 1}
  placementrules:
  - name: provided
  - {name: tag, value: namespace.parentqueue}
  - name: tag
    value: namespace
    create: true
    parent: {name: tag, value: namespace.parentqueue}
  - {name: fixed, value: root.default}
  queues:
  - name: root
    queues:
    - name: research
      resources:
        guaranteed: {nvidia.com/gpu: 96}
        max: {nvidia.com/gpu: 128}
      queues:
      - name: team-a
        submitacl: " team-a"
        resources:
          guaranteed: {nvidia.com/gpu: 64}
      - name: team-b
        submitacl: " team-b"
        resources:
          guaranteed: {nvidia.com/gpu: 32}
    - name: production
      submitacl: " serving"
      resources:
        guaranteed: {nvidia.com/gpu: 64}
        max: {nvidia.com/gpu: 64}
    - name: default
      submitacl: '*'
"""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Against the configuration that the policy generates; silent where it cannot be generated."""
    cluster = context.cluster
    target = cluster.targets.get("yunikorn") if cluster else None
    found = read(manifest, cluster)
    if cluster is None or target is None or found is None:
        return
    try:
        wanted = policy_configuration(cluster, target).configuration.partitions[0]
    except PolicykitError:
        return
    listed = queue_paths(cluster.queues).values()
    different = _violations(found.partition, found.tree, found.path, wanted, listed)
    yield from settled(different, manifest)


def _violations(
    partition: Partition, tree: QueueNode, path: Path, wanted: Partition, listed: Iterable[str]
) -> Iterator[Violation]:
    """`listed` are the whole paths of the policy's queues."""
    top = (wanted.queues or (Queue(ROOT),))[0]
    yield from _queues(
        _FileQueue(tree, _opens(tree.queue)), top, ROOT, frozenset(name.lower() for name in listed)
    )
    yield from _rules(partition.rules, wanted.rules, (*path, "placementrules"))
    yield from _sorting(partition, wanted, (*path, "nodesortpolicy"))
    enabled = partition.preemption.enabled is not False
    if wanted.preemption.enabled is not None and enabled != wanted.preemption.enabled:
        message = f"preemption is {_switch(enabled)}, but {_switch(not enabled)} in the policy"
        where = (*path, "preemption", "enabled")
        yield Violation(where, message, f"write enabled: {str(not enabled).lower()}")


def _switch(enabled: bool) -> str:
    return "on" if enabled else "off"


class _FileQueue(NamedTuple):
    """A queue of the file."""

    here: QueueNode
    opened: str
    """The queue at or above it that lets everybody in; empty: none does."""


def _opens(queue: Queue) -> str:
    lists = (access_lists.read(queue.submit), access_lists.read(queue.admin))
    return queue.name if access_lists.ALL in lists else ""


def _queues(side: _FileQueue, wanted: Queue, path: str, listed: frozenset[str]) -> Iterator[Violation]:
    there = {child.queue.name.lower(): child for child in side.here.children}
    for each in wanted.queues:
        place, found = f"{path}.{each.name.lower()}", there.get(each.name.lower())
        if found is not None:
            yield from _queue(found, each)
            yield from _access(found, each, side.opened)
            yield from _queues(_FileQueue(found, side.opened or _opens(found.queue)), each, place, listed)
        elif place in listed:
            message = f"queue {place} of the policy is missing"
            yield Violation(side.here.path, message, "add it, or remove it from the policy")


def _access(here: QueueNode, wanted: Queue, opened: str) -> Iterator[Violation]:
    people, meant = access_lists.read(here.queue.submit), access_lists.read(wanted.submit)
    if not wanted.submit or people is None or meant is None:
        return
    if meant == access_lists.ALL and (opened or _opens(here.queue)):
        return
    name, where = here.queue.name, (*here.path, "submitacl")
    if opened:
        message = f"queue {opened} lets everybody submit to {name}, but the policy only {wanted.submit!r}"
        advice = f"remove the access list of {opened}, or change the policy"
        yield Violation(where, message, advice)
    elif _sets(people) != _sets(meant):
        message = f"submitacl of queue {name} is {here.queue.submit!r}, but {wanted.submit!r} in the policy"
        yield Violation(where, message, "use the policy's list, or change the policy")


def _sets(people: Submitters) -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(people.users), frozenset(people.groups)


def _queue(here: QueueNode, wanted: Queue) -> Iterator[Violation]:
    queue, path = here.queue, here.path
    for key, has, wants in (
        ("guaranteed", queue.resources.guaranteed, wanted.resources.guaranteed),
        ("max", queue.resources.maximum, wanted.resources.maximum),
    ):
        there = counted(has)
        for name, amount in counted(wants).items():
            if there.get(name) != amount:
                says = f"is {shown(name, there[name])}" if name in there else "is not set"
                yield Violation(
                    (*path, "resources", key, name),
                    f"{key} {name} of queue {queue.name} {says}, but {shown(name, amount)} in the policy",
                    f"write {name}: {shown(name, amount)}, or change the policy",
                )
    for name, text in wanted.properties.items():
        if queue.properties.get(name) != text:
            says = f"is {queue.properties[name]}" if name in queue.properties else "is not set"
            message = f"{name} of queue {queue.name} {says}, but {text} in the policy"
            where = (*path, "properties", name)
            yield Violation(where, message, f'write {name}: "{text}", or change the policy')


def _rules(
    listed: tuple[PlacementRule, ...], wanted: tuple[PlacementRule, ...], path: Path
) -> Iterator[Violation]:
    left = iter(map(_compared, listed))
    missing = next((rule for rule in wanted if _compared(rule) not in left), None)
    if missing is not None:
        what = " below ".join(_shown(each) for each in reversed(missing.chain))
        message = f"placement rule {what} of the policy is missing or out of order"
        yield Violation(path, message, "`policykit gen` writes the policy's rules")


def _compared(rule: PlacementRule) -> PlacementRule:
    """As it works: rule names are not case-sensitive."""
    parent = _compared(rule.parent) if rule.parent else None
    return rule._replace(name=rule.name.lower(), parent=parent)


def _shown(rule: PlacementRule) -> str:
    return f"{rule.name} {rule.value}".strip()


def _sorting(partition: Partition, wanted: Partition, path: Path) -> Iterator[Violation]:
    has, wants = partition.node_sort, wanted.node_sort
    if wants.type and (has.type or "fair") != wants.type:
        message = f"nodes are sorted by {has.type or 'fair'}, but by {wants.type} in the policy"
        yield Violation((*path, "type"), message, f"write type: {wants.type}")
        return
    missing = sorted(name for name, weight in wants.weights.items() if weight and not has.weights.get(name))
    if missing and (has.weights or set(missing) - {"vcore", "memory"}):
        message = f"node sorting has no weight for {', '.join(missing)}, which the policy sets"
        added = ", ".join(f"{name}: {wants.weights[name]:g}" for name in missing)
        yield Violation((*path, "resourceweights"), message, f"add {added}")


RULE = Rule(
    code="PK712",
    name="yunikorn-config-off-policy",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({NAME}),
    needs_policy=True,
)
