"""A scheduler is started with a flag that its release does not have, or with a file that it does not have.

The scheduler exits at once with `unknown flag`, and its pods stay pending. Flags of kube-scheduler for the
policy API, insecure ports and klog were removed one after another; what they set belongs in the file of
--config. A misspelt flag ends koord-scheduler, HAMi's scheduler, Volcano's three programs and the cluster
autoscaler as well. Each item of command and args is one argument: `--v 5` is a flag of that name, which no
program has, and a second flag in an item is a part of the first one's value. A container has a file of the
host only where a volume brings it, in kubeadm's configuration by extraVolumes. What kubeadm gives the
scheduler by extraArgs are such flags too.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.podsets import pod_sets
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.model.severity import Severity
from policykit.rules.kubernetes import kubeadm_arguments
from policykit.rules.kubernetes.unmounted_files import unmounted
from policykit.targets.kubernetes.scheduler.command import REMOVED_FLAGS, commands, without_flag
from policykit.targets.program_flags import UnknownFlag, unknown_flags

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: kube-scheduler
  namespace: kube-system
spec:
  containers:
  - name: kube-scheduler
    image: registry.k8s.io/kube-scheduler:v1.32.0
    command:
    - kube-scheduler
    - --policy-config-file=/etc/kubernetes/policy.json
    volumeMounts: [{name: host, mountPath: /etc/kubernetes}]
  volumes: [{name: host, hostPath: {path: /etc/kubernetes}}]
"""

GOOD = BAD.replace("policy-config-file=/etc/kubernetes/policy.json", "config=/etc/kubernetes/scheduler.yaml")

_OLDEST = 28
"""Minor release that is assumed at least where nothing states one."""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """By the tag of the image, else by the release of the policy, else by the oldest supported one.

    An image of one's own may be of any release.
    """
    if manifest.partial:
        return
    if manifest.group in kubeadm_arguments.GROUPS:
        yield from kubeadm_arguments.violations(manifest)
    for pod_set in pod_sets(manifest.data):
        seen: set[Path] = set()
        for command in commands(pod_set, context.cluster):
            minor = _OLDEST if command.minor is None else command.minor
            for flag, path in command.flags:
                if flag.second:
                    seen.add(path)
                    yield Violation(
                        path,
                        f"--{flag.name} and {flag.second} are one argument: "
                        f"the value of --{flag.name} is {flag.value!r}",
                        f"make {flag.second} an item of its own",
                    )
                gone = REMOVED_FLAGS.get(flag.name)
                if gone is not None and minor >= gone:
                    seen.add(path)
                    yield Violation(
                        path,
                        without_flag(flag.name, command.minor),
                        "remove the flag; configure the scheduler in the file of --config",
                        Severity.WARNING if command.minor is None else None,
                    )
        for unknown in unknown_flags(pod_set):
            if unknown.path not in seen:
                seen.add(unknown.path)
                yield _refused(unknown)
        yield from (each for each in unmounted(pod_set) if each.path not in seen)


def _refused(unknown: UnknownFlag) -> Violation:
    program = unknown.program if "-" in unknown.program else f"HAMi's {unknown.program}"
    severity = None if unknown.certain else Severity.WARNING
    name, *values = unknown.flag.split()
    if values:
        message = f"--{unknown.flag} is one argument, and no flag of {program}: it does not start"
        advice = f"write --{name}={values[0]}, or make {values[0]} an item of its own"
        return Violation(unknown.path, message, advice, severity)
    message = f"{program} has no flag --{name}: it does not start"
    advice = f"did you mean --{unknown.meant}?" if unknown.meant else "remove the flag"
    return Violation(unknown.path, message, advice, severity)


RULE = Rule(
    code="PK809",
    name="removed-scheduler-flag",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=(
        "/descheduler",
        "cluster-autoscaler",
        "hami",
        "koord-",
        "kube-scheduler",
        "kubeadm",
        "vc-",
    ),
)
