"""What Spark's operator requests for drivers and executors."""

from typing import Any

import pytest

from policykit.kube import requests
from policykit.kube.podsets import pod_sets

MIB, GIB = 1 << 20, 1 << 30


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, {"cpu": 1000, "memory": GIB + 384 * MIB}),
        ({"cores": 2, "memory": "512m"}, {"cpu": 2000, "memory": 896 * MIB}),
        ({"cores": 2, "coreRequest": "500m", "memory": "60g"}, {"cpu": 500, "memory": 66 * GIB}),
        ({"memory": "4096m", "memoryOverhead": "1200m"}, {"cpu": 1000, "memory": 5296 * MIB}),
        ({"memory": "{{ .memory }}"}, {"cpu": 1000}),
        ({"memory": "2048"}, {"cpu": 1000}),
        ({"memory": None, "cores": None}, {"cpu": 1000, "memory": GIB + 384 * MIB}),
        ({"template": {"spec": {}}, "cores": 8}, {}),
    ],
)
def test_cpu_and_memory(fields: dict[str, Any], expected: dict[str, int]) -> None:
    driver, _ = pod_sets(
        {
            "apiVersion": "sparkoperator.k8s.io/v1beta2",
            "kind": "SparkApplication",
            "spec": {"driver": fields, "executor": {"instances": 2}},
        }
    )
    assert requests.effective(driver.spec, driver.devices) == expected
