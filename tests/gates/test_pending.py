"""Why pods are pending: where names what holds them, and never says accepted without it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from policykit import api
from policykit.gates import ACCEPTED
from tests.clusters import policy

DATA: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "pending.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", DATA["cases"], ids=lambda case: case["name"])
def test_what_holds_the_pods(case: dict[str, Any]) -> None:
    cluster, raw = policy(DATA["policy"]), case["manifest"].encode()
    reviewed = [("pending.yaml", each) for each in api.where(raw, cluster)]
    found = [*api.answers(reviewed, api.facts("pending.yaml", raw, cluster), cluster, complete=True)]
    (answer,) = [each for each in found if each.review.manifest.name == "train"]
    said = [f"{gate.name}: {gate.state} {gate.detail}" for gate in answer.gates if gate.state != ACCEPTED]
    said += [each.detail for each in answer.review.landings if not each.accepts]
    right = re.fullmatch(case["state"], answer.state) and any(re.search(case["words"], one) for one in said)
    assert bool(right) is ("missed" not in case), "\n".join((answer.state, *said))
