"""Flags of schedulers and of the programs beside them, in any release: others end the program.

Sources: `--help` of kube-scheduler 1.36, koord-scheduler 1.8 and Volcano's programs 1.15; `cmd` and
`pkg/scheduler` of Volcano (0.4 to 1.16), Koordinator (0.1 to 1.8) and HAMi (2.3 to 2.9); `main.go` and
`config/flags` of the cluster autoscaler (1.10 to 1.36), with those of cadvisor, which older ones link;
`component-base` (0.28 to 0.37).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from policykit.kube.command_line import arguments
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.kube.requests import containers
from policykit.manifests.path import Path
from policykit.manifests.shape import text
from policykit.namedtuple import NamedTuple
from policykit.nearest import nearest

_KLOG = (
    "add-dir-header alsologtostderr alsologtostderrthreshold legacy-stderr-threshold-behavior "
    "log-backtrace-at log-dir log-file log-file-max-size logtostderr one-output skip-headers "
    "skip-log-headers stderrthreshold v vmodule"
)
_ELECTION = (
    "leader-elect leader-elect-lease-duration leader-elect-renew-deadline leader-elect-resource-lock "
    "leader-elect-resource-name leader-elect-resource-namespace leader-elect-retry-period "
    "lock-object-name lock-object-namespace"
)
_KUBE_SCHEDULER = (
    f"{_KLOG} {_ELECTION} address algorithm-provider allow-metric-labels allow-metric-labels-manifest "
    "authentication-kubeconfig authentication-skip-lookup authentication-token-webhook-cache-ttl "
    "authentication-tolerate-lookup-failure authorization-always-allow-paths authorization-kubeconfig "
    "authorization-webhook-cache-authorized-ttl authorization-webhook-cache-unauthorized-ttl "
    "azure-container-registry-config bind-address cert-dir client-ca-file "
    "cloud-provider-gce-l7lb-src-cidrs cloud-provider-gce-lb-src-cidrs config contention-profiling "
    "disable-http2-serving disabled-metrics emulated-version experimental-logging-sanitization "
    "failure-domains feature-gates hard-pod-affinity-symmetric-weight help http2-max-streams-per-connection "
    "kube-api-burst kube-api-content-type kube-api-qps kubeconfig log-flush-frequency "
    "log-json-info-buffer-size log-json-split-stream log-text-info-buffer-size log-text-split-stream "
    "logging-format logging-sanitization master min-compatibility-version permit-address-sharing "
    "permit-port-sharing pod-max-in-unschedulable-pods-duration policy-config-file policy-configmap "
    "policy-configmap-namespace port profiling requestheader-allowed-names requestheader-client-ca-file "
    "requestheader-extra-headers-prefix requestheader-group-headers requestheader-uid-headers "
    "requestheader-username-headers scheduler-name secure-port show-hidden-metrics-for-version tls-cert-file "
    "tls-cipher-suites tls-curve-preferences tls-min-version tls-private-key-file tls-sni-cert-key "
    "use-legacy-policy-config version write-config-to"
)
_VOLCANO = (
    f"{_KLOG} {_ELECTION} ca-cert-file enable-healthz enable-metrics feature-gates healthz-address "
    "healthz-bind-address help kube-api-burst kube-api-qps kubeconfig listen-address log-flush-frequency "
    "master scheduler-name tls-cert-file tls-private-key-file version"
)


_CONFIGURED = (
    "descheduler --policy-config-file",
    "koord-descheduler --config",
    "koord-scheduler --config",
    "kube-scheduler --config --policy-config-file",
    "vc-scheduler --scheduler-conf",
)
CONFIGURATION_FLAGS: Mapping[str, tuple[str, ...]] = {
    name: tuple(flags) for name, *flags in (each.split() for each in _CONFIGURED)
}
"""Program, and last part of its image's name, to flags that name a file, which no image has in it."""


class Program(NamedTuple):
    images: tuple[str, ...]
    """Ends of the paths of its images; the program is the last part, or is named."""
    newest: tuple[int, int]
    """The newest release that was looked into, by its tag."""
    flags: frozenset[str]


