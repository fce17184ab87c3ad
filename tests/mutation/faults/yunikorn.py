"""Faults of YuniKorn's queues.yaml."""

from collections.abc import Iterator
from typing import Any

from policykit.manifests.patch import APPEND
from policykit.manifests.path import Path
from tests.mutation.clean import Subject
from tests.mutation.fault import Change, Inject, fault, misspelt, put, remove, rename, replace
from tests.mutation.places import at, named, walk


def _conf(subject: Subject) -> bool:
    return subject.manifest.kind == "queues.yaml"


def _queues(subject: Subject) -> Iterator[tuple[Path, dict[str, Any]]]:
    for path, value in walk(subject.manifest.data) if _conf(subject) else ():
        if len(path) > 1 and path[-2] == "queues" and isinstance(value, dict) and "name" in value:
            yield path, value


def _key(subject: Subject) -> Iterator[Change]:
    keys = ("queues", "submitacl", "resources", "guaranteed", "max", "limits", "properties", "placementrules")
    for path, _ in named(subject.manifest.data, *keys) if _conf(subject) else ():
        yield rename(path, misspelt(str(path[-1])))


def _twins(subject: Subject) -> Iterator[Change]:
    for path, queue in _queues(subject):
        if path[-1] == 0 and len(path) > 5:
            yield put((*path[:-1], APPEND), {"name": queue["name"]})


def _name(value: str) -> Inject:
    def inject(subject: Subject) -> Iterator[Change]:
        for path, queue in _queues(subject):
            if queue["name"] != "root":
                yield replace((*path, "name"), value)

    return inject


def _acl(value: str) -> Inject:
    def inject(subject: Subject) -> Iterator[Change]:
        for path, _ in named(subject.manifest.data, "submitacl") if _conf(subject) else ():
            yield replace(path, value)

    return inject


def _no_acl(subject: Subject) -> Iterator[Change]:
    """Nobody may submit any more, anywhere on the way to a leaf."""
    acls = (
        [path for path, _ in named(subject.manifest.data, "submitacl", "adminacl")] if _conf(subject) else []
    )
    if len(acls) == 1:
        yield remove(acls[0])


def _amount(part: str, value: str, *, below: bool = False) -> Inject:
    def inject(subject: Subject) -> Iterator[Change]:
        for path, queue in _queues(subject):
            amounts = (queue.get("resources") or {}).get(part)
            other = (queue.get("resources") or {}).get("max" if part == "guaranteed" else "guaranteed")
            for key in amounts if isinstance(amounts, dict) else ():
                over = any(
                    key in ((at(subject, path[:end]) or {}).get("resources") or {}).get(part, {})
                    for end in range(2, len(path) - 1)
                    if isinstance(at(subject, path[:end]), dict)
                )
                if over if below else isinstance(other, dict) and key in other:
                    yield replace((*path, "resources", part, key), value)

    return inject


def _every_amount(value: str) -> Inject:
    def inject(subject: Subject) -> Iterator[Change]:
        for path, queue in _queues(subject):
            for part in ("guaranteed", "max"):
                amounts = (queue.get("resources") or {}).get(part)
                for key in amounts if isinstance(amounts, dict) else ():
                    yield replace((*path, "resources", part, key), value)

    return inject


def _cpu(subject: Subject) -> Iterator[Change]:
    for path, queue in _queues(subject):
        for part in ("guaranteed", "max"):
            amounts = (queue.get("resources") or {}).get(part)
            if isinstance(amounts, dict) and "vcore" in amounts and "cpu" not in amounts:
                yield rename((*path, "resources", part, "vcore"), "cpu")


def _rule(subject: Subject) -> Iterator[Change]:
    for path, value in named(subject.manifest.data, "placementrules") if _conf(subject) else ():
        for index, rule in enumerate(value if isinstance(value, list) else ()):
            yield replace((*path, index, "name"), misspelt(rule["name"]))


def _limit(subject: Subject) -> Iterator[Change]:
    """A limit above what its queue may use."""
    for path, queue in _queues(subject):
        most = (queue.get("resources") or {}).get("max")
        if isinstance(most, dict) and most and "limits" not in queue:
            key = next(iter(most))
            item = {"limit": "everybody", "users": ["*"], "maxresources": {key: "900T"}}
            yield put((*path, "limits"), [item])


def _no_limit(subject: Subject) -> Iterator[Change]:
    for path, queue in _queues(subject):
        if "limits" not in queue:
            yield put((*path, "limits"), [{"limit": "nothing", "users": ["somebody"]}])


def _root_max(subject: Subject) -> Iterator[Change]:
    for path, queue in _queues(subject):
        if queue["name"] == "root" and not queue.get("resources"):
            yield put((*path, "resources"), {"max": {"vcore": "100"}})


def _sort(subject: Subject) -> Iterator[Change]:
    for path, queue in _queues(subject):
        properties = queue.get("properties")
        if properties is None or "application.sort.policy" in properties:
            yield put((*path, "properties", "application.sort.policy"), "fiffo")


def _nodes(subject: Subject) -> Iterator[Change]:
    partitions = at(subject, ("partitions",)) if _conf(subject) else None
    for index in range(len(partitions) if isinstance(partitions, list) else 0):
        yield put(("partitions", index, "nodesortpolicy"), {"type": "binpack"})
        yield put(("partitions", index, "nodesortpolicy"), "binpacking")


_CONFIG = "PK701 PK003"

FAULTS = (
    fault("a misspelt key of queues.yaml", _CONFIG, _key),
    fault("two queues of one name", "PK701 PK403", _twins),
    fault("a dot in a queue's name", "PK701", _name("team.a")),
    fault("a blank in a queue's name", "PK701", _name("team a")),
    fault("an ACL of three words", "PK701 PK703", _acl("one two three")),
    fault("an ACL that is separated by semicolons", "PK703 PK701", _acl("one;two")),
    fault("no ACL at all", "PK411", _no_acl),
    fault("a guarantee above the maximum", "PK701 PK406", _amount("guaranteed", "900T")),
    fault("a guarantee above the parent's", "PK701 PK404", _amount("guaranteed", "900T", below=True)),
    fault("a maximum above the parent's", "PK701 PK405", _amount("max", "900T", below=True)),
    fault("an amount that is a word", "PK701", _every_amount("many")),
    fault("a negative amount", "PK701", _every_amount("-1")),
    fault("cpu for vcore", "PK408 PK704", _cpu),
    fault("a misspelt placement rule", "PK701 PK702", _rule),
    fault("a limit above its queue", "PK701 PK704", _limit),
    fault("a limit without amounts", "PK701 PK704", _no_limit),
    fault("a maximum of root", "PK701", _root_max),
    fault("an unknown order of applications", "PK705 PK701", _sort),
    fault("an unknown order of nodes", "PK701", _nodes),
)
