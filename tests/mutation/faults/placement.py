"""Faults of placement: tolerations, affinities, selectors, schedulers."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policykit.linter.reader import is_partial
from policykit.manifests.patch import APPEND, Patch
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.placement.review import Review
from policykit.placement.review import review as reviewed
from policykit.placement.topology import HOSTNAME, domains
from tests.mutation.clean import Subject
from tests.mutation.fault import Change, Inject, fault, injected, misspelt, put, remove, rename, replace
from tests.mutation.places import (
    PREFERRED,
    REQUIRED,
    at,
    expressions,
    has_schema,
    judged,
    lands,
    limits,
    named,
    owned,
    tolerations,
)

_LANDS_NOWHERE = "PK101 PK102 PK110 PK125"
_OPPOSITE = {"training": "inference", "inference": "training"}


def _each(change: Callable[[Subject, Review], Iterator[Change]]) -> Inject:
    """A fault of every pod set that the policy judges."""

    def inject(subject: Subject) -> Iterator[Change]:
        for seen in judged(subject):
            yield from change(subject, seen)

    return inject


def _losing(change: Callable[[Subject, Review], Iterator[Change]]) -> Inject:
    """Only where a pool that is meant for the pods no longer takes them: others tolerate it, or GKE."""

    def inject(subject: Subject) -> Iterator[Change]:
        for seen in judged(subject):
            for one in change(subject, seen):
                lost, _ = lands(subject, seen, one)
                if lost:
                    yield one

    return inject


def _straying(change: Callable[[Subject, Review], Iterator[Change]]) -> Inject:
    """Only where a pool that is not meant for the pods takes them: no taint keeps them away."""

    def inject(subject: Subject) -> Iterator[Change]:
        for seen in judged(subject):
            for one in change(subject, seen):
                _, strayed = lands(subject, seen, one)
                if strayed:
                    yield one

    return inject


def _dropped(subject: Subject, seen: Review) -> Iterator[Change]:
    yield from (remove(path) for path, _ in owned(subject, seen))


def _all_dropped(subject: Subject, seen: Review) -> Iterator[Change]:
    if list(owned(subject, seen)):
        yield remove(seen.pod_set.place("tolerations"))


def _misspelt(field: str) -> Callable[[Subject, Review], Iterator[Change]]:
    def change(subject: Subject, seen: Review) -> Iterator[Change]:
        for path, item in owned(subject, seen):
            if isinstance(item.get(field), str) and item[field]:
                yield replace((*path, field), misspelt(item[field]))

    return change


def _other_effect(subject: Subject, seen: Review) -> Iterator[Change]:
    for path, item in owned(subject, seen):
        if item.get("effect") == "NoSchedule":
            yield replace((*path, "effect"), "NoExecute")


def _equal_without_value(subject: Subject, seen: Review) -> Iterator[Change]:
    for path, item in owned(subject, seen):
        if item.get("operator") in ("Equal", None) and item.get("value"):
            yield remove((*path, "value"))


def _exists_with_value(subject: Subject) -> Iterator[Change]:
    for path, item in tolerations(subject):
        if item.get("operator") == "Equal" and item.get("value"):
            yield replace((*path, "operator"), "Exists")
        elif item.get("operator") == "Exists" and item.get("key"):
            yield put((*path, "value"), "true")


def _other_instances(subject: Subject) -> Iterator[Change]:
    """A NodePool of Karpenter, named by pods with cards beside it, gets a family without any."""
    asked = at(subject, ("spec", "template", "spec", "requirements"))
    if subject.manifest.kind == "NodePool" and "nvidia.com/gpu:" in subject.text and isinstance(asked, list):
        for number, one in enumerate(asked):
            if isinstance(one, dict) and one.get("key") == "karpenter.k8s.aws/instance-family":
                yield replace(("spec", "template", "spec", "requirements", number, "values"), ["m6i"])


def _annotated_outside(subject: Subject) -> Iterator[Change]:
    """On the object that makes the pods."""
    key, made = "cluster-autoscaler.kubernetes.io/safe-to-evict", ("Deployment", "Job", "StatefulSet")
    manifest = subject.manifest
    makes = manifest.group in ("apps", "batch") and manifest.kind in made and bool(subject.pod_sets)
    if makes and not any(key in pod_set.annotations for pod_set in subject.pod_sets):
        there = isinstance(at(subject, ("metadata", "annotations")), dict)
        base: Path = ("metadata", "annotations")
        yield put((*base, key), "false") if there else put(base, {key: "false"})


def _kind_misspelt(subject: Subject) -> Iterator[Change]:
    for pod_set in subject.pod_sets if subject.cluster else ():
        name, place = pod_set.labels.get(WORKLOAD_KEY, ""), pod_set.places.get("labels")
        if place and subject.cluster and name in subject.cluster.workloads:
            yield replace((*place, WORKLOAD_KEY), misspelt(name))


def _seconds(subject: Subject) -> Iterator[Change]:
    for path, item in tolerations(subject):
        if item.get("effect") == "NoSchedule":
            yield put((*path, "tolerationSeconds"), 300)


def _added(subject: Subject, seen: Review, item: Mapping[str, str]) -> Iterator[Change]:
    """One more toleration."""
    if isinstance(at(subject, seen.pod_set.place("tolerations")), list) and not seen.pod_set.per_node:
        yield put(seen.pod_set.place("tolerations", APPEND), dict(item))


def _everything(subject: Subject, seen: Review) -> Iterator[Change]:
    yield from _added(subject, seen, {"operator": "Exists"})


def _control_plane(subject: Subject, seen: Review) -> Iterator[Change]:
    taint = subject.cluster.control_plane_taint if subject.cluster else None
    if taint:
        yield from _added(subject, seen, {"key": taint.key, "operator": "Exists", "effect": taint.effect})


def _usages(subject: Subject, seen: Review, part: str = REQUIRED) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Expressions over the policy's usage key."""
    key = subject.cluster.usage_key if subject.cluster else ""
    for path, item in expressions(subject, seen, part) if key else ():
        if item["key"] == key and item["operator"] == "In":
            yield path, dict(item)


