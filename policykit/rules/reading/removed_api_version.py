"""An API version that is no longer served.

The API server answers "no matches for kind", so the object is never created. Without a
stated version of the cluster, a version that some supported release still serves is a
warning.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from policykit.kube.structure.versions import OLDEST_SUPPORTED, Removal, removal, served_until
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Applicability, Severity

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


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    gone = removal(manifest.api_version, manifest.kind)
    if gone is None or _read_by_koordinator(manifest):
        return
    version = context.cluster.kubernetes_version if context.cluster else ""
    if gone.system == _KUBERNETES and version and served_until(gone.release, version):
        return
    yield Violation(
        ("apiVersion",),
        f"{manifest.api_version} {manifest.kind} {_when(gone, version)}",
        f"use {gone.successor}" if gone.successor else "nothing replaces it",
        _severity(manifest, gone, version),
        fix=partial(_fix, manifest, gone.successor) if gone.successor else None,
    )


def _fix(manifest: Manifest, successor: str) -> Fix | None:
    """Only where the newer version says the same of this very object."""
    from policykit.kube.structure.conversion import converted

    patches = converted(manifest.data, successor, partial=manifest.partial)
    if patches is None:
        return None
    beside = ", and the fields as it has them" if len(patches) > 1 else ""
    return Fix(f"write {successor}{beside}", patches, Applicability.UNSAFE)


def _when(gone: Removal, version: str) -> str:
    if not gone.release:
        return f"is not served by current releases of {gone.system}"
    stated = f", the cluster is {version}" if version else ""
    return f"is not served since {gone.system} {gone.release}{stated}"


def _severity(manifest: Manifest, gone: Removal, version: str) -> Severity:
    # A scheduler reads its own configuration, whatever release the cluster is.
    if gone.system != _KUBERNETES or manifest.group == "kubescheduler.config.k8s.io":
        return Severity.WARNING
    old = not served_until(gone.release, OLDEST_SUPPORTED)
    return Severity.ERROR if version or old else Severity.WARNING


def _read_by_koordinator(manifest: Manifest) -> bool:
    """koord-scheduler decodes other versions than kube-scheduler of the cluster's release."""
    profiles = manifest.data.get("profiles")
    return isinstance(profiles, list) and any(
        isinstance(profile, dict) and profile.get("schedulerName") == "koord-scheduler"
        for profile in profiles
    )


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
