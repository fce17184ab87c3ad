"""All generated files of one policy, with headers, kustomization and README."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from policykit.errors import PolicykitError
from policykit.escape import markdown
from policykit.generator.artifact import Artifact, Generate, Notice, Role, TargetOutput
from policykit.generator.header import with_header
from policykit.kube.names import label_value_problem
from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster
from policykit.model.release import Releases, Version, ranges

_MOST = 3
"""Notices of the oldest release that are repeated."""


def notices(
    target: str, write: Generate, cluster: Cluster, known: Releases, newest: TargetOutput
) -> Iterator[Notice]:
    """One notice, if some supported release needs other files than the `newest`; none if all read the same.

    Every minor release is asked for its own files, which are thrown away.
    """
    made = {version: _written(write, cluster, target, version) for version in known.minors}
    others = [version for version, found in made.items() if _differs(found, newest)]
    if not others:
        return
    yield Notice(
        target,
        f"the policy states no release of {known.title}, so the files are written for {known.newest}; "
        f"{known.title} {ranges(others, tuple(made))} need{'s' if len(others) == 1 else ''} others"
        f"{_difference(made[others[0]], newest, others[0])}. Set targets.{target}.version",
    )


def _written(
    write: Generate, cluster: Cluster, target: str, version: Version
) -> TargetOutput | PolicykitError:
    settings = cluster.targets[target]._replace(version=str(version))
    try:
        return write(cluster._replace(targets={**cluster.targets, target: settings}))
    except PolicykitError as error:
        return error


def _differs(found: TargetOutput | PolicykitError, newest: TargetOutput) -> bool:
    return isinstance(found, PolicykitError) or _files(found) != _files(newest)


def _files(generated: TargetOutput) -> tuple[tuple[str, str], ...]:
    """Without pages, which are for people."""
    return tuple((each.path, each.text) for each in generated.artifacts if each.role is not Role.PAGE)


def _difference(found: TargetOutput | PolicykitError, newest: TargetOutput, version: Version) -> str:
    """What the oldest of the other releases makes of the policy."""
    if isinstance(found, PolicykitError):
        return f" (with {version}: {found.message})"
    known = {notice.message for notice in newest.notices}
    more = [notice.message for notice in found.notices if notice.message not in known]
    return f" (with {version}: {'; '.join(more[:_MOST])})" if more else ""


POLICY_LABEL = "policykit.io/policy"
"""Label of the objects that the kustomization applies. A cluster keeps it, unlike comments: so objects that
a policy no longer generates are found there."""
PROTECTED = "## Protected: `gen` refuses to remove these without --allow-removal"
_ROLES = {
    Role.MANIFEST: "applied by the kustomization",
    Role.VALUES: "for the component's own release (Helm values, post-rendering)",
    Role.COMPONENT: "referenced by the kustomization of what they patch: your workloads, the chart",
    Role.NODE: "for the nodes: applied by hand or by the provisioner, never from a kustomization",
    Role.PAGE: "to read",
}


def bundle(cluster: Cluster, generated: TargetOutput) -> dict[str, str]:
    """Path to text, sorted by path: every artifact with its header, and the files that combine them."""
    artifacts = list(generated.artifacts)
    objects = [artifact.path for artifact in artifacts if artifact.role is Role.MANIFEST]
    if objects:
        artifacts.append(Artifact("kustomization.yaml", _kustomization(cluster, objects), Role.PAGE))
    artifacts.append(Artifact("README.md", _page(cluster, generated), Role.PAGE))
    return {
        path: with_header(cluster.name, path, text)
        for path, text, _ in sorted(artifacts, key=lambda artifact: artifact.path)
    }


def _kustomization(cluster: Cluster, paths: Iterable[str]) -> str:
    """Objects in the order of their files: by itself kustomize sorts those of one kind by name, and the
    webhooks of queues refuse a child before its parent."""
    labels = [{"pairs": {POLICY_LABEL: cluster.name}}]
    return dump(
        {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "sortOptions": {"order": "fifo"},
            **({} if label_value_problem(cluster.name) else {"labels": labels}),
            "resources": sorted(paths),
        }
    )


def _page(cluster: Cluster, generated: TargetOutput) -> str:
    lines = [
        f"# What policy {cluster.name} generates",
        "",
        *_howto(generated),
    ]
    for role, says in _ROLES.items():
        paths = sorted(a.path for a in generated.artifacts if a.role is role)
        if paths:
            lines += [
                f"## {role.value.capitalize()} files, {says}",
                "",
                *(f"- `{path}`" for path in paths),
                "",
            ]
    if names := protected(cluster):
        lines += [PROTECTED, "", *(f"- {name}" for name in names), ""]
    if generated.notices:
        lines += ["## Notices", ""]
        lines += [f"- {notice.target}: {markdown(notice.message)}" for notice in generated.notices]
        lines.append("")
    return "\n".join(lines)


def protected(cluster: Cluster) -> tuple[str, ...]:
    """`pool NAME` and `queue NAME` of what may not be removed without a word."""
    pools = (f"pool {pool.name}" for pool in cluster.pools if pool.protected)
    return (*pools, *(f"queue {queue.name}" for queue in cluster.queues if queue.protected))


def recorded_protection(page: str) -> tuple[str, ...]:
    """The same, as the README of an earlier run has it."""
    _, heading, rest = page.replace("\r\n", "\n").partition(f"\n{PROTECTED}\n\n")
    listed = rest.partition("\n\n")[0] if heading else ""
    return tuple(line.removeprefix("- ") for line in listed.split("\n") if line.startswith("- "))


def _howto(generated: TargetOutput) -> list[str]:
    lines = []
    if any(a.role is Role.MANIFEST for a in generated.artifacts):
        lines.append(
            "Apply the objects with `kubectl apply -k .`, or let Argo CD or Flux follow this folder."
        )
    if any(a.path == "nodes/README.md" for a in generated.artifacts):
        lines.append("`nodes/README.md` gives the order in which to roll out daemons, labels and taints.")
    return [*lines, ""] if lines else []


def drift(wanted: Mapping[str, str], there: Mapping[str, str]) -> tuple[list[str], list[str], list[str]]:
    """(missing, different, orphaned) paths; `there`: the files of this policy on disk."""
    missing = [path for path in wanted if path not in there]
    different = [path for path in wanted if path in there and there[path] != wanted[path]]
    orphaned = [path for path in there if path not in wanted]
    return sorted(missing), sorted(different), sorted(orphaned)
