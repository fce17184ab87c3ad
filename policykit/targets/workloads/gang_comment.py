"""The gang of a workload kind as comments of its components, which cannot set one."""

from __future__ import annotations

import re

from policykit.model.gang import GangRule

NO_GANG = (
    "# Components cannot set a gang, because its size differs per workload:\n"
    "# use `policykit patch` or `policykit krm` instead.\n"
)
"""Comment of a component whose pods are a gang."""
_LINE = re.compile(
    r"^# Gang of the policy: (?:size ([0-9]{1,9})|all pods)"
    r"(?:, timeout ([0-9]{1,9})s)?(?:, then (wait|start|fail))?$",
    re.MULTILINE,
)


def write(rule: GangRule | None) -> str:
    """One line; empty where the policy only says that the pods are a gang."""
    if rule is None or rule == GangRule():
        return ""
    size = f"size {rule.size}" if rule.size is not None else "all pods"
    timeout = f", timeout {rule.timeout}s" if rule.timeout is not None else ""
    then = f", then {rule.on_timeout}" if rule.on_timeout else ""
    return f"# Gang of the policy: {size}{timeout}{then}\n"


def read(text: str) -> GangRule | None:
    """The gang in the comments of a component; None: there is none."""
    line = _LINE.search(text)
    if line is None:
        return None
    size, timeout, then = line.groups()
    return GangRule(int(size) if size else None, int(timeout) if timeout else None, then or "")
