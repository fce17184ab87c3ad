"""The kubelet's own check, where the vectors do not reach."""

from __future__ import annotations

from typing import Any

import pytest

from policykit.model.pool import Amounts, Pool, Shape, Taint
from tests.kube import kubelet


def node(allocatable: Amounts, *taints: Taint) -> Pool:
    return Pool("n1", (Shape(allocatable, 1, 1, ("n1",)),), {"pool": "a"}, taints)


def pod(**asked: str) -> dict[str, Any]:
    return {"containers": [{"resources": {"limits": {k.replace("__", "/"): v for k, v in asked.items()}}}]}


@pytest.mark.parametrize(
    ("spec", "there", "reason"),
    [
        (pod(cpu="1"), [], ""),
        (pod(cpu="1"), [pod(cpu="2")], "OutOfcpu"),
        (pod(), [pod(), pod(), pod()], "OutOfpods"),
        (pod(cpu="4", memory="9Gi"), [], "OutOfcpu"),
        (pod(memory="9Gi", example__fpga="9"), [], "OutOfmemory"),
        (pod(example__fpga="2"), [], "OutOfexample/fpga"),
        (pod(example__fpga="1"), [pod(example__fpga="1")], "OutOfexample/fpga"),
        (pod(hugepages="1"), [], "OutOfhugepages"),
        (pod(other__fpga="2"), [pod(other__fpga="2")], ""),
        ({**pod(cpu="9"), "nodeSelector": {"pool": "b"}}, [], "OutOfcpu"),
    ],
)
def test_amounts(spec: dict[str, Any], there: list[dict[str, Any]], reason: str) -> None:
    full = node({"cpu": 2000, "memory": 1024**3, "pods": 3, "example/fpga": 1})
    assert kubelet.refusal(spec, full, there) == reason


def test_amounts_nobody_stated_are_not_judged() -> None:
    assert kubelet.refusal(pod(cpu="999"), node({})) == ""


def test_a_static_pod_is_spared_the_taints() -> None:
    evicting = node({}, Taint("a", effect="NoExecute"))
    assert kubelet.refusal({}, evicting) == "TaintToleration"
    assert kubelet.refusal({}, evicting, static=True) == ""
    assert kubelet.refusal({"tolerations": [{"operator": "Exists"}]}, evicting) == ""
