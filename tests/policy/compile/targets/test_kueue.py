"""Options for Kueue: what is compiled, and mistakes with their place."""

from __future__ import annotations

from typing import Any

import pytest

from policykit.errors import PolicykitError
from policykit.model.cluster import TargetSettings
from policykit.targets.kueue.options import KueueOptions
from tests.clusters import policy

NEXT = {"whenCanBorrow": "TryNextFlavor", "whenCanPreempt": "TryNextFlavor"}


def test_compiled() -> None:
    stated = {
        "version": "v0.19.2",
        "namespace": "jobs",
        "rootCohort": "cluster",
        "queueingStrategy": "StrictFIFO",
        "flavorFungibility": {**NEXT, "preference": "PreemptionOverBorrowing"},
        "borrowWithinCohort": {"maxPriorityThreshold": 7},
        "suspend": True,
    }
    found = policy({"pools": {}, "preemption": {"reclaim": True}, "targets": {"kueue": stated}})
    assert found.targets["kueue"] == TargetSettings(
        "kueue",
        "0.19.2",
        "manifest",
        namespace="jobs",
        options=KueueOptions(
            root_cohort="cluster",
            queueing_strategy="StrictFIFO",
            suspend=True,
            when_can_borrow="TryNextFlavor",
            when_can_preempt="TryNextFlavor",
            preference="PreemptionOverBorrowing",
            borrow_within_cohort=True,
            borrow_threshold=7,
        ),
    )
    assert found.schedulers == {"default-scheduler"}


def test_defaults() -> None:
    assert policy({"pools": {}, "targets": {"kueue": {}}}).targets["kueue"].options == KueueOptions()


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        (
            {"targets": {"kueue": {"rootCohort": "a"}}, "queues": {"a": {}}},
            "a is also a queue of this policy, which has a cohort of that name",
        ),
        (
            {
                "targets": {
                    "kueue": {
                        "version": "0.14",
                        "flavorFungibility": {**NEXT, "preference": "BorrowingOverPreemption"},
                    }
                }
            },
            "Kueue 0.14.0 has no flavorFungibility.preference (added in 0.15)",
        ),
        (
            {
                "targets": {
                    "kueue": {
                        "flavorFungibility": {
                            "whenCanBorrow": "TryNextFlavor",
                            "whenCanPreempt": "MayStopSearch",
                            "preference": "BorrowingOverPreemption",
                        }
                    }
                }
            },
            "preference BorrowingOverPreemption with whenCanBorrow TryNextFlavor and whenCanPreempt "
            "MayStopSearch: Kueue refuses it",
        ),
        (
            {"targets": {"kueue": {"borrowWithinCohort": {}}}},
            "borrowWithinCohort without preemption.reclaim: Kueue refuses it",
        ),
        (
            {
                "targets": {"kueue": {"borrowWithinCohort": {}, "fairSharing": True}},
                "preemption": {"reclaim": True},
            },
            "borrowWithinCohort with fairSharing: it works only without fair sharing",
        ),
    ],
    ids=["root", "old preference", "preference", "no reclaim", "fair sharing"],
)
def test_mistakes(sections: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicykitError) as raised:
        policy({"pools": {}, **sections})
    assert raised.value.message == message
