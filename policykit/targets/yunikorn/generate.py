"""The files for YuniKorn: its queues, annotations of namespaces, and a README."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from policykit.errors import PolicykitError
from policykit.generator.artifact import Artifact, Generated, Notice, Role
from policykit.manifests import writer
from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.release import Version
from policykit.targets.yunikorn import namespaces, notices, options, queue_tree, versions
from policykit.targets.yunikorn.configuration import configmap, queues_yaml, settings
from policykit.targets.yunikorn.configuration.configmap import CONFIGS, DEFAULTS
from policykit.targets.yunikorn.names import ROOT
from policykit.targets.yunikorn.options import Options
from policykit.targets.yunikorn.policy_configuration import (
    PolicyConfiguration,
    parent_queues,
    policy_configuration,
)

TARGET = "yunikorn"
VALUES = "yunikorn/values.yaml"
CONFIG_MAP = "yunikorn/configmap.yaml"
README = "yunikorn/README.md"
_WIDTH = 74
"""Width of comments: indented in Helm values they still fit into 80 columns."""


def generate(cluster: Cluster) -> Generated:
    """All files for `cluster.targets["yunikorn"]`; none if the policy has no such target.

    Raises PolicykitError for an unknown version, delivery or setting, and for queues YuniKorn would refuse.
    """
    target = cluster.targets.get(TARGET)
    if target is None:
        return Generated()
    version, stated = versions.parse(target.version), options.of(target)
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
        *notices.policy_notices(cluster, target, stated),
        *notices.closed_parent_notices(made.root, above),
        *notices.version_notices(stated, version),
    )
    return Generated(
        (first, *namespaces.artifacts(listed), Artifact(README, shown, Role.PAGE)),
        tuple(Notice(TARGET, message) for message in messages),
    )


def configuration_text(made: PolicyConfiguration) -> str:
    """queues.yaml, with the reasons for its weights as comments at the top."""
    lines = (line for comment in made.comments for line in wrap(comment, _WIDTH, subsequent_indent="    "))
    return "".join(f"# {line}\n" for line in lines) + writer.dump(queues_yaml.write(made.configuration))


def _delivered(queues: str, target: TargetSettings, stated: Options, version: Version) -> Artifact:
    known = {
        key: value for key, value in stated.settings.items() if not settings.problem(key, value, version)
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
