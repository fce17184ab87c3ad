"""The files for YuniKorn: queues, annotations of namespaces, a README, and what it cannot express."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from policykit.errors import PolicykitError
from policykit.generator.artifact import Artifact, Notice, Role, TargetOutput
from policykit.manifests import writer
from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.release import Version
from policykit.targets.yunikorn import namespaces, options, queue_tree, versions
from policykit.targets.yunikorn.configuration import access_lists, configmap, properties, queues_yaml
from policykit.targets.yunikorn.configuration.configmap import CONFIGS, DEFAULTS
from policykit.targets.yunikorn.configuration.queues_yaml import Queue, walk
from policykit.targets.yunikorn.names import ROOT
from policykit.targets.yunikorn.options import YuniKornOptions
from policykit.targets.yunikorn.policy_configuration import (
    PolicyConfiguration,
    parent_queues,
    policy_configuration,
    served_kinds,
)


def policy_notices(cluster: Cluster, target: TargetSettings, options: YuniKornOptions) -> Iterator[str]:
    """About queues, preemption, tenants, workload kinds and reservations."""
    yield from _queues(cluster)
    yield from _preemption(cluster)
    yield from _tenants(cluster)
    yield from _workloads(cluster, target, options)
    if cluster.reservations:
        named = ", ".join(each.name for each in cluster.reservations)
        yield (
            f"reservation {named}: YuniKorn reserves no capacity. Nearest: guarantee of the tenant's queue, "
            "which preemption takes back from others"
        )


def version_notices(options: YuniKornOptions, version: Version) -> Iterator[str]:
    """About options that a release does not know."""
    if options.quota_preemption and version < versions.QUOTA_PREEMPTION:
        yield f"quotaPreemption requires YuniKorn {versions.QUOTA_PREEMPTION} or later: left out"
    stated = {name: of.properties for name, of in options.queues.items()}
    stated |= {f"{name} (childTemplate)": of.template.properties for name, of in options.queues.items()}
    for queue, each in stated.items():
        for name, text in sorted(each.items()):
            since = properties.KNOWN[name].since if name in properties.KNOWN else None
            if since and version < since:
                yield f"property {name} of queue {queue} {properties.problem(name, text, version)}: left out"
    for key, text in sorted(options.settings.items()):
        known = configmap.KNOWN.get(key)
        if known and known.since and version < known.since:
            yield f"setting {key} {configmap.problem(key, text, version)}: left out"


def _queues(cluster: Cluster) -> Iterator[str]:
    weighted = ", ".join(queue.name for queue in cluster.queues if queue.weight != 1)
    if weighted:
        yield (
            f"weight of queue {weighted} has no counterpart: YuniKorn first serves the queue that uses the "
            "smallest share of its guarantee. Nearest: guarantees in the same proportion"
        )
    bound = ", ".join(queue.name for queue in cluster.queues if queue.pools)
    if bound:
        yield (
            f"pools of queue {bound}: YuniKorn's queues are not bound to nodes. Nearest: usages of the "
            "workload kinds, which become node affinity of their pods"
        )
    for queue in cluster.queues:
        unknown = access_lists.invalid_names(queue.submit) if queue.submit else ()
        if unknown:
            yield (
                f"queue {queue.name}: YuniKorn's access lists cannot name {', '.join(unknown)}: left out. "
                "Nearest: a group"
            )


def _preemption(cluster: Cluster) -> Iterator[str]:
    if cluster.preemption.within_queue:
        yield (
            "preemption within a queue: YuniKorn preempts only pods of other queues. Nearest: a queue for "
            "each priority below one parent"
        )
    guaranteed = any(any({**queue.guarantee, **queue.deserved}.values()) for queue in cluster.queues)
    if cluster.preemption.reclaim and not guaranteed:
        yield "no queue has a guarantee, so YuniKorn takes nothing back. Set guarantee on queues"


def _tenants(cluster: Cluster) -> Iterator[str]:
    restricted = {queue.name for queue in cluster.queues if queue.submit is not None}
    open_ = [
        t.name for t in cluster.tenants if (t.users or t.groups) and t.queue and t.queue not in restricted
    ]
    if open_:
        yield (
            f"users and groups of tenant {', '.join(open_)} do not restrict its queue: its namespaces "
            "decide who uses it. To restrict it, set submit on the queue"
        )
    homeless = [tenant.name for tenant in cluster.tenants if not tenant.queue and tenant.namespaces]
    if homeless and cluster.queues:
        yield f"tenant {', '.join(homeless)} has no queue: pods of its namespaces go to the fallback queue"


def closed_parent_notices(root: Queue, places: Iterable[str]) -> Iterator[str]:
    """About queues below which placement rules create queues that nobody may submit to."""
    opened = [path for path, queue in walk(root) if queue.submit or queue.admin]
    for place in sorted(set(places)):
        if not any(place == path or place.startswith(f"{path}.") for path in opened):
            yield (
                f"namespaces with a queue of their own below {place}: their pods are rejected, as {place} "
                "has no access list, because a queue below it admits fewer people. Nearest: a queue of the "
                "policy for them, with submit"
            )


def _workloads(cluster: Cluster, target: TargetSettings, options: YuniKornOptions) -> Iterator[str]:
    kinds = served_kinds(cluster, target)
    ranked = [kind.name for kind in kinds if len(set(kind.prefer.values())) > 1]
    if ranked:
        yield (
            f"preferred usages of workload kind {', '.join(ranked)} have no effect: YuniKorn sorts nodes "
            "only by utilization. Nearest: a single usage"
        )
    for kind in kinds:
        sort = options.queue_options(kind.queue).properties.get(properties.SORT)
        if kind.gang == "all" and sort == "fair":
            yield (
                f"queue {kind.queue} sorts applications fair, where YuniKorn rejects gangs: workload "
                f"kind {kind.name} needs {properties.SORT} fifo"
            )


TARGET = "yunikorn"
VALUES = "yunikorn/values.yaml"
CONFIG_MAP = "yunikorn/configmap.yaml"
README = "yunikorn/README.md"
_WIDTH = 74
"""Width of comments: indented in Helm values they still fit into 80 columns."""


def generate(cluster: Cluster) -> TargetOutput:
    """All files for `cluster.targets["yunikorn"]`; none if the policy has no such target.

    Raises PolicykitError for an unknown version, delivery or setting, and for queues YuniKorn would refuse.
    """
    target = cluster.targets.get(TARGET)
    if target is None:
        return TargetOutput()
    version, stated = versions.parse(target.version), options.yunikorn_options(target)
    made = policy_configuration(cluster, target)
    places = queue_tree.checked_paths(cluster.queues)
    holds = parent_queues(cluster, stated)
    listed = namespaces.namespaces(cluster, places, holds)
    # Queues below which placement rules create queues.
    above = {places[tenant.queue] for tenant in cluster.tenants if tenant.queue in holds & places.keys()}
    if stated.namespace_queues:
        above.add(places.get(stated.namespace_queues, ROOT))
    first = _delivered(configuration_text(made), target, stated, version)
    shown = _readme(
        first.path,
        target.namespace or configmap.NAMESPACE,
        version,
        sorted(places.items()),
        namespaces.commands(listed),
    )
    messages = (
        *made.notices,
        *policy_notices(cluster, target, stated),
        *closed_parent_notices(made.root, above),
        *version_notices(stated, version),
    )
    return TargetOutput(
        (first, *namespaces.artifacts(listed), Artifact(README, shown, Role.PAGE)),
        tuple(Notice(TARGET, message) for message in messages),
    )


def configuration_text(made: PolicyConfiguration) -> str:
    """queues.yaml, with the reasons for its weights as comments at the top."""
    lines = (line for comment in made.comments for line in wrap(comment, _WIDTH, subsequent_indent="    "))
    return "".join(f"# {line}\n" for line in lines) + writer.dump(queues_yaml.write(made.configuration))


def _delivered(queues: str, target: TargetSettings, stated: YuniKornOptions, version: Version) -> Artifact:
    known = {
        key: value for key, value in stated.settings.items() if not configmap.problem(key, value, version)
    }
    data = configmap.entries(queues, stated.policy_group, known)
    delivery = target.delivery or "helm-values"
    if delivery == "helm-values":
        return Artifact(VALUES, writer.dump(configmap.values(data)), Role.VALUES)
    if delivery == "manifest":
        return Artifact(CONFIG_MAP, writer.dump(configmap.manifest(data, target.namespace)), Role.MANIFEST)
    raise PolicykitError(
        f"delivery {delivery} is not known for YuniKorn",
        "set targets.yunikorn.delivery to helm-values or manifest",
        path=("targets", "yunikorn", "delivery"),
    )


_RELOAD = (
    "The scheduler reads changed queues without a restart. If it refuses a configuration, it logs that and "
    "keeps the previous one; at start-up it exits, so check its log after a change. Settings that begin with "
    "`service.` and `kubernetes.` need a restart."
)
_NAMESPACES = (
    "Pods go to the queue that their label `yunikorn.apache.org/queue` names, or else to the one in the "
    "annotation of their namespace, as listed here. The component in `namespaces/` adds the annotation to "
    "Namespaces of your own kustomization; for any other namespace run:"
)


def _readme(
    configuration: str,
    namespace: str,
    version: Version,
    table: Sequence[tuple[str, str]],
    commands: Sequence[str],
) -> str:
    """Markdown. `configuration` is the path of the file; `table` holds queues of the policy and paths."""
    parts = [f"# YuniKorn {version}", _configuration(configuration.rpartition("/")[2], namespace), _RELOAD]
    if table:
        rows = [f"| {name} | `{path}` |" for name, path in table]
        parts.append("\n".join(["| queue | in YuniKorn |", "|---|---|", *rows]))
    if commands:
        parts += [_NAMESPACES, "\n".join(["```sh", *commands, "```"])]
    return "\n\n".join(parts) + "\n"


def _configuration(name: str, namespace: str) -> str:
    if name == "values.yaml":
        return (
            f"- `{name}`: values for the chart, which keeps them in ConfigMap {DEFAULTS}. `helm upgrade "
            f"yunikorn yunikorn/yunikorn -n {namespace} --reuse-values -f {name}`. Keys of a ConfigMap "
            f"{CONFIGS} in the same namespace override them: there should be none with these keys."
        )
    return (
        f"- `{name}`: ConfigMap {CONFIGS} in namespace {namespace}, where the scheduler must run. Its keys "
        f"override those of the chart's ConfigMap {DEFAULTS}. `kubectl apply -f {name}`, or use the "
        "kustomization in the parent folder."
    )
