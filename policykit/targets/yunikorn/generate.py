"""What policykit writes for YuniKorn: its queues, the namespaces that lead to them, and a page."""

from __future__ import annotations

from textwrap import wrap

from policykit.errors import PolicykitError
from policykit.generator.artifact import Artifact, Generated, Notice, Role
from policykit.manifests import writer
from policykit.model.cluster import Cluster, TargetSettings
from policykit.targets.release import Version
from policykit.targets.yunikorn import options, page, versions
from policykit.targets.yunikorn.configuration import configmap, partition, settings
from policykit.targets.yunikorn.configuration.queues import ROOT
from policykit.targets.yunikorn.derived import namespaces, notices, paths
from policykit.targets.yunikorn.derived.configured import PolicyConfiguration, configured, holding
from policykit.targets.yunikorn.options import Options

TARGET = "yunikorn"
VALUES = "yunikorn/values.yaml"
CONFIG_MAP = "yunikorn/configmap.yaml"
PAGE = "yunikorn/README.md"
_WIDTH = 74
"""Of comments: inside a block of values they still keep to 80 columns."""


def generate(cluster: Cluster) -> Generated:
    """Everything for `cluster.targets["yunikorn"]`; nothing where the policy has no such target.

    Raises PolicykitError for an unknown version, delivery or setting, and for queues YuniKorn would refuse.
    """
    target = cluster.targets.get(TARGET)
    if target is None:
        return Generated()
    version, stated = versions.parse(target.version), options.of(target)
    made = configured(cluster, target)
    places = paths.checked(cluster.queues)
    holds = holding(cluster, stated)
    listed = namespaces.namespaces(cluster, places, holds)
    # Queues that placement rules make queues below.
    above = {places[tenant.queue] for tenant in cluster.tenants if tenant.queue in holds & places.keys()}
    if stated.namespace_queues:
        above.add(places.get(stated.namespace_queues, ROOT))
    first = _delivered(text(made), target, stated, version)
    shown = page.text(
        first.path,
        target.namespace or configmap.NAMESPACE,
        version,
        sorted(places.items()),
        namespaces.commands(listed),
    )
    said = (
        *made.notices,
        *notices.unsaid(cluster, target, stated),
        *notices.closed(made.root, above),
        *notices.by_version(stated, version),
    )
    return Generated(
        (first, *namespaces.artifacts(listed), Artifact(PAGE, shown, Role.PAGE)),
        tuple(Notice(TARGET, message) for message in said),
    )


def text(made: PolicyConfiguration) -> str:
    """queues.yaml, with the reasons for its weights on top as comments."""
    lines = (line for comment in made.comments for line in wrap(comment, _WIDTH, subsequent_indent="    "))
    return "".join(f"# {line}\n" for line in lines) + writer.dump(partition.write(made.configuration))


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
