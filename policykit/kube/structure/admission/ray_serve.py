"""Ray Serve: the applications in the text of a RayService."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.placeholders import is_filled_in
from policykit.kube.structure.admission.checks import Data, name_of, refused
from policykit.manifests.parser import parse
from policykit.manifests.path import Path
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping, numbered, whole
from policykit.namedtuple import NamedTuple

_PATH: Path = ("spec", "serveConfigV2")
_WHO = "Ray Serve refuses the applications"
_ONCE = (("name", "name"), ("route_prefix", "route"))
"""Fields that are unique among applications, in words."""


class _Ordered(NamedTuple):
    low: str
    high: str


_COUNTS = (
    _Ordered("min_replicas", "max_replicas"),
    _Ordered("min_replicas", "initial_replicas"),
    _Ordered("initial_replicas", "max_replicas"),
)


def applications(written: object) -> Iterator[Problem]:
    """Sources: `ServeDeploySchema`, `DeploymentSchema` and `AutoscalingConfig` of Ray Serve (2.9 to 2.53).

    What the text does not say may be in the program.
    """
    if not isinstance(written, str) or is_filled_in(written):
        return
    document = next(parse(written), None)
    if document is None:
        return
    if document.problem:
        what = f"is not YAML: {document.problem.message}"
        yield refused(_PATH, what, "correct the text: KubeRay deploys no application")
        return
    root = document.root.data if document.root is not None else None
    listed = [each for _, each in numbered(mapping(root).get("applications"))]
    for field, word in _ONCE:
        seen: set[str] = set()
        for each in listed:
            value = name_of(each, field)
            if value and value in seen:
                what = f"has two applications with the {word} {value}"
                yield refused(_PATH, what, f"give each a {word} of its own: {_WHO}")
            seen.add(value)
    for each in listed:
        for _, deployment in numbered(each.get("deployments")):
            yield from _scaled(deployment)


def _scaled(deployment: Data) -> Iterator[Problem]:
    config = deployment.get("autoscaling_config")
    if not isinstance(config, dict) or not config:
        return
    of = name_of(deployment) or "a deployment"
    if (number := whole(deployment.get("num_replicas"))) is not None:
        what = f"has num_replicas {number} for {of} beside autoscaling_config"
        yield refused(_PATH, what, f"delete one of the two: {_WHO}")
    for low, high in _COUNTS:
        least, most = whole(config.get(low)), whole(config.get(high))
        if least is not None and most is not None and least > most:
            what = f"has {low} {least} for {of}, above {high} {most}"
            yield refused(_PATH, what, f"raise {high} or lower {low}: {_WHO}")
            return
