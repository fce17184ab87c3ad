"""Annotations by which schedulers know gangs, all systems together."""

from policykit.targets import DIALECTS

ANNOTATIONS = frozenset(
    key.key for each in DIALECTS for key in each.keys if key.where == "annotations" and key.purpose == "gang"
) | {
    "gang.scheduling.koordinator.sh/match-policy",
    "gang.scheduling.koordinator.sh/waiting-time",
    "kueue.x-k8s.io/pod-group-total-count",
}
"""Keys whose values must be text, whatever they say."""
