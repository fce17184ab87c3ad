"""The gang of a workload kind as a comment of its components, which declare none."""

from __future__ import annotations

import re

from policykit.model.gang import GangRule

_LINE = re.compile(
    r"^# Gang of the policy: (?:size ([0-9]{1,9})|all pods)"
    r"(?:, timeout ([0-9]{1,9})s)?(?:, then (wait|start|fail))?$",
    re.MULTILINE,
)


def write(rule: GangRule | None) -> str:
    """One line; empty where the policy says no more than that there is a gang."""
    if rule is None or rule == GangRule():
        return ""
    size = f"size {rule.size}" if rule.size is not None else "all pods"
    timeout = f", timeout {rule.timeout}s" if rule.timeout is not None else ""
    then = f", then {rule.on_timeout}" if rule.on_timeout else ""
    return f"# Gang of the policy: {size}{timeout}{then}\n"


def read(text: str) -> GangRule | None:
    """The gang that a component's comments tell; None: they tell none."""
    line = _LINE.search(text)
    if line is None:
        return None
    size, timeout, then = line.groups()
    return GangRule(int(size) if size else None, int(timeout) if timeout else None, then or "")
