"""Random pods for random policies, and the nodes that each of them gets for itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

import yaml
from hypothesis import HealthCheck, Phase, assume, given, settings

from policykit import api
from policykit.errors import PolicykitError
from policykit.kube.affinity import NODE_NAME, PREFERRED, REQUIRED
from policykit.kube.tolerations import to_dict
from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster as Policy
from policykit.model.pool import Pool, Shape, Taint
from policykit.model.quantity import amount_text
from policykit.placement.eligible_pools import offers_shared
from policykit.placement.landing import injected
from policykit.placement.review import Review
from policykit.targets.workloads.patch_options import PatchOptions
from policykit.targets.workloads.stream import ManifestText, patch
from tests.policies import clusters

Object = dict[str, Any]
_HOSTNAME = "kubernetes.io/hostname"
_UNKNOWN = {"cpu": 1_000_000, "memory": 1 << 50, "pods": 110}
"""What nodes have of resources that the policy does not state: more than any pod here requests."""
_NOT_OF_POOLS = ("schedulerName", "priorityClassName", "topologySpreadConstraints")
"""Fields that `patch` may write, and that are not about pools."""
_SHARED = 1 << 40
"""What nodes have of resources that a target of the policy makes of their cards."""
PODS_OF_A_POLICY = 4
_CORDON = Taint("node.kubernetes.io/unschedulable")


class Machine(NamedTuple):
    """A node of a pool, made for one scenario."""

    pool: Pool
    shape: Shape
    name: str
    """As in the policy; the node's own name also has the number of the scenario."""


class Scenario(NamedTuple):
    """A pod under a policy."""

    number: int
    policy: Policy
    pod: Object
    review: Review

    @property
    def machines(self) -> Iterator[Machine]:
        """Every node that has a name in the policy, and one for each other shape."""
        for pool in self.policy.pools:
            for position, shape in enumerate(pool.shapes):
                for name in shape.node_names or (f"{pool.name}.{position}",):
                    yield Machine(pool, shape, name)

    def node_name(self, machine: Machine) -> str:
        return f"{machine.name}.s{self.number}"

    def node(self, machine: Machine) -> Object:
        """The node as it should be by the policy."""
        amounts = {**_UNKNOWN, **machine.shape.allocatable}
        for name in self.review.requests.keys() - amounts.keys():
            if offers_shared(self.policy, machine.pool, name):
                amounts[name] = _SHARED
        allocatable = {name: amount_text(name, amount) for name, amount in amounts.items()}
        spec: Object = {"taints": [taint._asdict() for taint in machine.pool.taints]}
        if machine.pool.unschedulable:
            spec["unschedulable"] = True
        labels = {_HOSTNAME: machine.name, **machine.pool.labels, **machine.shape.labels}
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": self.node_name(machine), "labels": labels},
            "spec": spec,
            "status": {"allocatable": allocatable, "capacity": allocatable},
        }

    def pinned(self, name: str, machines: Sequence[Machine], scheduler: str) -> Object:
        """The pod, which may go to these nodes only and has what admission adds for their pools."""
        spec = dict(self.pod["spec"], schedulerName=scheduler)
        added = [to_dict(one) for machine in machines for one in injected(machine.pool, self.review.requests)]
        spec["tolerations"] = [*spec.get("tolerations", []), *added]
        affinity = dict(spec.get("affinity", {}).get("nodeAffinity", {}))
        required = affinity.get(REQUIRED)
        terms = [self._own_names(term) for term in required["nodeSelectorTerms"]] if required else [None]
        names = [self.node_name(machine) for machine in machines]
        pinned = [_at(term, name) for term in terms for name in names]
        # Koordinator refuses a pod of which one term names no node that could match, whatever others say.
        able = [term for term in pinned if _may_match(term)]
        affinity[REQUIRED] = {"nodeSelectorTerms": able or pinned}
        if PREFERRED in affinity:
            affinity[PREFERRED] = [
                {**one, "preference": self._own_names(one["preference"])} for one in affinity[PREFERRED]
            ]
        spec["affinity"] = {"nodeAffinity": affinity}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}

    def _own_names(self, term: Object) -> Object:
        """A term with the names that nodes have in this scenario."""
        fields = [
            {**one, "values": [f"{value}.s{self.number}" for value in one["values"]]}
            for one in term.get("matchFields", [])
        ]
        return {**term, "matchFields": fields} if fields else term


def _at(term: Object | None, name: str) -> Object:
    """A term of one node. A term that says nothing matches nothing, and stays as it is."""
    pin = {"key": NODE_NAME, "operator": "In", "values": [name]}
    if term is None:
        return {"matchFields": [pin]}
    if not term.get("matchExpressions") and not term.get("matchFields"):
        return term
    return {**term, "matchFields": [*term.get("matchFields", []), pin]}


def _may_match(term: Object) -> bool:
    """Whether some node has a name that all fields of a term accept."""
    named = [set(one["values"]) for one in term.get("matchFields", [])]
    return not named or bool(set.intersection(*named))