def _other_usage(subject: Subject, seen: Review) -> Iterator[Change]:
    for path, item in _usages(subject, seen):
        values = [_OPPOSITE.get(value, value) for value in item["values"]]
        if values != item["values"]:
            yield replace((*path, "values"), values)


def _other_usage_throughout(subject: Subject, seen: Review) -> Iterator[Change]:
    """Tolerations go with it: the pods land, on the nodes of others."""
    cluster = subject.cluster
    for path, item in _usages(subject, seen):
        values = [_OPPOSITE.get(value, value) for value in item["values"]]
        there = [
            Patch("replace", (*place, "value"), _OPPOSITE[each["value"]])
            for place, each in owned(subject, seen)
            if cluster and each.get("key") == cluster.usage_key and each.get("value") in _OPPOSITE
        ]
        if values != item["values"]:
            yield Change((Patch("replace", (*path, "values"), values), *there))


def _turned(subject: Subject, seen: Review) -> Iterator[Change]:
    yield from (replace((*path, "operator"), "NotIn") for path, _ in _usages(subject, seen))


def _usage_misspelt(subject: Subject, seen: Review) -> Iterator[Change]:
    for path, item in _usages(subject, seen):
        yield replace((*path, "values"), [misspelt(value) for value in item["values"]])


def _usage_key_misspelt(subject: Subject, seen: Review) -> Iterator[Change]:
    for path, item in _usages(subject, seen):
        yield replace((*path, "key"), misspelt(item["key"]))


def _no_affinity(subject: Subject, seen: Review) -> Iterator[Change]:
    if list(_usages(subject, seen)):
        yield remove(seen.pod_set.place("affinity"))


def _empty_term(subject: Subject, seen: Review) -> Iterator[Change]:
    for path, item in expressions(subject, seen, REQUIRED):
        if item["operator"] == "In":
            yield replace((*path, "values"), [])


def _not_an_integer(subject: Subject, seen: Review) -> Iterator[Change]:
    for path, item in expressions(subject, seen, REQUIRED):
        if item["operator"] == "In":
            yield replace(path, {"key": item["key"], "operator": "Gt", "values": ["8Gi"]})


