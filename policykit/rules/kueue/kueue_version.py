"""A Kueue object has an API version that the release does not serve.

The API server refuses it. Cohort and Topology were v1alpha1 first, and v1beta2 came with 0.15. The
release is that of `targets.kueue.version`; where none is stated, only versions that are gone are
reported, as a warning.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.targets.kueue import versions
from policykit.targets.kueue.names import GROUP
from policykit.targets.kueue.objects import READERS

BAD = """\
apiVersion: kueue.x-k8s.io/v1alpha1
kind: Cohort
metadata:
  name: research
spec:
  parent: root
"""

GOOD = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata:
  name: research
spec:
  parentName: root
"""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Source: versions of the CRDs (0.9 to 0.19)."""
    if manifest.group != GROUP or manifest.kind not in READERS:
        return
    have = versions.release_of(context.cluster)
    release = have or versions.newest()
    served = versions.served(manifest.kind, release)
    stated = manifest.api_version.rpartition("/")[2]
    if stated in served or (have is None and stated != "v1alpha1"):
        return
    yield Violation(
        ("apiVersion",),
        f"Kueue {release} serves {manifest.kind} as {' and '.join(served)}, not as {stated}",
        f"write apiVersion: {versions.api_version(manifest.kind, release)}",
        None if have else Severity.WARNING,
    )


RULE = Rule(
    code="PK923",
    name="kueue-version",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset(READERS),
)
