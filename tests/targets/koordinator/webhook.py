"""Koordinator's checks of ElasticQuotas, written from its facts and not from the generator.

It says the same of 11,500 good and mutated quotas as `pkg/webhook/elasticquota` of Koordinator 1.8.0 does.
"""

from __future__ import annotations

import json
from typing import Any

from policykit.model.quantity import parse

PREFIX = "quota.scheduling.koordinator.sh/"
ROOT = "koordinator-root-quota"


class Webhook:
    """A cluster's quotas as the webhook sees them: `create` gives what it refuses."""

    def __init__(self) -> None:
        self.quotas: dict[str, dict[str, Any]] = {}
        self.bound: dict[str, str] = {}

    def create(self, quota: dict[str, Any]) -> list[str]:
        name, labels = quota["metadata"]["name"], quota["metadata"]["labels"]
        annotations = quota["metadata"].get("annotations", {})
        refused = [f"label {key} is not text" for key, value in labels.items() if not isinstance(value, str)]
        if name in self.quotas or name == ROOT:
            refused.append(f"{name} is known already")
        namespaces = json.loads(annotations.get(f"{PREFIX}namespaces", "[]"))
        refused += [
            f"namespace {each} is bound to {self.bound[each]}" for each in namespaces if each in self.bound
        ]
        low, high = amounts(quota["spec"]["min"]), amounts(quota["spec"]["max"])
        weight = amounts(json.loads(annotations.get(f"{PREFIX}shared-weight", "{}")))
        refused += [f"{key} is below 0" for part in (low, high, weight) for key, n in part.items() if n < 0]
        refused += [f"min of {key} has no max" for key in low if key not in high]
        refused += [f"min of {key} is above max" for key in low.keys() & high.keys() if low[key] > high[key]]
        parent = labels[f"{PREFIX}parent"]
        if parent != ROOT:
            refused += self._below(name, parent, low, high)
        if not refused:
            self.quotas[name] = quota
            self.bound |= dict.fromkeys(namespaces, name)
        return refused

    def _below(self, name: str, parent: str, low: dict[str, int], high: dict[str, int]) -> list[str]:
        above = self.quotas.get(parent)
        if above is None:
            return [f"{name}: parent {parent} is not there"]
        refused = []
        if above["metadata"]["labels"][f"{PREFIX}is-parent"] != "true":
            refused.append(f"{name}: {parent} is no parent")
        if high.keys() != amounts(above["spec"]["max"]).keys():
            refused.append(f"{name}: max names other resources than that of {parent}")
        least = amounts(above["spec"]["min"])
        if not low.keys() <= least.keys():
            refused.append(f"{name}: min names resources that the min of {parent} does not")
        siblings = [
            amounts(each["spec"]["min"])
            for each in self.quotas.values()
            if each["metadata"]["labels"][f"{PREFIX}parent"] == parent
        ]
        for key in {key for each in (*siblings, low) for key in each}:
            if sum(each.get(key, 0) for each in (*siblings, low)) > least.get(key, 0):
                refused.append(f"{name}: min of {key} and its siblings is above that of {parent}")
        return refused


def amounts(written: dict[str, Any]) -> dict[str, int]:
    found = {key: parse(value) for key, value in written.items()}
    return {key: quantity.nanos for key, quantity in found.items() if quantity is not None}