def _contradicted(subject: Subject, seen: Review) -> Iterator[Change]:
    for path, item in expressions(subject, seen, REQUIRED):
        if item["operator"] == "In":
            other = {"key": item["key"], "operator": "NotIn", "values": list(item["values"])}
            yield put((*path[:-1], APPEND), other)


def _no_preference(subject: Subject, seen: Review) -> Iterator[Change]:
    if list(_usages(subject, seen, PREFERRED)) and _several(seen):
        yield remove((*seen.pod_set.place("affinity"), "nodeAffinity", PREFERRED))


def _other_preference(subject: Subject, seen: Review) -> Iterator[Change]:
    for path, item in _usages(subject, seen, PREFERRED) if _several(seen) else ():
        if item["values"][0] in _OPPOSITE:
            yield replace((*path, "values"), [_OPPOSITE[item["values"][0]]])


def _several(seen: Review) -> bool:
    """Whether pools of several usages take the pods: with one, there is nothing to prefer."""
    return len({pool.usage for pool in seen.accepting}) > 1


def _leaks(subject: Subject, seen: Review) -> Iterator[Change]:
    """A second term without the usage: terms are alternatives."""
    for path, _ in _usages(subject, seen):
        product = "nvidia.com/gpu.product"
        term = {"matchExpressions": [{"key": product, "operator": "In", "values": ["NVIDIA-H20"]}]}
        yield put((*path[: path.index("nodeSelectorTerms") + 1], APPEND), term)


def _selector(key: str, value: str) -> Inject:
    def change(subject: Subject, seen: Review) -> Iterator[Change]:
        if seen.pod_set.place("nodeSelector")[-1:] == ("nodeSelector",):
            yield put(seen.pod_set.place("nodeSelector", key), value)

    return _each(change)


def _usage_selector(subject: Subject, seen: Review) -> Iterator[Change]:
    """A nodeSelector that says the opposite of the affinity."""
    key = subject.cluster.usage_key if subject.cluster else ""
    for _, item in _usages(subject, seen):
        value = _OPPOSITE.get(item["values"][0])
        if value and seen.pod_set.place("nodeSelector")[-1:] == ("nodeSelector",):
            yield put(seen.pod_set.place("nodeSelector", key), value)


def _products(subject: Subject, seen: Review) -> Iterator[tuple[Path, str]]:
    """Values of the card's product in selectors and tolerations."""
    cluster = subject.cluster
    products = {card.product for card in cluster.cards.values()} if cluster else set()
    for path, item in owned(subject, seen):
        if item.get("value") in products:
            yield (*path, "value"), item["value"]
    selector = seen.pod_set.place("nodeSelector")
    value = at(subject, selector)
    for key, text in value.items() if isinstance(value, dict) else ():
        if text in products:
            yield (*selector, key), text


def _product(change: Mapping[str, str]) -> Inject:
    def made(subject: Subject, seen: Review) -> Iterator[Change]:
        for path, value in _products(subject, seen):
            yield replace(path, change.get(value) or misspelt(value))

    return _each(made)


def _scheduler(name: str) -> Inject:
    def inject(subject: Subject) -> Iterator[Change]:
        for seen in judged(subject):
            path = seen.pod_set.scheduler_path
            wanted = seen.workload.scheduler if seen.workload else ""
            injected = not name and wanted == "yunikorn"  # its admission controller writes the name
            if path and wanted and not injected and at(subject, path) == wanted:
                yield replace(path, name) if name else remove(path)

    return inject


def _pinned(subject: Subject) -> Iterator[Change]:
    for seen in judged(subject):
        path = seen.pod_set.place("nodeName")
        if path[-1:] == ("nodeName",) and seen.pod_set.replicas != 0 and subject.manifest.kind != "Pod":
            yield put(path, "gpu-node-1")


def _pinned_by_label(subject: Subject) -> Iterator[Change]:
    """A bare Pod may be one that runs already, read from a cluster."""
    if subject.manifest.kind != "Pod":
        yield from _selector("kubernetes.io/hostname", "gpu-node-1")(subject)