def scenarios(
    policies: int, scheduler: str = "", suited: Callable[[Policy], Policy | None] = lambda policy: policy
) -> list[Scenario]:
    """Pods of random policies; always the same unless examples are drawn anew.

    `scheduler`: the schedulerName of the pods. `suited`: a policy as it is tried, or None if it is not.
    """
    drawn: list[Policy] = []

    @settings(
        max_examples=policies, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    @given(clusters())
    def draw(policy: Policy) -> None:
        found = suited(policy)
        assume(found is not None)
        drawn.extend([found] if found else [])

    draw()
    # Pods are drawn by an ordinary generator: one that looks for small examples makes most of them alike.
    random = Random(len(drawn))
    found: list[Scenario] = []
    for policy in drawn:
        for _ in range(PODS_OF_A_POLICY):
            pod = _pod(random, policy)
            if scheduler:
                pod["spec"]["schedulerName"] = scheduler
            (review,) = api.where(dump(pod).encode(), policy)
            found.append(Scenario(len(found), policy, pod, review))
    return found


def _pod(random: Random, policy: Policy) -> Object:
    """A pod that speaks of the policy's labels, taints and cards, rightly or not."""
    container: Object = {"name": "main", "image": "registry.example/app:1"}
    container["resources"] = _resources(random, policy)
    pod: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "app", "labels": {}},
        "spec": {"containers": [container]},
    }
    kinds = sorted(policy.workloads)
    if kinds and _chance(random, 0.6):
        pod["metadata"]["labels"]["policykit.io/workload"] = random.choice(kinds)
        pod = _patched(pod, policy)
    if _chance(random, 0.7):
        _add_placement(random, pod["spec"], policy)
    return pod


def _patched(pod: Object, policy: Policy) -> Object:
    """As `patch` places it; as it is where `patch` refuses."""
    try:
        text = patch(ManifestText("pod.yaml", dump(pod).encode()), policy, PatchOptions()).raw
    except PolicykitError:
        return pod
    patched: Object = next(one for one in yaml.safe_load_all(text) if one["kind"] == "Pod")
    spec = {key: value for key, value in patched["spec"].items() if key not in _NOT_OF_POOLS}
    affinity = {key: value for key, value in spec.pop("affinity", {}).items() if key == "nodeAffinity"}
    return {**pod, "spec": {**spec, **({"affinity": affinity} if affinity else {})}}


def _resources(random: Random, policy: Policy) -> Object:
    offered = sorted({"nvidia.com/gpu", *(name for pool in policy.pools for name in pool.resources)})
    found: Object = {}
    if _chance(random, 0.6):
        found["limits"] = {random.choice(offered): random.choice([1, 1, 4, 8, 16, 64])}
    if _chance(random, 0.4):
        cpu = random.choice(["500m", 4, 32, "95500m", 96, 900])
        found["requests"] = {"cpu": cpu, "memory": random.choice(["1Gi", "8Gi", "512Gi", "600Gi"])}
    return found


def _add_placement(random: Random, spec: Object, policy: Policy) -> None:
    """Selectors, affinity and tolerations, beside what `patch` wrote."""
    words = _Words.of(policy)
    if words.labels and _chance(random, 0.2):
        spec["nodeSelector"] = dict([random.choice(words.labels)])
    affinity = dict(spec.get("affinity", {}).get("nodeAffinity", {}))
    if words.labels and _chance(random, 0.3):
        terms = [words.term(random) for _ in range(random.choice([1, 2, 2]))]
        affinity[REQUIRED] = {"nodeSelectorTerms": terms}
    if words.labels and _chance(random, 0.5):
        affinity[PREFERRED] = [
            {"weight": random.choice([1, 50, 99, 100]), "preference": words.term(random)}
            for _ in range(random.choice([1, 2, 3]))
        ]
    if affinity:
        spec["affinity"] = {"nodeAffinity": affinity}
    if _chance(random, 0.45):
        spec["tolerations"] = [{"operator": "Exists"}]
    else:
        added = [words.toleration(random, taint) for taint in words.taints if _chance(random, 0.7)]
        spec["tolerations"] = [*spec.get("tolerations", []), *added]


class _Words(NamedTuple):
    """What pods can name of a policy."""

    labels: tuple[tuple[str, str], ...]
    names: tuple[str, ...]
    taints: tuple[Taint, ...]

    @classmethod
    def of(cls, policy: Policy) -> _Words:
        shapes = [(pool, shape) for pool in policy.pools for shape in pool.shapes]
        labels = {pair for pool, shape in shapes for pair in {**pool.labels, **shape.labels}.items()}
        return cls(
            tuple(sorted(labels)),
            tuple(sorted({name for _, shape in shapes for name in shape.node_names})),
            tuple(sorted({_CORDON, *(taint for pool in policy.pools for taint in pool.taints)})),
        )

    def term(self, random: Random) -> Object:
        found: Object = {}
        if self.names and _chance(random, 0.15):
            names = [random.choice(self.names)]
            found["matchFields"] = [{"key": NODE_NAME, "operator": "In", "values": names}]
        if not found or _chance(random, 0.5):
            count = random.choice([0, 1, 1, 1, 2])
            found["matchExpressions"] = [self._expression(random) for _ in range(count)]
        return found

    def _expression(self, random: Random) -> Object:
        key, value = random.choice(self.labels)
        operator = random.choice(["In", "In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"])
        values = {
            "In": random.choice([[value], ["another", value], ["another"]]),
            "NotIn": [value],
            "Gt": [random.choice(["3", "-1"])],
            "Lt": ["90"],
        }
        found: Object = {"key": key, "operator": operator}
        return {**found, "values": values[operator]} if operator in values else found

    def toleration(self, random: Random, taint: Taint) -> Object:
        exact = {**taint._asdict(), "operator": "Equal"}
        exists = {"key": taint.key, "operator": "Exists"}
        wrong = [{**exact, "value": "other"}, {**exists, "effect": "NoExecute"}]
        return random.choice([exact, exact, exact, exists, exists, *wrong])


def _chance(random: Random, share: float) -> bool:
    return random.random() < share
