"""What is told to be a queue configuration."""

import pytest

from policykit.targets.yunikorn.configurations import CONFIGURATION


@pytest.mark.parametrize(
    ("data", "is_it"),
    [
        ({"partitions": [{"name": "default", "queues": []}]}, True),
        ({"partitions": [{"queues": [], "sample": 1}]}, True),
        ({"partitions": [{"name": "default"}]}, True),
        ({"partitions": [{"name": "default", "placementRules": []}]}, True),
        ({"partitions": [None, {"name": "default"}]}, True),
        ({"partitions": [{"name": "boot", "size": "1G"}]}, False),
        ({"partitions": [{"label": "boot"}]}, False),
        ({"partitions": []}, False),
        ({"partitions": 3}, False),
        ({"queues": [{"name": "root"}]}, False),
        ([], False),
        (None, False),
    ],
)
def test_is_it(data: object, is_it: bool) -> None:
    assert CONFIGURATION.is_it(data) is is_it
