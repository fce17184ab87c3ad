"""Settings in the ConfigMaps, apart from the queues: names, types and the releases that read them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from policykit.durations import is_signed_duration
from policykit.model.release import Version
from policykit.targets.yunikorn import versions
from policykit.targets.yunikorn.configuration.configmap import POLICY_GROUP
from policykit.targets.yunikorn.configuration.values import (
    Parameter,
    is_boolean,
    is_regular_expression,
    parameter_problem,
)

_LEVEL = re.compile(r"log(\.[A-Za-z0-9-]+)*\.level\Z")
_LEVELS = frozenset({"debug", "info", "warn", "error", "dpanic", "panic", "fatal"})


def _whole(text: str) -> bool:
    return bool(re.match(r"[-+]?[0-9]{1,19}\Z", text))


def _patterns(text: str) -> bool:
    """Comma-separated regular expressions."""
    return all(is_regular_expression(part.strip()) for part in text.split(","))


def _any(text: str) -> bool:
    return True


_TEXT = Parameter(_any)
_FLAG = Parameter(is_boolean, "true or false")
_WHOLE = Parameter(_whole, "a whole number")
_DURATION = Parameter(is_signed_duration, "a duration such as 10s")
_PATTERNS = Parameter(_patterns, "comma-separated regular expressions")
_USER = Parameter(_whole, "a whole number", versions.PLACEHOLDER_USER)

_1_4, _1_5, _1_6 = Version(1, 4, 0), Version(1, 5, 0), Version(1, 6, 0)

KNOWN: Mapping[str, Parameter] = {
    "service.clusterId": _TEXT,
    "service.schedulingInterval": _DURATION,
    "service.volumeBindTimeout": _DURATION,
    "service.eventChannelCapacity": _WHOLE,
    "service.dispatchTimeout": _DURATION,
    "service.disableGangScheduling": _FLAG,
    "service.enableConfigHotRefresh": _FLAG,
    "service.operatorPlugins": Parameter(_any, gone=_1_5),
    "service.placeholderImage": _TEXT,
    "service.placeholderRunAsUser": _USER,
    "service.placeholderRunAsGroup": _USER,
    "service.placeholderFsGroup": _USER,
    "service.nodeInstanceTypeNodeLabelKey": _TEXT,
    "kubernetes.qps": _WHOLE,
    "kubernetes.burst": _WHOLE,
    "health.checkInterval": _DURATION,
    "event.trackingEnabled": _FLAG._replace(since=_1_4),
    "event.requestCapacity": _WHOLE._replace(since=_1_4),
    "event.ringBufferCapacity": _WHOLE._replace(since=_1_4),
    "event.maxStreams": _WHOLE._replace(since=_1_5),
    "event.maxStreamsPerHost": _WHOLE._replace(since=_1_5),
    "event.RESTResponseSize": _WHOLE._replace(since=_1_6),
    "admissionController.webHook.amServiceName": _TEXT,
    "admissionController.webHook.schedulerServiceAddress": _TEXT,
    "admissionController.filtering.processNamespaces": _PATTERNS,
    "admissionController.filtering.bypassNamespaces": _PATTERNS,
    "admissionController.filtering.labelNamespaces": _PATTERNS,
    "admissionController.filtering.noLabelNamespaces": _PATTERNS,
    "admissionController.filtering.defaultQueue": Parameter(_any, gone=versions.DEFAULT_QUEUE_ENDS),
    "admissionController.filtering.generateUniqueAppId": _FLAG._replace(since=_1_4),
    "admissionController.accessControl.bypassAuth": _FLAG,
    "admissionController.accessControl.trustControllers": _FLAG,
    "admissionController.accessControl.systemUsers": _PATTERNS,
    "admissionController.accessControl.externalUsers": _PATTERNS,
    "admissionController.accessControl.externalGroups": _PATTERNS,
}

_FATAL = ("service.", "kubernetes.")
"""Settings of the scheduler: one invalid value makes the update of all settings fail."""


def stops(key: str) -> bool:
    """Whether an invalid value keeps the scheduler from starting, or from updating any setting."""
    return key.startswith(_FATAL) and key in KNOWN


def no_effect_reason(key: str, text: str, version: Version | None) -> str:
    """Why a key of the ConfigMap has no effect. `version` None: any release that reads it will do."""
    if key == POLICY_GROUP:
        return ""
    return problem(key, text, version or versions.parse(""))


def problem(key: str, text: str, version: Version) -> str:
    """Why a setting has no effect, or stops the scheduler; empty: it is fine."""
    if _LEVEL.match(key):
        fine = text.lower() in _LEVELS or (_whole(text) and -1 <= int(text) <= 5)
        return "" if fine else f"is {text!r}, not a level from debug to fatal or -1 to 5"
    if key == POLICY_GROUP:
        return "is set by the option policyGroup"
    return parameter_problem("setting", KNOWN, key, text, version)
