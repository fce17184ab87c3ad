"""An API version is no longer served, or not yet.

The API server answers "no matches for kind", so the object is never created. If the policy does not
state the Kubernetes version, an API version that a supported release still serves is a warning, and
one that is too new is not reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from policykit.kube.structure.schema import OLDEST_SUPPORTED, Removal, added, kinds_of, removal, served_until
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Applicability, Severity
from policykit.targets import added_plugins

BAD = """\
apiVersion: batch/v1beta1
kind: CronJob
metadata:
  name: report
spec:
  schedule: "0 2 * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
          - name: main
            image: registry.example.com/report:1.0
"""
GOOD = BAD.replace("batch/v1beta1", "batch/v1")

_KUBERNETES = "Kubernetes"
_NAMED_AS_PATCH = r"(?:\A|[/._-])patch(?:es)?(?:[._-][^/]*)?\Z"
_CONFIGURATION = "KubeSchedulerConfiguration"


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    if manifest.kind == _CONFIGURATION and added_plugins(manifest.data):
        return  # other schedulers read other versions: PK601 checks koord-scheduler's
    gone = removal(manifest.api_version, manifest.kind)
    if gone is None:
        if context.cluster is not None:
            yield from _too_new(manifest, context)
            yield from _of_another_release(manifest, context)
        return
    version = context.cluster.kubernetes_version if context.cluster else ""
    if gone.target_name == _KUBERNETES and version and served_until(gone.release, version):
        return
    yield Violation(
        ("apiVersion",),
        f"{manifest.api_version} {manifest.kind} {_when(gone, version)}",
        f"use {gone.successor}" if gone.successor else "nothing replaces it",
        Severity.WARNING if _is_patch(manifest, context) else _severity(manifest, gone, version),
        fix=partial(_fix, manifest, gone.successor) if gone.successor else None,
    )


def _of_another_release(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """A kind of a system whose stated release does not have it; PK514 reports Volcano's."""
    if context.cluster is None or "." not in manifest.group or manifest.group.endswith(".k8s.io"):
        return  # before the tables of all systems are read
    from policykit.targets import releases

    for each in releases.missing("kind", {manifest.kind: ""}, context.cluster):
        if each.fact.group == manifest.group and not manifest.group.endswith("volcano.sh"):
            yield Violation(("kind",), each.reason, each.help)


def _too_new(manifest: Manifest, context: Context) -> Iterator[Violation]:
    version = context.cluster.kubernetes_version if context.cluster else ""
    since = added(manifest.api_version, manifest.kind) if version else ""
    if not since or not served_until(since, version):
        return
    older = [v for v in _versions(manifest) if not served_until(added(v, manifest.kind) or "0", version)]
    what = f"{manifest.api_version} {manifest.kind}"
    yield Violation(
        ("apiVersion",),
        f"{what} is served since Kubernetes {since}, but the cluster is {version}",
        f"use {older[0]}" if older else f"it requires Kubernetes {since} or later",
    )


def _versions(manifest: Manifest) -> list[str]:
    known = (kinds_of(manifest.group) or {}).get(manifest.kind, [])
    return [f"{manifest.group}/{version}" if manifest.group else version for version in known]


def _fix(manifest: Manifest, successor: str) -> Fix | None:
    """Only if the newer version is equivalent for this object."""
    from policykit.kube.structure.conversion import converted

    patches = converted(manifest.data, successor, partial=manifest.partial)
    if patches is None:
        return None
    fields = " and convert the fields" if len(patches) > 1 else ""
    return Fix(f"write {successor}{fields}", patches, Applicability.UNSAFE)


def _when(gone: Removal, version: str) -> str:
    if not gone.release:
        return f"is not served by current releases of {gone.target_name}"
    stated = f", but the cluster is {version}" if version else ""
    return f"is not served since {gone.target_name} {gone.release}{stated}"


def _is_patch(manifest: Manifest, context: Context) -> bool:
    """Whether the API server never sees the document."""
    definition = manifest.partial and manifest.kind == "CustomResourceDefinition"
    named = "patch" in context.path and re.search(_NAMED_AS_PATCH, context.path) is not None
    return definition or named


def _severity(manifest: Manifest, gone: Removal, version: str) -> Severity:
    # A scheduler reads its own configuration, whatever the Kubernetes version.
    if gone.target_name != _KUBERNETES or manifest.group == "kubescheduler.config.k8s.io":
        return Severity.WARNING
    old = not served_until(gone.release, OLDEST_SUPPORTED)
    return Severity.ERROR if version or old else Severity.WARNING


RULE = Rule(
    code="PK007",
    name="removed-api-version",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    fix=Applicability.UNSAFE,
)
