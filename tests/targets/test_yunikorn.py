"""What is told to be a queue configuration."""

import pytest

from policykit.targets.yunikorn import CONFIGURATION


@pytest.mark.parametrize(
    ("data", "matches_shape"),
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
def test_matches_shape(data: object, matches_shape: bool) -> None:
    assert CONFIGURATION.matches_shape(data) is matches_shape
