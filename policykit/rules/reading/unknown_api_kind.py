"""An API group does not have the kind, or not in this version.

With a misspelt `kind` or the apiVersion of another group, the API server answers "no matches for
kind"; an autoscaler whose target is of such a kind never scales it. Only groups whose kinds are all
known are checked. It is an error where no release has the kind or version: in Kubernetes' own
groups, and for a misspelt kind of an operator. A kind or version that a later release of
an operator may have is a warning. Custom resources of other groups are reported only if the group is
one edit away from one that has the kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from policykit.kube.placeholders import is_filled_in, is_version_to_fill
from policykit.kube.structure.schema import homes_of, kinds_of, removal
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.model.severity import Severity
from policykit.nearest import nearest, one_edit_apart

BAD = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Jobs
metadata:
  name: train
"""
GOOD = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: train
spec:
  tasks:
  - name: worker
    replicas: 1
    template:
      spec:
        containers:
        - name: main
          image: registry.example.com/train:1.0
"""

_KIND = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_REFERENCES: Mapping[tuple[str, str], tuple[Path, str]] = {
    ("autoscaling", "HorizontalPodAutoscaler"): (("spec", "scaleTargetRef"), ""),
    ("autoscaling.k8s.io", "VerticalPodAutoscaler"): (("spec", "targetRef"), ""),
    ("keda.sh", "ScaledObject"): (("spec", "scaleTargetRef"), "apps/v1 Deployment"),
}
"""Where objects name a kind to scale, and the one that is meant where they name none.

Sources: `HorizontalController.reconcileAutoscaler` (Kubernetes v1.36), the recommender's
`controllerfetcher` (VPA 1.5), `ParseGVKR` (KEDA 2.18).
"""
_SCALERS = frozenset(kind for _, kind in _REFERENCES)


_OF_OTHERS: Mapping[str, frozenset[str]] = {
    "keda.sh": frozenset({"KedaController"}),
    "scheduling.x-k8s.io": frozenset({"Queue", "QueueUnit"}),
    "serving.kserve.io": frozenset({"Predictor"}),
}
"""Kinds that another project has under the group of one.

