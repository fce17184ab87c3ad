"""Which namespaces YuniKorn's admission controller takes: it gives their pods the schedulerName."""

from __future__ import annotations

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
    from policykit.patterns import pattern

    forms = [pattern(each.strip()) for each in patterns.split(",") if each.strip()]
    if None in forms:
        forms = [pattern(default)]
    return any(form.search(namespace) for form in forms if form)