def _not_requested(subject: Subject) -> Iterator[Change]:
    if any(judged(subject)):
        paths = dict.fromkeys(path for path, _, _ in limits(subject))
        patches = []
        for path in paths:
            resources = at(subject, path[:-1])
            patches.append(Patch("remove", path[:-1]))
            if not isinstance(resources, dict):
                return
        if patches and len(subject.pod_sets) == 1:
            yield Change(tuple(patches))


def _spread(item: dict[str, Any], *, twice: bool = False) -> Inject:
    def inject(subject: Subject) -> Iterator[Change]:
        for pod_set in subject.pod_sets:
            path = pod_set.place("topologySpreadConstraints")
            if path[-1:] == ("topologySpreadConstraints",) and at(subject, path) is None and pod_set.labels:
                key, value = next(iter(pod_set.labels.items()))
                full = {**item, "labelSelector": {"matchLabels": {key: value}}}
                yield put(path, [full, full] if twice else [full])

    return inject


def _one_zone(subject: Subject) -> Iterator[Change]:
    """A hard spread over zones, of which the pods select one."""
    if subject.cluster is not None or is_partial(subject.manifest, subject.pod_sets):
        return
    for pod_set in subject.pod_sets:
        path, selector = pod_set.place("topologySpreadConstraints"), pod_set.place("nodeSelector")
        free = at(subject, path) is None and at(subject, selector) is None
        if (pod_set.replicas or 0) > 1 and free and pod_set.labels and path[-2:-1] == ("spec",):
            key, value = next(iter(pod_set.labels.items()))
            spread = {
                **_ZONE,
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {key: value}},
            }
            chosen = put(selector, {"topology.kubernetes.io/zone": "zone-a"})
            yield Change((*put(path, [spread]).patches, *chosen.patches))


def _negative(subject: Subject) -> Iterator[Change]:
    for pod_set in subject.pod_sets if subject.cluster is None else ():
        path = pod_set.place("affinity")
        alone = len(subject.pod_sets) == 1 and list(limits(subject))
        free = at(subject, path) is None and at(subject, pod_set.place("nodeSelector")) is None
        if path[-1:] == ("affinity",) and alone and free:
            one = {"key": "nvidia.com/gpu.product", "operator": "NotIn", "values": ["Tesla-T4"]}
            terms = {"nodeSelectorTerms": [{"matchExpressions": [one]}]}
            yield put(path, {"nodeAffinity": {REQUIRED: terms}})


def _alternatives(subject: Subject) -> Iterator[Change]:
    """Two labels to stay away from, in a term each."""
    for pod_set in subject.pod_sets if subject.cluster is None else ():
        path = pod_set.place("affinity")
        if path[-1:] == ("affinity",) and len(subject.pod_sets) == 1 and at(subject, path) is None:
            one = {"key": "example.com/room", "operator": "NotIn", "values": ["a"]}
            other = {"key": "example.com/old", "operator": "DoesNotExist"}
            terms = [{"matchExpressions": [each]} for each in (one, other)]
            yield put(path, {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}})


def _too_many(subject: Subject) -> Iterator[Change]:
    if any(judged(subject)):
        for path, name, _ in limits(subject):
            patches = [Patch("replace", (*path, name), 64)]
            asked = at(subject, (*path[:-1], "requests"))
            if isinstance(asked, dict) and name in asked:
                patches.append(Patch("replace", (*path[:-1], "requests", name), 64))
            yield Change(tuple(patches))


def _knative(subject: Subject) -> Iterator[Change]:
    """A field that Knative takes only where a flag says so."""
    for pod_set in subject.pod_sets if subject.manifest.group == "serving.knative.dev" else ():
        path = pod_set.place("nodeSelector")
        if path[-1:] == ("nodeSelector",) and at(subject, path) is None:
            yield put(path, {"example.com/pool": "web"})


def _machine(subject: Subject) -> Iterator[Change]:
    """A value that kubelet sets on no node."""
    for pod_set in subject.pod_sets if subject.cluster is None and has_schema(subject) else ():
        path = pod_set.place("nodeSelector")
        if path[-1:] == ("nodeSelector",) and at(subject, path) is None and not pod_set.stored:
            yield put(path, {"kubernetes.io/arch": "x86_64"})


