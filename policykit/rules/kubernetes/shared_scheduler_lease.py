"""A second kube-scheduler takes part in the leader election of the first.

Both wait for the lease kube-system/kube-scheduler, and only its holder works: the second scheduler never
places a pod, or it takes over when the first one restarts.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.podsets import pod_sets
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.shape import mapping, mappings, text
from policykit.model.severity import Severity
from policykit.targets import DEFAULT_SCHEDULER, added_plugins
from policykit.targets.kubernetes.scheduler.command import Command, commands

BAD = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: true
profiles:
- schedulerName: packed
"""

GOOD = BAD.replace("leaderElect: true", "leaderElect: true\n  resourceName: packed")

_LEASE = "kube-scheduler"
_FIRST = {"leader-elect-resource-name": _LEASE, "leader-elect-resource-namespace": "kube-system"}
"""Flags that name the lease, with the values of the first scheduler."""
_ELSEWHERE = ("config", "kubeconfig", "master", "lock-object-name", "lock-object-namespace")
"""Flags that say more than the command: another file, another cluster."""
_ADVICE = "give it a lease of its own, or turn leader election off if it has one replica"


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """A configuration whose profiles all have other names than the default one, or such a command."""
    if manifest.partial:
        return
    if manifest.kind == "KubeSchedulerConfiguration":
        yield from _of_configuration(manifest)
        return
    for pod_set in pod_sets(manifest.data) if manifest.kind != "Pod" else ():
        for command in commands(pod_set, context.cluster):
            yield from _of_command(command)


def _of_configuration(manifest: Manifest) -> Iterator[Violation]:
    election = mapping(manifest.data.get("leaderElection"))
    names = {text(each.get("schedulerName")) for each in mappings(manifest.data.get("profiles"))}
    lease = election.get("resourceNamespace", "kube-system"), election.get("resourceName", _LEASE)
    own = lease != ("kube-system", _LEASE)
    if not names or names & {"", DEFAULT_SCHEDULER} or own or added_plugins(manifest.data):
        return
    if election.get("leaderElect") is True:
        yield Violation(
            ("leaderElection", "leaderElect"),
            _message(", ".join(sorted(names))),
            f"{_ADVICE}: resourceName: {min(names)}",
        )


def _of_command(command: Command) -> Iterator[Violation]:
    named = command.value("scheduler-name")
    if named in ("", DEFAULT_SCHEDULER) or any(map(command.has, _ELSEWHERE)):
        return
    if any(command.has(flag) and command.value(flag) != value for flag, value in _FIRST.items()):
        return
    if command.value("leader-elect") == "true":
        yield Violation(
            command.place("leader-elect"),
            _message(named),
            f"{_ADVICE}: --leader-elect-resource-name={named}",
        )


def _message(name: str) -> str:
    return f"scheduler {name} takes part in the election of the first one: both wait for the lease {_LEASE}"


RULE = Rule(
    code="PK810",
    name="shared-scheduler-lease",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=("leader-elect", "eaderElect"),
)
