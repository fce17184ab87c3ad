"""The cluster autoscaler ignores the priorities of node groups.

With the expander `priority`, it reads the ConfigMap cluster-autoscaler-priority-expander of its own
namespace: under the key `priorities`, whole numbers, each with a list of regular expressions for the names
of node groups. If it cannot read them, or finds another key, it only logs that and chooses among the groups
as if there were no priorities. Groups with a priority below -1 are never chosen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from policykit.kube.placeholders import is_filled_in
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.node import Node
from policykit.manifests.shape import mapping
from policykit.model.severity import Severity
from policykit.targets.kubernetes import PRIORITIES, PRIORITIES_KEY, PRIORITIES_NAME

BAD = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: cluster-autoscaler-priority-expander
  namespace: kube-system
data:
  priorities: |
    "10":
    - .*on-demand.*
    "50":
    - .*spot.*
"""

GOOD = BAD.replace('"', "")

_WHO = "the cluster autoscaler ignores all of them"
_WHOLE = re.compile(r"[-+]?[0-9]+\Z")
_REPEATS = ("*", "+", "?")
_LOWEST = -1
_DIGITS = 9


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Source: `expander/priority/priority.go` of the cluster autoscaler (1.28 to 1.36)."""
    if manifest.kind == "ConfigMap":
        yield from _under_another_key(manifest)
    elif isinstance(manifest.node.entries, dict):
        for key, (written, listed) in manifest.node.entries.items():
            yield from _priority(key, written, listed)


def _under_another_key(manifest: Manifest) -> Iterator[Violation]:
    data = mapping(manifest.data.get("data"))
    if manifest.name != PRIORITIES_NAME or manifest.group or manifest.partial or PRIORITIES_KEY in data:
        return
    for key in data:
        message = f"the cluster autoscaler reads {PRIORITIES_KEY} of {PRIORITIES_NAME}, not {key}"
        yield Violation(("data", key), message, f"name it {PRIORITIES_KEY}", key=True)
        return


def _priority(key: object, written: Node, listed: Node) -> Iterator[Violation]:
    shown = str(key)
    if is_filled_in(shown):
        return
    if written.style in ("'", '"') or not _WHOLE.match(shown):
        what = "text" if _WHOLE.match(shown) else "not a whole number"
        yield Violation(
            (shown,), f"priority {shown} is {what}: {_WHO}", "write a number without quotes", key=True
        )
    elif len(shown) < _DIGITS and int(shown) < _LOWEST:
        message = f"priority {shown} is below {_LOWEST}: the cluster autoscaler never chooses its groups"
        yield Violation((shown,), message, "write 0 or more", key=True)
    if listed.data is not None and not isinstance(listed.data, list):
        message = f"the groups of priority {shown} are not a list: {_WHO}"
        yield Violation((shown,), message, "list regular expressions for the names of node groups")
    for position, group in enumerate(listed.data if isinstance(listed.data, list) else ()):
        if isinstance(group, str) and group.startswith(_REPEATS):
            message = f"{group} begins with {group[0]}, which repeats nothing: {_WHO}"
            yield Violation((shown, position), message, f"write .{group}, or the beginning of the names")


RULE = Rule(
    code="PK817",
    name="ignored-group-priorities",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"ConfigMap", PRIORITIES}),
    substrings=(PRIORITIES_NAME,),
)
