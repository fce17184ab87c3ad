"""Which namespaces YuniKorn's admission controller takes: it gives their pods the schedulerName."""

from __future__ import annotations

import re

from policykit.model.cluster import TargetSettings
from policykit.targets.yunikorn import options

_PROCESS = "admissionController.filtering.processNamespaces"
_BYPASS = "admissionController.filtering.bypassNamespaces"
_BYPASSED = "^kube-system$"
"""What it leaves alone unless told otherwise."""


def covers(target: TargetSettings, namespace: str) -> bool:
    """By the settings of the policy. A namespace's own annotation is not known here.

    What cannot be read as a pattern counts as upstream's default.
    """
    settings = options.of(target).settings
    if _matches(settings.get(_BYPASS, _BYPASSED), namespace, _BYPASSED):
        return False
    processed = settings.get(_PROCESS, "")
    return not processed or _matches(processed, namespace, "")


def _matches(patterns: str, namespace: str, default: str) -> bool:
    try:
        return any(re.search(each.strip(), namespace) for each in patterns.split(",") if each.strip())
    except re.error:
        return bool(re.search(default, namespace))
