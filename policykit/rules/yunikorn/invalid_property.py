"""A YuniKorn queue has a property or value that YuniKorn does not read.

Unknown properties are ignored, and an invalid value becomes the default with a line in the debug
log. A queue created by a placement rule takes its properties from the child template only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.model.release import Version
from policykit.model.severity import Severity
from policykit.rules.yunikorn.queue_config import settled
from policykit.targets.yunikorn import NAME, versions
from policykit.targets.yunikorn.configuration import properties
from policykit.targets.yunikorn.configuration.queues_yaml import Queue, QueueNode
from policykit.targets.yunikorn.default_partition import read_partial
from policykit.targets.yunikorn.validation.problem import Dependence

BAD = """\
partitions:
- name: default
  queues:
  - name: root
    submitacl: '*'
    queues:
    - name: research
      properties:
        application.sort.policy: FAIR
"""

GOOD = BAD.replace("FAIR", "fair")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Properties of queues and child templates, as the release of the policy reads them."""
    found = read_partial(manifest, context.cluster)
    if found is None:
        return
    version = versions.release_of(context.cluster)
    unread = (each for node in found.tree.walk() for each in _unread(node, version))
    yield from settled(unread, manifest, found, Dependence.VALUE)
    for_leaves = (each for node in found.tree.walk() for each in _for_leaves(node.queue, node.path))
    yield from settled(for_leaves, manifest, found)


def _unread(here: QueueNode, version: Version | None) -> Iterator[Violation]:
    """`version` None: unknown, so what any release reads is fine."""
    yield from _texts(here.queue.properties, (*here.path, "properties"), version)
    template = (*here.path, "childtemplate", "properties")
    yield from _texts(here.queue.template.properties, template, version)


def _texts(stated: Mapping[str, str], path: Path, version: Version | None) -> Iterator[Violation]:
    for name, text in stated.items():
        wrong = properties.no_effect_reason(name, text, version) if text else ""
        if wrong:
            bad_value = name in properties.KNOWN and wrong.startswith(("is '", 'is "'))
            advice = "correct it: YuniKorn falls back to the default" if bad_value else "correct or delete it"
            yield Violation((*path, name), f"property {name} {wrong}", advice, key=not bad_value)


def _for_leaves(queue: Queue, path: Path) -> Iterator[Violation]:
    """Properties of leaves on a queue below which only placement rules create queues."""
    if queue.queues or not queue.parent:
        return
    for name, text in queue.properties.items():
        leaf = name in properties.OF_LEAVES or (name, text.lower()) == (properties.PREEMPTION, "disabled")
        if leaf and name not in queue.template.properties and properties.KNOWN[name].takes(text):
            yield Violation(
                (*path, "properties", name),
                f"queues that placement rules create below {queue.name} do not inherit {name}",
                "move it to childtemplate.properties",
                key=True,
            )


RULE = Rule(
    code="PK705",
    name="invalid-property",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({NAME}),
)