_ZONE = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone"}
_HOST = {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname"}


def _unknown_topology(subject: Subject) -> Iterator[Change]:
    """A hard spread over a label that no node has, where the policy lists every pool."""
    complete = subject.cluster is not None and subject.cluster.complete
    constraint = {
        "maxSkew": 1,
        "topologyKey": "example.com/no-such-label",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "main"}},
    }
    for pod_set in subject.pod_sets if complete and has_schema(subject) else ():
        path = pod_set.place("topologySpreadConstraints")
        whole = any(container.get("image") for container in pod_set.spec.get("containers") or ())
        if path[-1:] == ("topologySpreadConstraints",) and whole and not pod_set.stored:
            yield put(path, [constraint])


def _web_pods(subject: Subject) -> Iterator[Change]:
    """Pods without cards and placement that ask for more than any node has, where all pools are known."""
    cluster = subject.cluster
    if cluster is None or not cluster.complete or subject.manifest.kind != "Deployment":
        return
    for pod_set in subject.pod_sets:
        found = reviewed(subject.manifest, pod_set, cluster)
        if found.eligible_pools is None and found.is_final and found.accepting:
            sized = all("cpu" in shape.allocatable for pool in cluster.pools for shape in pool.shapes)
            if sized:
                yield put(pod_set.place("containers", 0, "resources"), {"requests": {"cpu": 90_000}})


def _apart(subject: Subject) -> Iterator[Change]:
    """More replicas than nodes, each on a node of its own."""
    complete = subject.cluster is not None and subject.cluster.complete and has_schema(subject)
    for pod_set in subject.pod_sets if complete and subject.manifest.kind == "Deployment" else ():
        review = reviewed(subject.manifest, pod_set, subject.cluster)
        pools = [each.pool for each in review.landings if each.verdict != "refused"]
        if not pod_set.labels or "affinity" in pod_set.spec or not domains(pools, HOSTNAME):
            continue
        term = {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": dict(pod_set.labels)}}
        more = Patch("add", ("spec", "replicas"), 90_000)
        yield Change((more, Patch("add", pod_set.place("affinity"), {"podAntiAffinity": {REQUIRED: [term]}})))


def _as_daemon_set(subject: Subject) -> Iterator[Change]:
    """Pods of a workload kind, without cards, that run once on each node."""
    for pod_set in subject.pod_sets if subject.cluster and subject.manifest.kind == "Deployment" else ():
        review = reviewed(subject.manifest, pod_set, subject.cluster)
        if WORKLOAD_KEY in pod_set.labels and review.affinity.required and not review.card_resources:
            yield replace(("kind",), "DaemonSet")


def _budget_for_none(subject: Subject) -> Iterator[Change]:
    """A misspelt label in a budget beside the pods."""
    labels = at(subject, ("spec", "selector", "matchLabels"))
    if (
        subject.manifest.kind == "PodDisruptionBudget"
        and isinstance(labels, dict)
        and len(subject.others) > 1
    ):
        for key, value in labels.items():
            yield replace(("spec", "selector", "matchLabels", key), misspelt(value))


def _near_two(subject: Subject) -> Iterator[Change]:
    """Affinity with one term for each of two workloads, which no pod matches together."""
    terms = [{"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": app}}} for app in ("a", "b")]
    for pod_set in subject.pod_sets if has_schema(subject) else ():
        path = pod_set.place("affinity")
        if path[-1:] == ("affinity",) and "affinity" not in pod_set.spec and pod_set.spec.get("containers"):
            yield put(path, {"podAffinity": {REQUIRED: terms}})


def _tainted_node_pool(subject: Subject) -> Iterator[Change]:
    """Pods that tolerate nothing select a NodePool of Karpenter beside them, which has a taint."""
    path: Path = ("spec", "template", "spec")
    fields = mapping(at(subject, path))
    placed = {"tolerations", "nodeSelector"} & {*fields}
    if subject.manifest.kind == "Deployment" and fields.get("containers") and not placed:
        head = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: gpu}\nspec:\n  template:\n"
        ref = "    spec:\n      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}\n"
        more = "      taints: [{key: example.com/gpu, effect: NoSchedule}]\n      requirements: []\n"
        if text := injected(subject, put((*path, "nodeSelector"), {"karpenter.sh/nodepool": "gpu"})):
            yield Change(text=f"{text.rstrip()}\n---\n{head}{ref}{more}")


