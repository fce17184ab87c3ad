"""Fields of kube-scheduler's configuration and of its own plugins' args, with the type of each.

Source: `kube-scheduler/config/v1` of Kubernetes 1.37, and the additional fields of v1beta2 and v1beta3.
Decoding is strict: the scheduler stops at a field that it does not know. A field that only some
releases have is listed too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

GROUP = "kubescheduler.config.k8s.io"
VERSIONS = frozenset({"v1", "v1beta2", "v1beta3"})
"""Versions whose fields are listed here."""
Spec: TypeAlias = Any
"""`int`, `bool` or `str`; `object`: anything; a map of fields; a list with the spec of its items."""

_EXPRESSIONS: Spec = [{"key": str, "operator": str, "values": [str]}]
_NODES: Spec = {"matchExpressions": _EXPRESSIONS, "matchFields": _EXPRESSIONS}
_RESOURCES: Spec = [{"name": str, "weight": int}]
_SHAPE: Spec = [{"utilization": int, "score": int}]
_STRATEGY: Spec = {"type": str, "resources": _RESOURCES, "requestedToCapacityRatio": {"shape": _SHAPE}}
_SPREAD: Spec = {
    "maxSkew": int,
    "topologyKey": str,
    "whenUnsatisfiable": str,
    "labelSelector": object,
    "minDomains": int,
    "nodeAffinityPolicy": str,
    "nodeTaintsPolicy": str,
    "matchLabelKeys": [str],
}

ARGS: Mapping[str, Spec] = {
    "DefaultPreemption": {"minCandidateNodesPercentage": int, "minCandidateNodesAbsolute": int},
    "DynamicResources": {"filterTimeout": object, "bindingTimeout": object},
    "InterPodAffinity": {"hardPodAffinityWeight": int, "ignorePreferredTermsOfExistingPods": bool},
    "NodeAffinity": {
        "addedAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [_NODES]},
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": int, "preference": _NODES}],
        }
    },
    "NodeResourcesBalancedAllocation": {"resources": _RESOURCES},
    "NodeResourcesFit": {
        "ignoredResources": [str],
        "ignoredResourceGroups": [str],
        "scoringStrategy": _STRATEGY,
    },
    "PodTopologySpread": {"defaultConstraints": [_SPREAD], "defaultingType": str},
    "VolumeBinding": {"bindTimeoutSeconds": int, "shape": _SHAPE},
}
"""Plugin to its args; each may also have `apiVersion` and `kind`."""

_PLUGINS: Spec = {"enabled": [{"name": str, "weight": int}], "disabled": [{"name": str, "weight": int}]}
POINTS = (
    "preEnqueue",
    "queueSort",
    "preFilter",
    "filter",
    "postFilter",
    "preScore",
    "score",
    "reserve",
    "permit",
    "preBind",
    "bind",
    "postBind",
    "multiPoint",
    "placementGenerate",
    "placementScore",
    "podGroupPostFilter",
)
"""Extension points of any release."""

ARGS_SINCE: Mapping[str, int] = {"DynamicResources": 34}
"""Plugin to the first minor release of Kubernetes 1 that has args for it, if that is later than 1.28; before,
they are not decoded. Source: `kube-scheduler/config/v1/register.go` at the tags."""
SINCE: Mapping[str, int] = {
    "bindingTimeout": 35,
    "placementGenerate": 36,
    "placementScore": 36,
    "podGroupPostFilter": 37,
}
"""Field to the first minor release of Kubernetes 1 that knows it, if that is later than 1.28. Source:
`kube-scheduler/config/v1/types*.go` at the tags."""
NOT_IN: Mapping[str, tuple[str, ...]] = {
    "delayCacheUntilActive": ("v1beta2", "v1beta3"),
    "healthzBindAddress": ("v1beta3", "v1"),
    "metricsBindAddress": ("v1beta3", "v1"),
}
"""Field to the versions of the configuration that do not have it."""

CONFIGURATION: Spec = {
    "apiVersion": str,
    "kind": str,
    "parallelism": int,
    "leaderElection": {
        "leaderElect": bool,
        "leaseDuration": object,
        "renewDeadline": object,
        "retryPeriod": object,
        "resourceLock": str,
        "resourceName": str,
        "resourceNamespace": str,
    },
    "clientConnection": {
        "kubeconfig": str,
        "acceptContentTypes": str,
        "contentType": str,
        "qps": object,
        "burst": int,
    },
    "healthzBindAddress": str,
    "metricsBindAddress": str,
    "enableProfiling": bool,
    "enableContentionProfiling": bool,
    "percentageOfNodesToScore": int,
    "podInitialBackoffSeconds": int,
    "podMaxBackoffSeconds": int,
    "delayCacheUntilActive": bool,
    "profiles": [
        {
            "schedulerName": str,
            "percentageOfNodesToScore": int,
            "plugins": dict.fromkeys(POINTS, _PLUGINS),
            "pluginConfig": [{"name": str, "args": object}],
        }
    ],
    "extenders": [
        {
            "urlPrefix": str,
            "filterVerb": str,
            "preemptVerb": str,
            "prioritizeVerb": str,
            "weight": int,
            "bindVerb": str,
            "enableHTTPS": bool,
            "tlsConfig": {
                "insecure": bool,
                "serverName": str,
                "certFile": str,
                "keyFile": str,
                "caFile": str,
                "certData": object,
                "keyData": object,
                "caData": object,
            },
            "httpTimeout": object,
            "nodeCacheCapable": bool,
            "managedResources": [{"name": str, "ignoredByScheduler": bool}],
            "ignorable": bool,
        }
    ],
}