Sources: the definitions of KEDA's OLM operator 2.17, of kube-queue 0.1 and of KServe's ModelMesh 0.12.
"""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    api_version, kind = manifest.api_version, manifest.kind
    if (api_version, kind) not in context.served.custom:
        for found in _unknown(api_version, kind):
            # With a target, kustomize does not compare the kind that a patch states.
            yield found._replace(severity=Severity.WARNING) if context.patch else found
    reference = _REFERENCES.get((manifest.group, kind)) if kind in _SCALERS else None
    if reference:
        yield from _target(manifest, *reference, context)


def _target(manifest: Manifest, path: Path, default: str, context: Context) -> Iterator[Violation]:
    """A kind to scale that does not exist: the autoscaler only says so in its status."""
    target = lookup(manifest.data, path)
    if not isinstance(target, dict):
        return
    known_version, _, known_kind = default.partition(" ")
    api_version = target.get("apiVersion") or known_version
    kind = target.get("kind") or known_kind
    if not isinstance(api_version, str) or not isinstance(kind, str) or not kind:
        return
    if (api_version, kind) in context.served.custom:
        return
    for found in _unknown(api_version or "v1", kind):
        field = found.path if target.get(found.path[0]) is not None else ()
        message = f"{found.message}: nothing is scaled"
        yield found._replace(at=(*path, *field), message=message, severity=Severity.WARNING)


@lru_cache(maxsize=1024)  # a tree has few kinds
def _unknown(api_version: str, kind: str) -> tuple[Violation, ...]:
    return tuple(_violations(api_version, kind))


def _violations(api_version: str, kind: str) -> Iterator[Violation]:
    if not api_version or not _KIND.fullmatch(kind) or is_filled_in(kind) or is_filled_in(api_version):
        return
    if removal(api_version, kind):
        return  # another rule says since when
    group, _, version = api_version.rpartition("/")
    if is_version_to_fill(version):
        return
    kinds = kinds_of(group)
    if kinds is None:
        yield from _misspelt_group(api_version, kind)
    elif kind in kinds:
        if version not in kinds[kind]:
            yield _no_version(group, version, kind, kinds[kind])
    elif not (kind.endswith("List") and kind[:-4] in kinds) and kind not in _OF_OTHERS.get(group, ()):
        yield from _no_kind(group, kind, kinds)


def _no_version(group: str, version: str, kind: str, known: list[str]) -> Violation:
    severity = Severity.ERROR if _is_api_of_kubernetes(group) else Severity.WARNING
    message = f"{_named(group)} has no version {version} of {kind}"
    return Violation(("apiVersion",), message, f"known: {', '.join(known)}", severity)


def _no_kind(group: str, kind: str, kinds: dict[str, list[str]]) -> Iterator[Violation]:
    if not group and kind == "PodGroup":
        return  # invalid-gang-metadata says whose it is
    homes = homes_of(kind)
    close = "" if homes else _close(kind, kinds, 0.75 if group else 0.85)
    if not homes and not close:
        homes = homes_of(kind[:1].upper() + kind[1:])
    # Other files also have `apiVersion: v1` (kubeconfig): the core group needs a similar kind.
    if not (homes or close) and (not group or group in _FILES or group in _SHARED):
        return
    advice = (
        f"{kind[:1].upper() + kind[1:]} is in {', '.join(homes)}"
        if homes
        else f"did you mean {close}?"
        if close
        else ""
    )
    severity = _severity(group, kind, homes, close)
    yield Violation(("kind",), f"{_named(group)} has no kind {kind}", advice, severity)


def _severity(group: str, kind: str, homes: list[str], close: str) -> Severity:
    """A later release of an operator may have further kinds, but none that differs by a misspelling."""
    if _is_api_of_kubernetes(group):
        by_kubernetes = any(_is_api_of_kubernetes(home.rpartition("/")[0]) for home in homes)
        certain = bool(close) or by_kubernetes or (bool(group) and "." not in group)
        return Severity.ERROR if certain else Severity.WARNING
    return Severity.ERROR if close and one_edit_apart(kind.lower(), close.lower()) else Severity.WARNING


def _misspelt_group(api_version: str, kind: str) -> Iterator[Violation]:
    """An unknown group that is one edit away from one that has the kind: app/v1 Deployment."""
    group = api_version.rpartition("/")[0].lower()
    for home in homes_of(kind):
        known = home.rpartition("/")[0]
        if _stands_for(group, known):
            yield Violation(
                ("apiVersion",),
                f"{api_version} has no kind {kind}",
                f"did you mean {home}?",
                Severity.WARNING,
            )


def _stands_for(group: str, known: str) -> bool:
    """Groups without a dot are Kubernetes' own: a CustomResourceDefinition cannot have such a one."""
    if not known:
        return group in ("core", "api")
    shortened = "." not in group and group == known.partition(".")[0]
    return shortened or group == known or one_edit_apart(group, known)


def _is_api_of_kubernetes(group: str) -> bool:
    """Whether the API server itself serves a known group."""
    own = "." not in group or group.endswith(".k8s.io")
    return own and group not in _FILES and not group.endswith((".x-k8s.io", ".sigs.k8s.io"))


def _named(group: str) -> str:
    return group or "the core group"


def _close(kind: str, kinds: dict[str, list[str]], likeness: float) -> str:
    lower = {name.lower(): name for name in kinds}
    found = nearest(kind.lower(), tuple(lower), likeness)
    return lower[found] if found else ""


_FILES = ("kubelet.config.k8s.io", "kubescheduler.config.k8s.io")
"""Groups of files that a program reads, not objects of the API."""
_SHARED = ("amd.com", "apps.nvidia.com", "argoproj.io", "nvidia.com")
"""Domains of vendors, under which several projects have kinds: only one that is nearly another is told."""

RULE = Rule(
    code="PK008",
    name="unknown-api-kind",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
