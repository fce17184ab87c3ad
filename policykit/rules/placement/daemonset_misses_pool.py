"""A daemon of the card nodes does not tolerate the taints of a pool it serves, or selects no pool.

A device plugin, a discovery or driver daemon, an exporter of card metrics or a pod network must
run on every node it serves. A node without it offers no cards or has no product label, and
nothing reports that. Daemons are known by their image, and where that is a mirror's by the labels of an
operator that they select, or by the folder of device plugins that they mount; those of the GPU operators of
NVIDIA and AMD, of the device plugins of NVIDIA and HAMi, of NVIDIA's exporter and of Node Feature Discovery
also by the values that a HelmRelease or an Argo CD Application gives their charts, those of AMD's operator by
its DeviceConfig. Another DaemonSet that selects pools of which it tolerates none runs nowhere. Of one with
priority class system-node-critical or system-cluster-critical the pools are told whose taints it does not
tolerate: a priority tolerates no taint.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from policykit.catalogue import cards as catalogue
from policykit.catalogue import labels
from policykit.kube import affinity as affinities
from policykit.kube import podsets, tolerations
from policykit.kube.placeholders import is_placeholder
from policykit.kube.selectors import Requirement
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.patch import APPEND, Patch
from policykit.manifests.path import Path, lookup
from policykit.manifests.writer import scalar
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool, Taint, Toleration
from policykit.model.severity import Applicability, Severity
from policykit.model.shared_cards import NAMES
from policykit.placement.landing import selection, untolerated_taints
from policykit.rules.placement.node_daemons import DEVICE_PLUGIN, KINDS, NodeDaemon, node_daemons

BAD = """\
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: dcgm-exporter
spec:
  selector:
    matchLabels: {app: dcgm-exporter}
  template:
    metadata:
      labels: {app: dcgm-exporter}
    spec:
      tolerations:
        - {key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}
      containers:
        - name: exporter
          image: nvcr.io/nvidia/k8s/dcgm-exporter:4.2.0
"""

GOOD = """\
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: dcgm-exporter
spec:
  selector:
    matchLabels: {app: dcgm-exporter}
  template:
    metadata:
      labels: {app: dcgm-exporter}
    spec:
      tolerations:
        - {key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}
        - {key: maip.mxsf.io/node.usage, operator: Exists, effect: NoSchedule}
        - {key: nvidia.com/gpu.product, operator: Exists, effect: NoSchedule}
      containers:
        - name: exporter
          image: nvcr.io/nvidia/k8s/dcgm-exporter:4.2.0
"""

_NVIDIA = "nvidia"
"""Vendor whose labels GPU Feature Discovery sets by default."""
_FEATURES = "feature.node.kubernetes.io/"
_CRITICAL = ("system-node-critical", "system-cluster-critical")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Reports each daemon once; the help lists the tolerations for all of its pools."""
    cluster = context.cluster
    if cluster is None or manifest.partial:
        return
    daemons = list(node_daemons(manifest))
    if not daemons and manifest.kind == "DaemonSet":
        yield from _others(manifest, cluster)
    for daemon in daemons:
        if any(is_placeholder(text) for one in daemon.tolerations for text in (one.key, *one[1:4])):
            continue
        served = list(_served_pools(cluster, daemon))
        if not served:
            yield from _nowhere(cluster, daemon)
        lacking = {p.name: taints for p in served if (taints := _untolerated(p, daemon))}
        if lacking:
            pool, taints = next(iter(lacking.items()))
            pools = f"pools {', '.join(lacking)}" if len(lacking) > 1 else f"pool {pool}"
            wanted = _required_tolerations(lacking)
            yield Violation(
                daemon.path,
                f"{daemon.what} serves {pools}, but does not tolerate taint {taints[0]} of {pool}",
                "\n".join(_advice(daemon, wanted)),
                fix=partial(_fix, manifest, daemon, wanted),
                inside=daemon.inside,
            )


