"""A YuniKorn childtemplate that making its queue fails on, or that nobody uses.

The validator does not read child templates: an amount that is none stops the configuration only
when the queue is made. On a leaf a template is ignored, and an amount above that of the queue
itself is cut down to it.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.targets.yunikorn import judged
from policykit.targets.yunikorn.checks import templates

BAD = """\
partitions:
- name: default
  queues:
  - name: root
    submitacl: '*'
    queues:
    - name: research
      parent: true
      childtemplate:
        resources:
          max: {vcore: 1.5, memory: 4Gi}
"""

GOOD = BAD.replace("vcore: 1.5", "vcore: 1500m")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Amounts of templates, and whether anything takes them."""
    found = judged.read(manifest, context.cluster)
    if found is not None:
        yield from judged.violations(templates.amounts(found.tree), manifest)
        yield from judged.violations(templates.unused(found.tree), manifest)


RULE = Rule(
    code="PK706",
    name="invalid-childtemplate",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({judged.KIND}),
)
