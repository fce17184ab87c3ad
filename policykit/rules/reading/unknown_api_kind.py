"""An API group does not have the kind.

With a misspelt `kind` or the apiVersion of another group, the API server answers "no matches for
kind". Only groups whose kinds are all known are checked; other custom resources are reported only
if their group differs by one letter from a group that has the kind.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.structure.versions import homes_of, kinds_of, removal
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.nearest import nearest

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


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    api_version, kind = manifest.api_version, manifest.kind
    kinds = kinds_of(manifest.group)
    if not api_version or not kind or removal(api_version, kind):
        return
    if (api_version, kind) in context.served.custom:
        return
    if kinds is None:
        yield from _misspelt_group(api_version, kind)
        return
    if kind not in kinds:
        advice = _advice(kind, kinds, 0.75 if manifest.group else 0.85)
        # Other files also have `apiVersion: v1` (kubeconfig): the core group needs a similar kind.
        if advice or manifest.group:
            yield Violation(("kind",), f"{_group(manifest)} has no kind {kind}", advice)
        return
    version = api_version.rpartition("/")[2]
    if version not in kinds[kind]:
        known = ", ".join(kinds[kind])
        yield Violation(
            ("apiVersion",), f"{_group(manifest)} has no version {version} of {kind}", f"known: {known}"
        )


def _misspelt_group(api_version: str, kind: str) -> Iterator[Violation]:
    """An unknown group that differs by one letter from one that has the kind: app/v1 Deployment."""
    for home in homes_of(kind):
        if _one_letter_apart(api_version.lower(), home):
            yield Violation(("apiVersion",), f"{api_version} has no kind {kind}", f"did you mean {home}?")


def _one_letter_apart(one: str, other: str) -> bool:
    """Whether they differ by at most one inserted, deleted or replaced letter."""
    begins = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    if begins is None:
        begins = min(len(one), len(other))
    one, other = one[begins:], other[begins:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    return len(one) <= 1 and len(other) <= 1


def _group(manifest: Manifest) -> str:
    return manifest.group or "the core group"


def _advice(kind: str, kinds: dict[str, list[str]], likeness: float) -> str:
    if homes := homes_of(kind):
        return f"{kind} is in {', '.join(homes)}"
    lower = {name.lower(): name for name in kinds}
    close = nearest(kind.lower(), tuple(lower), likeness)
    return f"did you mean {lower[close]}?" if close else ""


RULE = Rule(
    code="PK008",
    name="unknown-api-kind",
    severity=Severity.INFO,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
