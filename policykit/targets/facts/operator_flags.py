"""Flags that operators of jobs have in any release: others end them.

Sources: `cmd/training-operator.v1` of the Training Operator (1.3 to 1.9), `main.go` of KubeRay (0.1 to 1.7),
`main.go` and `cmd` of the Spark operator (v1beta2-1.0 to 2.5); zap of controller-runtime, klog.
"""

from __future__ import annotations

from collections.abc import Mapping

_COMMON = (
    "add_dir_header alsologtostderr help kubeconfig log_backtrace_at log_dir log_file log_file_max_size "
    "logtostderr one_output skip_headers skip_log_headers stderrthreshold v version vmodule zap-devel "
    "zap-encoder zap-log-level zap-stacktrace-level zap-time-encoding"
)
KNOWN: Mapping[str, frozenset[str]] = {
    "kuberay-operator": frozenset(
        f"{_COMMON} batch-scheduler burst config enable-batch-scheduler enable-leader-election "
        "enable-metrics feature-gates forced-cluster-upgrade health-probe-bind-address "
        "leader-election-namespace log-file-encoder log-file-path log-stdout-encoder metrics-addr "
        "prioritize-workers-to-delete qps reconcile-concurrency use-kubernetes-proxy watch-namespace".split()
    ),
    "spark-operator": frozenset(
        f"{_COMMON} cache-sync-timeout controller-threads default-batch-scheduler "
        "default-time-to-live-seconds driver-pod-creation-grace-period enable-batch-scheduler "
        "enable-cert-manager enable-driver-pdb enable-http2 enable-metrics "
        "enable-resource-quota-enforcement enable-ui-service enable-webhook health-probe-bind-address "
        "ingress-annotations ingress-class-name ingress-tls ingress-url-format kube-api-burst "
        "kube-api-qps kube-scheduler-names kubeConfig label-selector-filter leader-election "
        "leader-election-lease-duration leader-election-lock-name leader-election-lock-namespace "
        "leader-election-renew-deadline leader-election-retry-period master max-tracked-executor-per-app "
        "metric-tls-cipher-suites metric-tls-min-version metrics-bind-address metrics-endpoint "
        "metrics-job-start-latency-buckets metrics-job-submit-latency-buckets metrics-labels metrics-port "
        "metrics-prefix mutating-webhook-name namespace namespace-selector namespaces pprof-bind-address "
        "resync-interval scheduled-spark-application-timestamp-precision secure-metrics short "
        "submitter-initial-backoff submitter-max-retries submitter-request-timeout submitter-service-url "
        "submitter-startup-timeout submitter-tls-ca-file submitter-tls-cert-file submitter-tls-enabled "
        "submitter-tls-key-file validating-webhook-name webhook-ca-cert webhook-cert-dir "
        "webhook-cert-name webhook-cert-reload-interval webhook-config-name webhook-fail-on-error "
        "webhook-key-name webhook-namespace-selector webhook-port webhook-secret-name "
        "webhook-secret-namespace webhook-server-cert webhook-server-cert-key webhook-svc-name "
        "webhook-svc-namespace webhook-timeout webhook-tls-cipher-suites webhook-tls-min-version "
        "workqueue-ratelimiter-bucket-qps workqueue-ratelimiter-bucket-size "
        "workqueue-ratelimiter-max-delay enable-initializer initializer-threads install-crds "
        "submission-threads webhook-object-selector".split()
    ),
    "training-operator": frozenset(
        f"{_COMMON} burst controller-threads enable-gang-scheduling enable-scheme gang-scheduler-name "
        "health-probe-bind-address json-log-format kube-api-burst kube-api-qps leader-elect "
        "leader-election-id metrics-bind-address monitoring-port mpi-kubectl-delivery-image namespace "
        "pytorch-init-container-image pytorch-init-container-max-tries "
        "pytorch-init-container-template-file qps resyc-period resync-period threadiness "
        "webhook-secret-name webhook-server-port webhook-service-name enable-http2 master "
        "metrics-secure".split()
    ),
}
"""By the name of the operator."""