def _others(manifest: Manifest, cluster: Cluster) -> Iterator[Violation]:
    """DaemonSets of which nothing is known but where they may run."""
    for pod_set in podsets.pod_sets(manifest.data):
        spec = pod_set.spec
        critical = spec.get("priorityClassName") in _CRITICAL
        read, affinity = tolerations.read(spec.get("tolerations")), affinities.read(spec)
        if not (critical or affinity.selector or affinity.required):
            continue
        answers = {pool.name: selection(cluster, pool, affinity) for pool in cluster.pools}
        selected = [pool for pool in cluster.pools if answers[pool.name] is True]
        missed = [(pool, taints) for pool in selected if (taints := untolerated_taints(pool, read, {}))]
        if not missed or any(is_placeholder(text) for one in read for text in (one.key, *one[1:4])):
            continue
        (pool, taints), *others = missed
        names = ", ".join(each.name for each, _ in others)
        if False in answers.values() and len(missed) == sum(each is not False for each in answers.values()):
            message = "the DaemonSet runs on none of the pools that it selects: it does not tolerate taint "
            message += f"{taints[0]} of {pool.name}" + (f", nor those of {names}" if names else "")
            yield Violation(pod_set.place("tolerations"), message, _TOLERATE, Severity.WARNING)
        elif critical:
            message = f"{spec['priorityClassName']} tolerates no taint: the DaemonSet does not run on pool "
            message += f"{pool.name}, for taint {taints[0]}" + (f", nor on {names}" if names else "")
            yield Violation(pod_set.place("priorityClassName"), message, _TOLERATE, Severity.INFO)


_TOLERATE = "add tolerations for the nodes that it is for"


def _nowhere(cluster: Cluster, daemon: NodeDaemon) -> Iterator[Violation]:
    """A daemon whose selection no pool with its cards meets, if the policy lists every pool."""
    pools = [pool for pool in cluster.pools if _has_its_cards(cluster, pool, daemon)]
    if not cluster.complete or not daemon.vendor or not daemon.selector or not pools:
        return
    found = _dead_key(cluster, pools, daemon)
    if found is not None:
        key, path = found
        names = ", ".join(pool.name for pool in pools)
        yield Violation(
            path,
            f"{daemon.what} selects nodes by {key}, but no pool with its cards has that label ({names})",
            "label the nodes and declare the label on their pools, or select a label that they have",
            Severity.WARNING,
        )


def _dead_key(cluster: Cluster, pools: Sequence[Pool], daemon: NodeDaemon) -> tuple[str, Path] | None:
    """A key of the selector, or one of each required term, that none of the pools has."""

    def lacking(key: str) -> bool:
        return all(_lacks(cluster, pool, key) for pool in pools)

    for key, value in daemon.affinity.selector.items():
        if lacking(key):
            return f"{key}={value}", (*daemon.selector, key)
    dead = [
        next((e.key for e in term.expressions if e.operator in ("In", "Exists") and lacking(e.key)), "")
        for term in daemon.affinity.required or ()
    ]
    return (dead[0], daemon.terms) if dead and all(dead) else None


def _lacks(cluster: Cluster, pool: Pool, key: str) -> bool:
    """Whether its nodes certainly have no such label.

    Discovery sets its labels unless the policy labels nodes by hand, and an operator those that switch
    its daemons. A label such as gpu=on is set by hand.
    """
    if any(key in there for there in (pool.labels, *(shape.labels for shape in pool.shapes))):
        return False
    if labels.switch(key):
        return "/" not in key
    if labels.DEPLOYS in key or labels.provider(key):
        return False
    if labels.discovery(key) or key.startswith(_FEATURES):
        card = cluster.card_of(pool)
        return card is not None and card.vendor == _NVIDIA and not pool.discovered
    return not labels.well_known(key)


def _served_pools(cluster: Cluster, daemon: NodeDaemon) -> Iterator[Pool]:
    for pool in cluster.pools:
        if pool.sharing.mode in NAMES and not daemon.sharing and daemon.what.startswith(DEVICE_PLUGIN):
            continue  # the device plugin there is HAMi's or Volcano's
        has_none = daemon.every_pool and cluster.card_of(pool) is None
        if (has_none or _has_its_cards(cluster, pool, daemon)) and _selects(cluster, pool, daemon):
            yield pool


