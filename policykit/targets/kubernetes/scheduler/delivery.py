"""Files that run the profiles: in a second kube-scheduler, or in the cluster's own."""

from __future__ import annotations

from textwrap import wrap

from policykit.generator.artifact import Artifact, Role
from policykit.manifests import writer
from policykit.model.cluster import Cluster
from policykit.targets.kubernetes import options, versions
from policykit.targets.kubernetes.objects import groups
from policykit.targets.kubernetes.options import KubernetesOptions
from policykit.targets.kubernetes.scheduler import configuration, kubeadm, messages, second
from policykit.targets.kubernetes.scheduler.configuration import Configuration, Lease
from policykit.targets.kubernetes.scheduler.plan import Plan
from policykit.targets.release import Version

SECOND = "kubernetes/scheduler.yaml"
CONFIGURATION = "kubernetes/kube-scheduler.yaml"
KUBEADM = "kubernetes/kubeadm.yaml"
_WIDTH = 74
"""Of comments: inside a block of a ConfigMap they still keep to 80 columns."""


def generate(
    cluster: Cluster, stated: KubernetesOptions, made: Plan, version: Version
) -> tuple[tuple[Artifact, ...], tuple[str, ...]]:
    """Files and notices; no files where no placement has a profile."""
    if not made.placement_profiles:
        return (), made.notices
    strange = () if versions.known(version) else (messages.unknown_version(version),)
    gates = _gates(cluster, stated, version)
    if made.way == options.CLUSTER:
        text = configuration_text(made, Configuration(made.profiles, kubeconfig=kubeadm.KUBECONFIG))
        artifacts = (
            Artifact(CONFIGURATION, text, Role.NODE),
            Artifact(KUBEADM, writer.dump(kubeadm.cluster_configuration(version, gates)), Role.NODE),
        )
        return artifacts, (*strange, *made.notices, messages.RESTART)
    lease = Lease(second.NAME, stated.scheduler.namespace)
    text = configuration_text(made, Configuration(made.profiles, lease))
    documents = writer.dump_all(second.objects(text, stated.scheduler, version, gates))
    assumed = () if cluster.kubernetes_version else (messages.ASSUMED_VERSION,)
    return (Artifact(SECOND, documents, Role.MANIFEST),), (*strange, *made.notices, *assumed)


def configuration_text(made: Plan, whole: Configuration) -> str:
    """The file, with the reasons for its weights on top as comments."""
    lines: list[str] = []
    for planned in made.placement_profiles:
        for number, comment in enumerate(planned.comments):
            indent = "  " if number else ""
            lines += wrap(comment, _WIDTH, initial_indent=indent, subsequent_indent="    ")
    return "".join(f"# {line}\n" for line in lines) + writer.dump(configuration.write(whole))


def _gates(cluster: Cluster, stated: KubernetesOptions, version: Version) -> tuple[str, ...]:
    """Feature gates of the gangs it must know."""
    kinds = [kind for kind in cluster.workloads.values() if groups.is_native_gang(kind, cluster)]
    known = stated.native_gang and cluster.kubernetes_version and groups.api_version(version)
    return groups.gates(kinds, version) if kinds and known else ()
