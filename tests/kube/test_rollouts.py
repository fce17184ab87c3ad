"""How many pods a rolling update adds and removes at a time, as the Deployment controller rounds."""

from __future__ import annotations

from typing import Any

import pytest

from policykit.kube.rollouts import Rollout, adds_first, rolling

DEPLOYMENT = ("apps", "Deployment")


def strategy(**update: object) -> dict[str, Any]:
    return {"strategy": {"rollingUpdate": update}}


@pytest.mark.parametrize(
    ("spec", "replicas", "rollout"),
    [
        ({}, 1, Rollout(1, 0)),
        ({}, 3, Rollout(1, 0)),
        ({}, 4, Rollout(1, 1)),
        ({}, 10, Rollout(3, 2)),
        (strategy(maxSurge=0, maxUnavailable=2), 4, Rollout(0, 2)),
        (strategy(maxSurge="100%", maxUnavailable="0%"), 4, Rollout(4, 0)),
        (strategy(maxSurge="0%", maxUnavailable="10%"), 4, Rollout(0, 1)),
        (strategy(maxSurge="all"), 4, None),
        (strategy(maxUnavailable="2"), 4, None),
        ({"strategy": {"type": "Recreate"}}, 4, None),
    ],
    ids=["1", "3", "4", "10", "numbers", "all at once", "both round to 0", "text", "digits", "recreate"],
)
def test_a_rolling_update(spec: dict[str, Any], replicas: int, rollout: Rollout | None) -> None:
    assert rolling(spec, replicas) == rollout


@pytest.mark.parametrize(
    ("kind", "spec", "replicas", "expected"),
    [
        (DEPLOYMENT, strategy(maxUnavailable=0), 8, True),
        (DEPLOYMENT, {}, 3, True),
        (DEPLOYMENT, {}, 4, False),
        (DEPLOYMENT, strategy(maxSurge=0), 2, False),
        (DEPLOYMENT, {}, 0, False),
        (("apps", "StatefulSet"), {}, 3, False),
    ],
    ids=["stated", "25% of three", "25% of four", "no surge", "no pods", "stateful set"],
)
def test_what_removes_no_pod_first(
    kind: tuple[str, str], spec: dict[str, Any], replicas: int, expected: bool
) -> None:
    assert adds_first({"spec": spec}, *kind, replicas) == expected
