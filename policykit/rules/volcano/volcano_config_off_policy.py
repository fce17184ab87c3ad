"""A Volcano configuration lacks what the policy asks for.

The policy says which pods start together, how queues share and who makes room for whom. The
scheduler does it only with the plugins and actions for it in its own configuration.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.targets.volcano.checks import listing

BAD = """\
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: conformance
- plugins:
  - name: predicates
  - name: proportion
  - name: nodeorder
    arguments:
      leastrequested.weight: 0
  - name: binpack
    arguments:
      binpack.resources: nvidia.com/gpu
"""

GOOD = BAD.replace("  - name: conformance", "  - name: gang\n  - name: conformance")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Held against what `gen` would write. Of a file by itself that lists no action, nothing."""
    if context.cluster is None or is_placeholder(manifest.data.get("actions")):
        return
    if listing.for_agents(manifest) or (manifest.holder is None and "actions" not in manifest.data):
        return
    # How a policy becomes a configuration is much to load for runs that have neither.
    from policykit.targets.volcano.checks.wanted import lacking

    yield from lacking(context.cluster, manifest.data)


RULE = Rule(
    code="PK508",
    name="volcano-config-off-policy",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"volcano-scheduler.conf"}),
    needs_policy=True,
)