def _program(images: str, newest: tuple[int, int], flags: str) -> Program:
    return Program(tuple(images.split()), newest, frozenset(flags.split()))


_NAMED_AS_IMAGE = (
    _program(
        "registry.k8s.io/autoscaling/cluster-autoscaler k8s.gcr.io/autoscaling/cluster-autoscaler "
        "k8s.gcr.io/cluster-autoscaler",
        (1, 36),
        f"{_KLOG} {_ELECTION} "
        "address allowed-scheduler-names application-metrics-count-limit async-node-groups "
        "aws-use-static-instance-list azure-container-registry-config balance-similar-node-groups "
        "balancing-ignore-label balancing-label blocking-system-pod-distruption-timeout boot-id-file "
        "bulk-mig-instances-listing-enabled bypassed-scheduler-names capacity-buffer-controller-enabled "
        "capacity-buffer-pod-dry-run-enabled capacity-buffer-pod-injection-enabled "
        "capacity-quotas-enabled check-capacity-batch-processing check-capacity-processor-instance "
        "check-capacity-provisioning-request-batch-timebox "
        "check-capacity-provisioning-request-max-batch-size cloud-config cloud-provider "
        "cloud-provider-gce-l7lb-src-cidrs cloud-provider-gce-lb-src-cidrs cluster-name "
        "cluster-snapshot-parallelism clusterapi-cloud-config-authoritative container-hints containerd "
        "containerd-namespace cordon-node-before-terminating cores-total "
        "daemonset-eviction-for-empty-nodes daemonset-eviction-for-occupied-nodes "
        "debugging-snapshot-enabled disable-root-cgroup-stats docker docker-env-metadata-whitelist "
        "docker-only docker-root docker-tls docker-tls-ca docker-tls-cert docker-tls-key "
        "drain-priority-config dynamic-node-delete-delay-after-taint-enabled emit-per-nodegroup-metrics "
        "enable-csi-node-aware-scheduling enable-dynamic-resource-allocation enable-load-reader "
        "enable-proactive-scaleup enable-provisioning-requests enforce-node-group-min-size estimator "
        "event-storage-age-limit event-storage-event-limit expander expendable-pods-priority-cutoff "
        "experimental-logging-sanitization fastpath-binpacking-enabled feature-gates "
        "filter-out-schedulable-pods-uses-packing force-delete-failed-nodes "
        "force-delete-unregistered-nodes frequent-loops-enabled gce-concurrent-refreshes "
        "gce-expander-ephemeral-storage-support gce-mig-instances-min-refresh-wait-time "
        "global-housekeeping-interval gpu-total grpc-expander-cert grpc-expander-url help "
        "housekeeping-interval ignore-daemonsets-utilization ignore-mirror-pods-utilization "
        "ignore-taint ignore-unsupported-apis initial-node-group-backoff-duration kube-api-content-type "
        "kube-client-burst kube-client-qps kubeconfig kubernetes lease-resource-name log-cadvisor-usage "
        "log-flush-frequency log-json-info-buffer-size log-json-split-stream log-text-info-buffer-size "
        "log-text-split-stream logging-format machine-id-file max-allocatable-difference-ratio "
        "max-autoprovisioned-node-group-count max-binpacking-time max-bulk-soft-taint-count "
        "max-bulk-soft-taint-time max-drain-parallelism max-empty-bulk-delete max-free-difference-ratio "
        "max-graceful-termination-sec max-node-group-backoff-duration max-node-provision-time "
        "max-node-skip-eval-time-tracker-enabled max-nodegroup-binpacking-duration "
        "max-nodes-per-scaleup max-nodes-total max-pod-eviction-time max-scale-down-parallelism "
        "max-total-unready-percentage memory-difference-ratio memory-total min-replica-count namespace "
        "new-pod-scale-up-delay node-autoprovisioning-enabled node-delete-delay-after-taint "
        "node-deletion-batcher-interval node-deletion-candidate-ttl node-deletion-delay-timeout "
        "node-group-auto-discovery node-group-backoff-reset-timeout node-info-cache-expire-time "
        "node-removal-latency-tracking-enabled nodes ok-total-unready-count parallel-drain "
        "parallel-scale-up pod-injection-limit predicate-parallelism profile-cpu profiling "
        "provisioning-request-initial-backoff-time provisioning-request-max-backoff-cache-size "
        "provisioning-request-max-backoff-time record-duplicated-events salvo-scale-up "
        "salvo-scale-up-budget scale-down-candidates-pool-min-count scale-down-candidates-pool-ratio "
        "scale-down-delay-after-add scale-down-delay-after-delete scale-down-delay-after-failure "
        "scale-down-delay-type-local scale-down-enabled scale-down-gpu-utilization-threshold "
        "scale-down-non-empty-candidates-count scale-down-simulation-timeout scale-down-unneeded-time "
        "scale-down-unready-enabled scale-down-unready-time scale-down-utilization-threshold "
        "scale-up-from-zero scaleup-simulation-for-skipped-node-groups-enabled scan-interval "
        "show-hidden-metrics-for-version skip-nodes-with-custom-controller-pods "
        "skip-nodes-with-local-storage skip-nodes-with-system-pods startup-taint startup-taint-prefix "
        "status-config-map-name status-taint storage-driver-buffer-duration storage-driver-db "
        "storage-driver-host storage-driver-password storage-driver-secure storage-driver-table "
        "storage-driver-user unregistered-node-removal-time unremovable-node-recheck-timeout "
        "update-machine-info-interval user-agent version write-status-configmap",
    ),
    _program(
        "registry.k8s.io/kube-scheduler k8s.gcr.io/kube-scheduler google_containers/kube-scheduler",
        (1, 37),
        _KUBE_SCHEDULER,
    ),
    _program(
        "koordinator-sh/koord-scheduler koordinatorsh/koord-scheduler",
        (1, 8),
        f"{_KUBE_SCHEDULER} controller-plugins debug-diagnosis debug-diagnosis-blocking "
        "debug-diagnosis-queue-size debug-diagnosis-worker-count debug-filters debug-scores "
        "enable-network-topology-manager enable-workload-auditor scheduler-monitor-period "
        "scheduling-drop-unhandled-timeout scheduling-timeout sync-barrier-pod-name "
        "sync-barrier-pod-namespace sync-hard-timeout workload-auditor-metric-labels "
        "workload-auditor-scheduling-event-interval workload-auditor-victim-deleting-retries "
        "workload-auditor-victim-deletion-duration workload-auditor-victim-reschedule-duration",
    ),
    _program(
        "volcanosh/vc-controller-manager",
        (1, 15),
        f"{_VOLCANO} controllers detection-period-of-dependson-task enable-node-event-trigger "
        "inherit-owner-annotations max-requeue-num scheduler-configs shard-sync-period sharding-configmap "
        "sharding-configmap-namespace worker-threads worker-threads-for-cronjob worker-threads-for-gc "
        "worker-threads-for-podgroup worker-threads-for-queue",
    ),
    _program(
        "volcanosh/vc-scheduler",
        (1, 15),
        f"{_VOLCANO} cache-dump-dir cache-dumper csi-storage default-queue disable-default-scheduler-config "
        "enable-pprof gate-removal-worker-num ignored-provisioners minimum-feasible-nodes "
        "minimum-percentage-nodes-to-find node-selector node-worker-threads percentage-nodes-to-find "
        "plugins-dir priority-class resource-sync-timeout resync-period schedule-period scheduler-conf "
        "scheduler-sharding-mode scheduler-sharding-name",
    ),
    _program(
        "volcanosh/vc-webhook-manager",
        (1, 15),
        f"{_VOLCANO} admission-conf enable-queue-allocated-pods-check enable-root-queue-protection "
        "enabled-admission graceful-shutdown-time ignored-namespaces max-queue-depth port "
        "webhook-namespace webhook-service-name webhook-url",
    ),
)
_HAMI = _program(
    "projecthami/hami",
    (0, 0),  # devices add flags of their own: only what is nearly a known flag is told
    f"{_KLOG} cert-file debug default-cores default-gpu default-mem device-config-file enable-ascend "
    "enable-iluvatar force-overwrite-default-scheduler gpu-scheduler-policy help http-bind key-file "
    "kube-burst kube-qps kube-timeout leader-elect leader-elect-resource-name "
    "leader-elect-resource-namespace legacy-metrics metrics-bind-address node-label-selector "
    "node-lock-retry-timeout node-lock-timeout node-scheduler-policy profiling scheduler-name",
)
PROGRAMS: Mapping[str, Program] = {
    **{each.images[0].rpartition("/")[2]: each for each in _NAMED_AS_IMAGE},
    "scheduler": _HAMI,
}
"""By the name of the program in a command."""

