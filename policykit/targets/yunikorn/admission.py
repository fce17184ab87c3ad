"""Namespaces whose pods get their schedulerName from YuniKorn's admission controller."""

from __future__ import annotations

from policykit.model.cluster import TargetSettings
from policykit.targets.yunikorn import options

_PROCESS = "admissionController.filtering.processNamespaces"
_BYPASS = "admissionController.filtering.bypassNamespaces"
_BYPASSED = "^kube-system$"
"""Default of the namespaces it ignores."""


def covers(target: TargetSettings, namespace: str) -> bool:
    """Whether the settings of the policy cover a namespace; its own annotations are not considered.

    Invalid patterns count as upstream's default.
    """
    settings = options.yunikorn_options(target).settings
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
