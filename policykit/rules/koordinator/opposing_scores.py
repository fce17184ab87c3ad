"""One plugin packs what another one spreads.

NodeResourcesFitPlus packs cards while NodeResourcesFit, DeviceShare or NodeNUMAResource score the
same resource the other way. Whichever weighs more wins, and the intended placement does not
happen.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.scores import MAX_SCORE
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.shape import mapping, mappings, text, whole
from policykit.model.cluster import Cluster
from policykit.model.release import Version
from policykit.model.severity import Severity
from policykit.rules.koordinator import scheduler_configuration
from policykit.targets.koordinator.scheduler.configuration import KIND, Profile
from policykit.targets.koordinator.scheduler.plugin_args import SCORE_TYPES
from policykit.targets.koordinator.scheduler.plugins import DEVICES, FIT, FIT_PLUS, NUMA
from policykit.targets.koordinator.scheduler.weights import is_device

BAD = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: koord-scheduler
  plugins:
    preScore:
      enabled:
      - name: NodeResourcesFitPlus
    score:
      enabled:
      - name: DeviceShare
      - name: NodeResourcesFitPlus
        weight: 2
  pluginConfig:
  - name: NodeResourcesFitPlus
    args:
      resources:
        nvidia.com/gpu: {type: MostAllocated, weight: 1}
"""

GOOD = (
    BAD
    + """\
  - name: DeviceShare
    args:
      scoringStrategy:
        type: MostAllocated
        resources:
        - {name: koordinator.sh/gpu-memory-ratio, weight: 1}
"""
)

_USUAL_CARDS = 8
"""Cards on one node, where no policy states how many there are."""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Silent where NodeResourcesFitPlus outweighs the other even for one more card in use."""
    configuration = scheduler_configuration.read(manifest)
    newest = scheduler_configuration.readers(configuration, context)[-1]
    for profile in configuration.profiles:
        yield from _opposing(profile, newest, context.cluster)


def _opposing(profile: Profile, version: Version, cluster: Cluster | None) -> Iterator[Violation]:
    weights, args = profile.score_weights(version), profile.entry(FIT_PLUS)
    if FIT_PLUS not in weights or args is None:
        return
    fit = {name: mapping(each) for name, each in mapping(args.data.get("resources")).items()}
    shares = {name: whole(each.get("weight")) or 0 for name, each in fit.items()}
    total = sum(share for share in shares.values() if share > 0)
    for name, each in fit.items():
        score_type = each.get("type")
        if score_type not in SCORE_TYPES or shares[name] <= 0 or not isinstance(name, str):
            continue
        moved = MAX_SCORE // _cards(name, cluster) if is_device(name) else MAX_SCORE
        points = weights[FIT_PLUS] * shares[name] * moved // total
        for plugin in (FIT, DEVICES, NUMA):
            other, swing = _direction(profile, plugin, name)
            against = weights.get(plugin, 0) * swing
            if other in SCORE_TYPES and other != score_type and against >= max(points, 1):
                yield Violation(
                    (*profile.path, *args.path, "resources", name),
                    f"NodeResourcesFitPlus scores {name} {score_type} with {points} points, but {plugin} "
                    f"scores it {other} with {against}",
                    f"disable {plugin} at score, set its scoringStrategy to type {score_type}, or raise the "
                    "weight of NodeResourcesFitPlus",
                    key=True,
                )


def _direction(profile: Profile, plugin: str, resource: str) -> tuple[str, int]:
    """The type by which a plugin scores a resource, and how far that moves its score; empty: not at all."""
    strategy = mapping(profile.arguments(plugin).get("scoringStrategy"))
    score_type = text(strategy.get("type")) or "LeastAllocated"
    if plugin == DEVICES:
        return (score_type, MAX_SCORE) if is_device(resource) else ("", 0)
    listed = mappings(strategy.get("resources")) or [{"name": "cpu"}, {"name": "memory"}]
    weights = {text(each.get("name")): whole(each.get("weight")) or 1 for each in listed}
    if resource not in weights:
        return "", 0
    return score_type, MAX_SCORE * weights[resource] // max(sum(weights.values()), 1)


def _cards(resource: str, cluster: Cluster | None) -> int:
    if cluster is None:
        return _USUAL_CARDS
    from policykit.targets.pool_capacity import most_cards

    return max(most_cards(cluster).get(resource, _USUAL_CARDS), 1)


RULE = Rule(
    code="PK606",
    name="opposing-scores",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({KIND}),
)