def _limited_node_pool(subject: Subject) -> Iterator[Change]:
    """Pods select a NodePool of Karpenter beside them, all of whose nodes may have less than they request."""
    path: Path = ("spec", "template", "spec")
    fields = mapping(at(subject, path))
    asks = "cpu:" in subject.text and "requests:" in subject.text
    if subject.manifest.kind == "Deployment" and asks and "nodeSelector" not in fields:
        head = (
            "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: gpu}\nspec:\n  limits: {cpu: 1m}\n"
        )
        ref = "      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}\n"
        more = f"  template:\n    spec:\n{ref}      requirements: []\n"
        if text := injected(subject, put((*path, "nodeSelector"), {"karpenter.sh/nodepool": "gpu"})):
            yield Change(text=f"{text.rstrip()}\n---\n{head}{more}")


def _on_one_node(subject: Subject) -> Iterator[Change]:
    """Pods on nodes of their own, all of which mount the volume of one node."""
    spec = at(subject, ("spec",))
    labels = at(subject, ("spec", "template", "metadata", "labels"))
    if subject.manifest.kind != "Deployment" or not isinstance(spec, dict) or not isinstance(labels, dict):
        return
    path: Path = ("spec", "template", "spec")
    free = all(at(subject, (*path, field)) is None for field in ("volumes", "affinity"))
    if free and not subject.manifest.namespace and has_schema(subject) and spec.get("replicas") == 2:
        term = {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": labels}}
        volume = [{"name": "one", "persistentVolumeClaim": {"claimName": "one"}}]
        change = Change(
            (
                Patch("add", (*path, "volumes"), volume),
                Patch("add", (*path, "affinity"), {"podAntiAffinity": {REQUIRED: [term]}}),
            )
        )
        head = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: one}\n"
        claim = "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n"
        if text := injected(subject, change):
            yield Change(text=f"{text.rstrip()}\n---\n{head}{claim}")


def _too_large_a_claim(subject: Subject) -> Iterator[Change]:
    """A claim for more than the one volume of its class has."""
    path: Path = ("spec", "template", "spec")
    if subject.manifest.namespace or not has_schema(subject) or not isinstance(at(subject, path), dict):
        return
    if at(subject, (*path, "volumes")) is None:
        volumes = [{"name": "large", "persistentVolumeClaim": {"claimName": "large"}}]
        common = "accessModes: [ReadOnlyMany], storageClassName: manual"
        volume = f"spec: {{{common}, capacity: {{storage: 1Gi}}, nfs: {{server: nfs.example, path: /}}}}\n"
        claim = f"spec: {{{common}, resources: {{requests: {{storage: 2Gi}}}}}}\n"
        added = (
            f"---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {{name: large}}\n{volume}"
            f"---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: large}}\n{claim}"
        )
        if text := injected(subject, Change((Patch("add", (*path, "volumes"), volumes),))):
            yield Change(text=f"{text.rstrip()}\n{added}")


def _other_signs(subject: Subject) -> Iterator[Change]:
    """A label of cards with hyphens for its dots."""
    for label in ("nvidia.com/gpu.product", "cloud.google.com/gke-accelerator"):
        for path, _ in named(subject.manifest.data, label):
            if path[-2:-1] == ("nodeSelector",):
                domain, _, name = label.partition("/")
                yield rename(path, f"{domain}/{name.replace('-', '_').replace('.', '-')}")


