"""A container is given the cards of its node by a variable, and requests none.

The container runtime gives it the cards that NVIDIA_VISIBLE_DEVICES lists, whoever has them: other pods on
the node share their cards with it, and neither the scheduler nor a queue counts it. A runtime may be set up
to ignore the variable; then the container sees no card at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube import requests
from policykit.kube.placeholders import is_filled_in
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.shape import mapping, text
from policykit.model.severity import Severity
from policykit.placement.card_requests import has_unknown_amounts
from policykit.placement.review import Review

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: serve
spec:
  runtimeClassName: nvidia
  containers:
  - name: main
    image: registry.example/serve:1
    env:
    - {name: NVIDIA_VISIBLE_DEVICES, value: all}
    resources:
      requests: {cpu: 8, memory: 64Gi}
"""

GOOD = """\
apiVersion: v1
kind: Pod
metadata:
  name: serve
spec:
  containers:
  - name: main
    image: registry.example/serve:1
    resources:
      requests: {cpu: 8, memory: 64Gi}
      limits: {nvidia.com/gpu: 1}
"""

_VARIABLE = "NVIDIA_VISIBLE_DEVICES"
_NONE = ("", "none", "void")
"""Values that give no card. Source: `internal/config/image` of NVIDIA's container toolkit (v1.18)."""


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Information where no policy says that cards are counted. Daemons of nodes see all cards on purpose."""
    pod_set = review.pod_set
    if review.card_resources or pod_set.per_node or review.is_system_pod or review.manifest.partial:
        return
    if pod_set.spec.get("resourceClaims") or has_unknown_amounts(pod_set, review.cluster):
        return
    for field, position, container in requests.containers(pod_set.spec):
        listed = container.get("env")
        for number, each in enumerate(listed if isinstance(listed, list) else ()):
            value = mapping(each).get("value")
            if mapping(each).get("name") != _VARIABLE or text(value) in _NONE or is_filled_in(text(value)):
                continue
            yield Violation(
                pod_set.place(field, position, "env", number, "value"),
                f"{_VARIABLE} is {value}, but no container requests a card: it uses those of other pods",
                "request the cards and delete the variable, which the device plugin sets",
                None if review.cluster else Severity.INFO,
            )


RULE = Rule(
    code="PK227",
    name="cards-by-environment",
    severity=Severity.WARNING,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=(_VARIABLE,),
)
