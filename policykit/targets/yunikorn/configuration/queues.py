"""A queue of queues.yaml with those below it, written and read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from policykit.manifests.shape import mapping
from policykit.targets.yunikorn.configuration import limits, resources
from policykit.targets.yunikorn.configuration.limits import Limit
from policykit.targets.yunikorn.configuration.resources import Resources
from policykit.targets.yunikorn.configuration.shape import flag, items, text, texts, whole, without_unset

ROOT = "root"


class ChildTemplate(NamedTuple):
    """What leaf queues get that a placement rule makes below a queue."""

    applications: int = 0
    properties: Mapping[str, str] = {}
    resources: Resources = Resources()


class Queue(NamedTuple):
    """A queue. Names of resources and properties are YuniKorn's, amounts are texts in its grammar."""

    name: str
    parent: bool = False
    """Holds queues, not applications."""
    submit: str = ""
    """submitacl: users and groups, see `acl`."""
    admin: str = ""
    resources: Resources = Resources()
    applications: int = 0
    """maxapplications; 0: unlimited."""
    properties: Mapping[str, str] = {}
    template: ChildTemplate = ChildTemplate()
    limits: tuple[Limit, ...] = ()
    queues: tuple[Queue, ...] = ()

    @property
    def leaf(self) -> bool:
        return not self.parent and not self.queues


def walk(queue: Queue, path: str = ROOT) -> Iterator[tuple[str, Queue]]:
    """A queue and all below it, each with its whole path."""
    yield path, queue
    for child in queue.queues:
        yield from walk(child, f"{path}.{child.name}")


def write(queue: Queue) -> dict[str, Any]:
    """The queue as plain data; what is unset is left out."""
    return {
        "name": queue.name,
        **without_unset(
            {
                "parent": queue.parent,
                "submitacl": queue.submit,
                "adminacl": queue.admin,
                "maxapplications": queue.applications,
                "properties": dict(sorted(queue.properties.items())),
                "resources": resources.write(queue.resources),
                "childtemplate": _write_template(queue.template),
                "limits": [limits.write(limit) for limit in queue.limits],
                "queues": [write(child) for child in queue.queues],
            }
        ),
    }


def _write_template(template: ChildTemplate) -> dict[str, Any]:
    return without_unset(
        {
            "maxapplications": template.applications,
            "properties": dict(sorted(template.properties.items())),
            "resources": resources.write(template.resources),
        }
    )


def read(data: Mapping[str, Any]) -> Queue:
    """A queue; what is absent or of another shape has YuniKorn's default."""
    template = mapping(data.get("childtemplate"))
    return Queue(
        text(data.get("name")),
        flag(data.get("parent")) is True,
        text(data.get("submitacl")),
        text(data.get("adminacl")),
        resources.read(data.get("resources")),
        whole(data.get("maxapplications")),
        texts(data.get("properties")),
        ChildTemplate(
            whole(template.get("maxapplications")),
            texts(template.get("properties")),
            resources.read(template.get("resources")),
        ),
        tuple(limits.read(limit) for limit in items(data.get("limits"))),
        tuple(read(child) for child in items(data.get("queues"))),
    )