def _has_its_cards(cluster: Cluster, pool: Pool, daemon: NodeDaemon) -> bool:
    card = cluster.card_of(pool)
    if daemon.sharing and pool.sharing.mode != daemon.sharing:
        return False
    return card is not None and (not daemon.vendor or _maker(card.vendor) == _maker(daemon.vendor))


def _maker(vendor: str) -> str:
    known = catalogue.vendor(vendor)
    return known.hardware if known is not None and known.hardware else vendor


def _selects(cluster: Cluster, pool: Pool, daemon: NodeDaemon) -> bool:
    """Whether the daemon certainly selects nodes of the pool.

    Labels that mark the vendor's nodes, set by discovery or as a switch, are assumed to exist.
    """
    answer = selection(cluster, pool, daemon.affinity)
    if answer is not None:
        return answer
    if cluster.complete and daemon.selector and _dead_key(cluster, (pool,), daemon):
        return False
    known = {**pool.labels, **{k: v for shape in pool.shapes for k, v in shape.labels.items()}}
    there = partial(_is_present, known, daemon.vendor)
    selector = [Requirement(k, "In", (v,)) for k, v in daemon.affinity.selector.items()]
    if not all(map(there, selector)):
        return False
    terms = daemon.affinity.required
    return terms is None or any(term.expressions and all(map(there, term.expressions)) for term in terms)


def _is_present(known: Mapping[str, str], vendor: str, requirement: Requirement) -> bool:
    return requirement.key in known or _selects_vendor(requirement, vendor)


def _selects_vendor(requirement: Requirement, vendor: str) -> bool:
    key, operator = requirement.key, requirement.operator
    if key.endswith("kubernetes.io/os"):
        return operator == "In" and requirement.values == ("linux",)
    if key.startswith(f"{_FEATURES}pci-") or key == f"{_FEATURES}{_maker(vendor)}-gpu":
        return operator in ("In", "Exists")
    if labels.DEPLOYS in key and requirement.values != ("true",):
        return False  # only nodes on which the operator does not run its own daemon
    owner = labels.discovery(key) or labels.switch(key)
    return bool(owner) and _maker(owner) == _maker(vendor) and operator in ("In", "Exists")


def _untolerated(pool: Pool, daemon: NodeDaemon) -> tuple[Taint, ...]:
    return untolerated_taints(pool, daemon.tolerations, {})


def _required_tolerations(lacking: Mapping[str, tuple[Taint, ...]]) -> tuple[Toleration, ...]:
    """One for each key and effect with any value: a daemon serves every pool with the key."""
    taints = [taint for each in lacking.values() for taint in each]
    return tuple(dict.fromkeys(Toleration(taint.key, "Exists", "", taint.effect) for taint in taints))


def _advice(daemon: NodeDaemon, wanted: Sequence[Toleration]) -> Iterator[str]:
    if daemon.value:
        yield f"set {daemon.value} of the chart, which replaces its default:"
        wanted = (*daemon.tolerations, *wanted)
    else:
        yield "add to tolerations, keeping the existing ones:"
    for one in wanted:
        fields = ", ".join(f"{key}: {scalar(value)}" for key, value in tolerations.to_dict(one).items())
        yield f"- {{{fields}}}"


def _fix(manifest: Manifest, daemon: NodeDaemon, wanted: Sequence[Toleration]) -> Fix | None:
    """Appends to the existing tolerations; if there are none, also writes the defaults of the chart."""
    there = lookup(manifest.data, daemon.path)
    if daemon.inside is not None:
        return None
    if there is not None and not isinstance(there, list):
        return None
    lacking = [tolerations.to_dict(one) for one in (*(() if there else daemon.tolerations), *wanted)]
    patches = [Patch("add", (*daemon.path, APPEND), one) for one in lacking]
    if not there:
        patches = [Patch("add", daemon.path, lacking)]
    return Fix("tolerate the taints of the pools it serves", tuple(patches), Applicability.SAFE)


RULE = Rule(
    code="PK120",
    name="daemonset-misses-pool",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=KINDS,
    needs_policy=True,
    fix=Applicability.SAFE,
)
