"""A scheduler or the descheduler is started with a configuration that its image cannot read.

Plugins such as Coscheduling and Trimaran's are built into the image of scheduler-plugins, and your own
into yours. Kubernetes' own kube-scheduler exits with an error when its configuration enables one of them,
and no pod of its profiles is placed. The descheduler of an image exits where its policy has a version or
an argument of another release.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.scheduler_images import (
    DeschedulerNeed,
    OutOfTreePlugins,
    StartedDescheduler,
    StockScheduler,
)
from policykit.model.severity import Severity
from policykit.targets.kubernetes.scheduler.plugins import SCHEDULER_PLUGINS

BAD = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: gang-scheduler, namespace: kube-system}
data:
  config.yaml: |
    apiVersion: kubescheduler.config.k8s.io/v1
    kind: KubeSchedulerConfiguration
    leaderElection: {leaderElect: false}
    profiles:
    - schedulerName: gang-scheduler
      plugins:
        multiPoint:
          enabled: [{name: Coscheduling}]
          disabled: [{name: PrioritySort}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: gang-scheduler, namespace: kube-system}
spec:
  selector: {matchLabels: {app: gang-scheduler}}
  template:
    metadata: {labels: {app: gang-scheduler}}
    spec:
      containers:
      - name: main
        image: registry.k8s.io/kube-scheduler:v1.34.1
        command: [kube-scheduler, --config=/etc/gang-scheduler/config.yaml]
        volumeMounts: [{name: config, mountPath: /etc/gang-scheduler}]
      volumes: [{name: config, configMap: {name: gang-scheduler}}]
"""

GOOD = BAD.replace(
    "registry.k8s.io/kube-scheduler:v1.34.1", "registry.k8s.io/scheduler-plugins/kube-scheduler:v0.33.5"
)


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Source: `NewFramework` of kube-scheduler (1.28 to 1.37), which refuses plugins that do not exist."""
    started = {each.value[:3]: each.value for each in scope.of(StockScheduler)}
    for plugins in scope.of(OutOfTreePlugins):
        by = started.get(plugins.value[:3])
        if by is not None:
            yield _violation(plugins, by)
    yield from _descheduler(scope)


def _violation(plugins: LocatedFact[OutOfTreePlugins], by: StockScheduler) -> Violation:
    names = plugins.value.names
    be, noun, them = ("is", "a plugin", "it") if len(names) == 1 else ("are", "plugins", "them")
    what, image = f"not {noun} of Kubernetes", "an image built with the plugins"
    if SCHEDULER_PLUGINS.issuperset(names):
        what = f"{noun} of scheduler-plugins"
        image = f"registry.k8s.io/scheduler-plugins/kube-scheduler, or {image}"
    return Violation(
        plugins.at("plugin"),
        f"{', '.join(names)} {be} {what}, but {by.what} runs {by.image}, which does not have {them}: the "
        "scheduler does not start",
        f"run {image}",
    )


def _descheduler(scope: Scope) -> Iterator[Violation]:
    """Source: `pkg/api` and `pkg/framework/plugins` of the descheduler (0.26 to 0.36), read strictly."""
    started = {each.value[:3]: each.value for each in scope.of(StartedDescheduler)}
    for need in scope.of(DeschedulerNeed):
        by, value = started.get(need.value[:3]), need.value
        if by is None or (value.first <= by.minor and not 0 < value.end <= by.minor):
            continue
        late = by.minor < value.first
        reads = f"reads it since 0.{value.first}" if late else f"no longer reads it since 0.{value.end}"
        yield Violation(
            need.at("need"),
            f"{value.what}: the descheduler {reads}, but {by.what} runs {by.image}: it does not start",
            f"run v0.{value.first}.0 or later" if late else "write it as this release reads it, or delete it",
        )


RULE = Rule(
    code="PK814",
    name="plugin-not-in-image",
    severity=Severity.ERROR,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(OutOfTreePlugins, DeschedulerNeed),
)
