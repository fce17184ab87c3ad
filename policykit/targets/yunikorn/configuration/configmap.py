"""ConfigMap yunikorn-configs and Helm values that carry a configuration, and the settings beside queues."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from policykit.durations import is_signed_duration
from policykit.manifests.path import Path, Step
from policykit.manifests.shape import is_boolean, mapping
from policykit.model.release import Version
from policykit.targets.yunikorn import versions
from policykit.targets.yunikorn.configuration.values import (
    Parameter,
    is_regular_expression,
    parameter_problem,
)

CONFIGS = "yunikorn-configs"
"""The user's ConfigMap: its keys override those of DEFAULTS."""
DEFAULTS = "yunikorn-defaults"
"""The chart's ConfigMap."""
VALUES = "yunikornDefaults"
"""Chart value with the keys of DEFAULTS."""
NAMESPACE = "yunikorn"
POLICY_GROUP = "service.policyGroup"
GZIP_SUFFIX = ".gz"
"""Suffix of keys in binaryData: gzip in base64."""
_MAX_UNPACKED = 1 << 22
"""In bytes. A ConfigMap holds 1 MiB, and a queue configuration compresses about tenfold."""


def is_read(name: object) -> bool:
    """Whether the scheduler reads a ConfigMap of this name."""
    return name in (CONFIGS, DEFAULTS)


def entries(queues: str, policy_group: str, settings: Mapping[str, str]) -> dict[str, str]:
    """Data of either ConfigMap. `queues` is the text of queues.yaml."""
    stated = dict(settings) if policy_group == "queues" else {**settings, POLICY_GROUP: policy_group}
    return {**dict(sorted(stated.items())), f"{policy_group}.yaml": queues}


def manifest(data: Mapping[str, str], namespace: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": CONFIGS, "namespace": namespace or NAMESPACE},
        "data": dict(data),
    }


def values(data: Mapping[str, str]) -> dict[str, Any]:
    return {VALUES: dict(data)}


def policy_group(data: Mapping[str, Any]) -> str:
    """Name of the configuration that the scheduler uses."""
    stated = data.get(POLICY_GROUP)
    return stated if isinstance(stated, str) and stated else "queues"


def source(data: object) -> tuple[Path, str]:
    """Path and text of the configuration in a ConfigMap or in Helm values; empty if there is none."""
    where, data_entries = _entries(mapping(data))
    key = f"{policy_group(data_entries)}.yaml"
    text = data_entries.get(key)
    return ((*where, key), text) if isinstance(text, str) else ((), "")


def _entries(data: Mapping[str, Any]) -> tuple[tuple[Step, ...], Mapping[str, Any]]:
    """Keys of a ConfigMap of YuniKorn, or of the chart values that become one."""
    if data.get("kind") == "ConfigMap":
        ours = is_read(mapping(data.get("metadata")).get("name"))
        return (("data",), mapping(data.get("data"))) if ours else ((), {})
    if "kind" in data:
        return (), {}
    return (VALUES,), mapping(data.get(VALUES))


def unpack(text: str) -> str | None:
    """The text; None if it is not gzip in base64, not UTF-8, or too large."""
    import zlib
    from base64 import b64decode

    try:
        packed = b64decode("".join(text.split()), validate=True)
        reader = zlib.decompressobj(wbits=31)
        raw = reader.decompress(packed, _MAX_UNPACKED)
        return raw.decode("utf-8") if reader.eof else None
    except (ValueError, zlib.error):
        return None


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