_ITEM = re.compile(r"--([A-Za-z][^=]*)", re.DOTALL)
_TAG = re.compile(r":v?([0-9]{1,3})\.([0-9]{1,3})(?:\.[0-9]+)?\Z")
_LIKE = 0.8


class UnknownFlag(NamedTuple):
    """An item of a command that its program refuses."""

    program: str
    flag: str
    """What stands before the sign of equality, without the dashes."""
    meant: str
    """The known flag that is probably meant; empty: none."""
    certain: bool
    """The image is of a known release of the program."""
    path: Path


def unknown_flags(pod_set: PodSet) -> Iterator[UnknownFlag]:
    """Flags that no release of the program has; of images of unknown origin only misspelt ones."""
    for field, position, container in containers(pod_set.spec):
        words = [(word, pod_set.place(field, position, *at)) for word, at in arguments(container)]
        image = text(container.get("image")).partition("@")[0]
        name = _started(container, words, image)
        if name:
            known = PROGRAMS[name]
            yield from _unknown(name, known, words, _is_known(image, known))


def _started(container: Mapping[str, Any], words: list[tuple[str, Path]], image: str) -> str:
    """The program that a container runs; empty: another one."""
    if container.get("command"):
        name = words[0][0].rpartition("/")[2] if words else ""
        known = PROGRAMS.get(name)
        # So common a word is a program of HAMi only in its image.
        return name if known and ("-" in name or _is_of(image, known.images)) else ""
    return next((name for name, each in PROGRAMS.items() if "-" in name and _is_of(image, each.images)), "")


