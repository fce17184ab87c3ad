"""A kustomization cannot be built.

It lists a file that does not exist, lists itself, or has a patch whose target is not among its
objects. `kustomize build`, `kubectl apply -k`, Argo CD and Flux all fail, so nothing of it reaches
the cluster, and what runs there stays as it was. The objects are linted file by file instead.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, FailedBuild, Rule, Violation
from policykit.model.severity import Severity

BAD = """\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [job.yml]   # the file is called job.yaml
"""
GOOD = """\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [job.yaml]
"""


def check(build: FailedBuild, context: Context) -> Iterator[Violation]:
    yield Violation(build.span, build.message, build.help)


RULE = Rule(
    code="PK009",
    name="build-fails",
    severity=Severity.ERROR,
    subject=FailedBuild,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
