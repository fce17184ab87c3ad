"""Properties of queues that YuniKorn does not read, or reads otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.manifests.path import Path
from policykit.targets.release import Version
from policykit.targets.yunikorn.checks.problem import Located, Problem
from policykit.targets.yunikorn.configuration import properties
from policykit.targets.yunikorn.configuration.queues import Queue


def problems(tree: Located, version: Version | None) -> Iterator[Problem]:
    """`version` None: none is stated, and what some release reads is fine."""
    for each in tree.walk():
        for prefix, stated in (
            ((), each.queue.properties),
            (("childtemplate",), each.queue.template.properties),
        ):
            yield from _texts(stated, (*each.path, *prefix, "properties"), version)
        yield from _for_leaves(each.queue, each.path)


def _texts(stated: Mapping[str, str], path: Path, version: Version | None) -> Iterator[Problem]:
    for name, text in stated.items():
        wrong = properties.unread(name, text, version) if text else ""
        if wrong:
            bad_value = name in properties.KNOWN and wrong.startswith(("is '", 'is "'))
            advice = "correct it: YuniKorn uses the default instead" if bad_value else "correct or delete it"
            yield Problem((*path, name), "property", f"property {name} {wrong}", advice, key=not bad_value)


def _for_leaves(queue: Queue, path: Path) -> Iterator[Problem]:
    """Properties of leaves on a queue below which only placement rules make queues."""
    if queue.queues or not queue.parent:
        return
    for name, text in queue.properties.items():
        leaf = name in properties.OF_LEAVES or (name, text.lower()) == (properties.PREEMPTION, "disabled")
        if leaf and name not in queue.template.properties and properties.KNOWN[name].takes(text):
            yield Problem(
                (*path, "properties", name),
                "property-of-leaves",
                f"{name} of queue {queue.name} does not reach the queues that placement rules make below it",
                "move it to childtemplate.properties, which those queues have",
                key=True,
            )