def _is_of(image: str, paths: Collection[str]) -> bool:
    path = image.rpartition("/")
    name = path[2].partition(":")[0]
    full = f"/{path[0]}/{name}"
    return any(full.endswith(f"/{each}") for each in paths)


def _is_known(image: str, program: Program) -> bool:
    tag = _TAG.search(image)
    release = (int(tag[1]), int(tag[2])) if tag else (0, 0)
    return (0, 0) < release <= program.newest and _is_of(image, program.images)


def _unknown(
    name: str, program: Program, words: list[tuple[str, Path]], certain: bool
) -> Iterator[UnknownFlag]:
    for word, path in words:
        if word == "--":
            return
        found = _ITEM.match(word)
        if found is None or is_placeholder(word):
            continue
        flag = found[1]
        plain = flag.replace("_", "-")
        if plain in program.flags:
            continue
        first = plain.split()[0]
        if first in program.flags:
            meant = first if first != plain else ""
        else:
            meant = _meant(plain, program.flags) if first == plain else ""
        if certain or meant:
            yield UnknownFlag(name, flag, meant, certain, path)


def misspelt_flag(program: str, flag: str) -> str:
    """The flag meant by one that no release of the program has; empty: one has it, or none is like it."""
    known = PROGRAMS[program].flags
    return "" if flag in known else _meant(flag, known)


def _meant(flag: str, known: Collection[str]) -> str:
    letters = flag.replace("-", "").lower()
    same = next((each for each in known if each.replace("-", "") == letters), "")
    return same or nearest(flag.lower(), tuple(sorted(known)), _LIKE)
