"""KAI's annotations for parts of a card."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.rules.kai.card_fractions import violations
from policykit.targets.kai import FRACTION, MEMORY


@pytest.mark.parametrize(
    ("annotations", "asked", "wrong"),
    [
        pytest.param({FRACTION: "0.5"}, {}, [], id="half a card"),
        pytest.param({FRACTION: "1"}, {}, [FRACTION], id="a whole card is not a part"),
        pytest.param({FRACTION: "0"}, {}, [FRACTION], id="nothing"),
        pytest.param({FRACTION: "nan"}, {}, [FRACTION], id="not a number"),
        pytest.param({FRACTION: "${PART}"}, {}, [], id="a placeholder"),
        pytest.param({MEMORY: "8192"}, {}, [], id="memory"),
        pytest.param({MEMORY: "8Gi"}, {}, [MEMORY], id="memory with a unit"),
        pytest.param({FRACTION: "0.5", MEMORY: "8192"}, {}, [MEMORY], id="both"),
        pytest.param({FRACTION: "0.5"}, {"nvidia.com/gpu": 1}, [FRACTION], id="beside a card"),
        pytest.param({FRACTION: "0.5"}, {"nvidia.com/gpu": 0}, [], id="beside none"),
        pytest.param({}, {"nvidia.com/gpu": 1}, [], id="no annotation"),
        pytest.param(
            {"nvidia.com/gpu.memory": "8000Mi"}, {}, ["nvidia.com/gpu.memory"], id="a label of nodes"
        ),
        pytest.param(
            {"kai.scheduler/gpu-fraction": "0.5"}, {}, ["kai.scheduler/gpu-fraction"], id="a domain"
        ),
        pytest.param(
            {"kai.scheduler/gpu-fraction": "0.5", FRACTION: "0.5"}, {}, [], id="beside the right one"
        ),
        pytest.param({"gpu-fraction-num-devices": "2"}, {}, [], id="a number of cards"),
        pytest.param({"prometheus.io/memory": "yes"}, {}, [], id="memory of another"),
    ],
)
def test_faults(annotations: dict[str, str], asked: dict[str, int], wrong: list[str]) -> None:
    assert [each.path for each in violations(annotations, asked)] == [(key,) for key in wrong]


@given(st.text(), st.text())
def test_any_text_is_judged(fraction: str, memory: str) -> None:
    found = list(violations({FRACTION: fraction, MEMORY: memory}, {}))
    assert any("are both set" in each.message for each in found)


@given(st.floats(min_value=0, max_value=1, exclude_min=True, exclude_max=True))
def test_every_part_of_a_card_is_right(part: float) -> None:
    assert not list(violations({FRACTION: repr(part)}, {}))
