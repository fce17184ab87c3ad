"""Pods request shares of cards that Volcano's configuration next to them does not allow.

Plugin deviceshare chooses the card and writes it into the pod, if its argument for this kind of share is
true. Without it the device plugin refuses the pods on their node, or they stay pending.
"""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import dirname

from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import Scope
from policykit.model.severity import Severity
from policykit.model.shared_cards import CardName, SharedDevices
from policykit.targets import target_name_of
from policykit.targets.volcano.device_facts import SWITCHES
from policykit.targets.volcano.names import SCHEDULER

BAD = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: volcano-scheduler-configmap
  namespace: volcano-system
data:
  volcano-scheduler.conf: |
    actions: "enqueue, allocate, backfill"
    tiers:
    - plugins:
      - name: priority
      - name: gang
    - plugins:
      - name: predicates
      - name: proportion
      - name: nodeorder
---
apiVersion: v1
kind: Pod
metadata:
  name: notebook
spec:
  schedulerName: volcano
  containers:
  - name: main
    image: registry.example/notebook:1
    resources:
      requests: {cpu: 2, memory: 8Gi}
      limits: {volcano.sh/vgpu-number: 1, volcano.sh/vgpu-memory: 8192}
"""

GOOD = BAD.replace(
    "      - name: predicates\n",
    "      - name: predicates\n      - name: deviceshare\n        arguments:\n"
    "          deviceshare.VGPUEnable: true\n",
)


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Once for each file and kind of share, where no configuration of the scope has it.

    Without a policy a configuration is that of pods in its folder, above and below: examples side by side are
    often for different clusters.
    """
    configurations = scope.of(SharedDevices)
    enabled = frozenset(prefix for each in configurations for prefix in each.value.enabled)
    folders = {dirname(each.path) for each in configurations}
    reported: set[tuple[str, str]] = set()
    for use in scope.of(CardName) if configurations else ():
        name = use.value.resource
        prefix = next(filter(name.startswith, SWITCHES), "")
        placed_by = target_name_of(use.value.scheduler, context.cluster)
        if not prefix or (use.path, prefix) in reported or placed_by != SCHEDULER:
            continue
        if prefix in enabled or not (context.cluster or _is_near(use.path, folders)):
            continue
        reported.add((use.path, prefix))
        argument = f"deviceshare.{SWITCHES[prefix]}: true"
        yield Violation(
            use.at("resource"),
            f"requests {name}, but Volcano's configuration here has no {argument}: nothing allocates it",
            f"add plugin deviceshare with the argument {argument}",
        )


def _is_near(path: str, folders: set[str]) -> bool:
    """Whether one of the folders is that of a file, above it or below it."""
    here = _prefix(dirname(path))
    return any(here.startswith(each) or each.startswith(here) for each in map(_prefix, folders))


def _prefix(folder: str) -> str:
    return f"{folder}/" if folder else ""


RULE = Rule(
    code="PK517",
    name="sharing-not-enabled",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(CardName,),
)
