"""Faults of YuniKorn's queues.yaml."""

from collections.abc import Iterator
from typing import Any

from policykit.manifests.patch import APPEND, Patch
from policykit.manifests.path import Path
from tests.mutation.clean import Subject
from tests.mutation.fault import Change, Inject, fault, misspelt, put, remove, rename, replace
from tests.mutation.places import PREFERRED, at, containers, named, walk


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


def _template(subject: Subject) -> Iterator[Change]:
    """Part of a core, for queues that are made later."""
    for path, queue in _queues(subject):
        if (
            queue["name"] != "root"
            and (queue.get("parent") or queue.get("queues"))
            and "childtemplate" not in queue
        ):
            yield put((*path, "childtemplate"), {"resources": {"max": {"vcore": 1.5}}})


def _capitals(subject: Subject) -> Iterator[Change]:
    for path, queue in _queues(subject):
        if queue["name"] != "root" and queue.get("limits"):
            yield replace((*path, "name"), str(queue["name"]).capitalize())


def _setting(subject: Subject) -> Iterator[Change]:
    """A setting of a misspelt name."""
    data = at(subject, ("data",)) if subject.manifest.kind == "ConfigMap" else None
    if subject.manifest.name in ("yunikorn-configs", "yunikorn-defaults") and isinstance(data, dict):
        yield put(("data", "service.schedulingIntervall"), "1s")


def _namespace(subject: Subject) -> Iterator[Change]:
    """An amount that is not text."""
    if subject.manifest.kind == "Namespace":
        key = "yunikorn.apache.org/namespace.quota"
        yield put(("metadata", "annotations", key), '{"cpu": 64, "memory": "256Gi"}')


def _preempts(subject: Subject) -> Iterator[Change]:
    """A delay where nothing is guaranteed."""
    promised = any(named(subject.manifest.data, "guaranteed"))
    for path, queue in _queues(subject) if not promised else ():
        if queue["name"] != "root" and "properties" not in queue and not queue.get("queues"):
            yield put((*path, "properties", "preemption.delay"), "10s")


def _served(subject: Subject) -> bool:
    return any(one.scheduler_name == "yunikorn" for one in subject.pod_sets)


def _nothing_asked(subject: Subject) -> Iterator[Change]:
    found = list(containers(subject)) if _served(subject) and len(subject.pod_sets) == 1 else []
    asking = [path for path, container in found if container.get("resources")]
    if asking and not any(named(subject.manifest.data, "initContainers")):
        yield Change(tuple(Patch("remove", (*path, "resources")) for path in asking))


def _preferred(subject: Subject) -> Iterator[Change]:
    for pod_set in subject.pod_sets if _served(subject) and subject.cluster is None else ():
        path = pod_set.place("affinity")
        if path[-1:] == ("affinity",) and at(subject, path) is None and pod_set.labels:
            key, value = next(iter(pod_set.labels.items()))
            term = {
                "topologyKey": "topology.kubernetes.io/zone",
                "labelSelector": {"matchLabels": {key: value}},
            }
            yield put(path, {"podAffinity": {PREFERRED: [{"weight": 100, "podAffinityTerm": term}]}})


def _spreads(subject: Subject) -> Iterator[Change]:
    """Nodes are filled evenly where the policy packs."""
    yunikorn = subject.cluster is not None and "yunikorn" in subject.cluster.targets
    for index, partition in enumerate(
        at(subject, ("partitions",)) or () if _conf(subject) and yunikorn else ()
    ):
        policy = partition.get("nodesortpolicy") if isinstance(partition, dict) else None
        if isinstance(policy, dict) and policy.get("type") == "binpacking":
            yield replace(("partitions", index, "nodesortpolicy"), {"type": "fair"})


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
    fault("nodes filled evenly where the policy packs", "PK712", _spreads),
    fault("part of a core in a template", "PK706 PK701", _template),
    fault("a queue in capitals", "PK707", _capitals),
    fault("a misspelt setting of YuniKorn", "PK709", _setting),
    fault("a quota of a namespace that is not text", "PK710", _namespace),
    fault("preemption without a guarantee", "PK711", _preempts),
    fault("pods that ask for nothing", "PK713", _nothing_asked),
    fault("a preference that nobody heeds", "PK714", _preferred),
)