FAULTS = (
    fault("a label of cards in other signs", "PK108 PK106", _other_signs),
    fault("a machine by another name than Go's", "PK108", _machine),
    fault("a NodePool whose taint nothing tolerates", "PK143", _tainted_node_pool, elsewhere=True),
    fault("a NodePool with less than its pods request", "PK146", _limited_node_pool, elsewhere=True),
    fault("a budget for no pods", "PK136", _budget_for_none),
    fault("a volume of one node for pods apart", "PK144", _on_one_node),
    fault("a claim for more than its volume has", "PK144", _too_large_a_claim),
    fault("affinity to pods of two workloads at once", "PK136", _near_two),
    fault("more pods apart than there are nodes", "PK135", _apart),
    fault("a misspelt workload kind", "PK142", _kind_misspelt),
    fault("instances without the card of the pods", "PK145", _other_instances, elsewhere=True),
    fault("an annotation of pods on their Deployment or Job", "PK147", _annotated_outside),
    fault("a workload kind on a DaemonSet", "PK141", _as_daemon_set),
    fault("pods that no pool has room for", "PK134", _web_pods),
    fault("a hard spread over an unknown label", "PK133", _unknown_topology),
    fault("a toleration is dropped", _LANDS_NOWHERE, _losing(_dropped)),
    fault("all tolerations are dropped", _LANDS_NOWHERE, _losing(_all_dropped)),
    fault("a misspelt toleration key", f"{_LANDS_NOWHERE} PK115", _losing(_misspelt("key"))),
    fault("a misspelt toleration value", f"{_LANDS_NOWHERE} PK106 PK115", _losing(_misspelt("value"))),
    fault("a toleration of another effect", f"{_LANDS_NOWHERE} PK115", _losing(_other_effect)),
    fault("Equal without a value", f"{_LANDS_NOWHERE} PK115", _losing(_equal_without_value)),
    fault("Exists with a value", "PK116", _exists_with_value),
    fault("seconds without NoExecute", "PK116", _seconds),
    fault("a toleration of everything", "PK112", _each(_everything)),
    fault("a toleration of the control plane", "PK113", _each(_control_plane)),
    fault("the usage swapped", f"{_LANDS_NOWHERE} PK104 PK107", _losing(_other_usage)),
    fault("the usage swapped, tolerations too", "PK104", _straying(_other_usage_throughout)),
    fault("NotIn for In", f"{_LANDS_NOWHERE} PK104 PK107 PK103", _losing(_turned)),
    fault("a misspelt usage", "PK102 PK107", _losing(_usage_misspelt)),
    fault("a misspelt usage key", "PK102 PK103 PK108", _each(_usage_key_misspelt)),
    fault("the affinity is dropped", "PK103 PK111 PK125 PK104", _straying(_no_affinity)),
    fault("In without values", "PK107 PK004", _each(_empty_term)),
    fault("Gt with a word", "PK107", _each(_not_an_integer)),
    fault("an affinity against itself", "PK107", _each(_contradicted)),
    fault("the preference is dropped", "PK105", _each(_no_preference)),
    fault("a preference for the wrong usage", "PK105", _each(_other_preference)),
    fault("an alternative that lets all pools in", "PK109 PK103", _straying(_leaks)),
    fault("a selector with an unknown label", "PK108 PK102", _selector("gpu-type", "a100")),
    fault("a selector against the affinity", f"{_LANDS_NOWHERE} PK107", _losing(_usage_selector)),
    fault("a misspelt card", f"{_LANDS_NOWHERE} PK106 PK107 PK115", _product({})),
    fault("a card by its short name", f"{_LANDS_NOWHERE} PK106 PK107 PK115", _product({"NVIDIA-H20": "H20"})),
    fault("the scheduler is not named", "PK121 PK122 PK311", _scheduler("")),
    fault("another scheduler is named", "PK121 PK122 PK311", _scheduler("default-scheduler")),
    fault("an unknown scheduler is named", "PK121 PK122 PK311", _scheduler("volcanoo")),
    fault("pinned by nodeName", "PK118 PK128", _pinned),
    fault("pinned by hostname", "PK118", _pinned_by_label),
    fault("a field that Knative refuses", "PK128", _knative),
    fault("cards are not asked for", "PK124", _not_requested),
    fault("more cards than a node has", "PK203", _too_many),
    fault(
        "minDomains with ScheduleAnyway",
        "PK131",
        _spread({**_ZONE, "whenUnsatisfiable": "ScheduleAnyway", "minDomains": 2}),
    ),
    fault("a spread twice", "PK131", _spread({**_ZONE, "whenUnsatisfiable": "DoNotSchedule"}, twice=True)),
    fault("a spread over one zone", "PK131", _one_zone),
    fault("only nodes it must not go to", "PK117", _negative),
    fault("nodes to stay away from in terms of their own", "PK117", _alternatives),
)
