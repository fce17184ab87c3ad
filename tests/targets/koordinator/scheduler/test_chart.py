"""Our rendering of the chart's configuration says what the chart's says."""

import pytest

from policykit.manifests.edit import same
from policykit.targets.koordinator import versions
from policykit.targets.koordinator.scheduler import chart, config
from tests.shared import SHARED


@pytest.mark.parametrize("version", ["1.5.0", "1.6.0", "1.7.0", "1.8.0"])
def test_equal_to_the_chart(version: str) -> None:
    if SHARED is None:
        pytest.skip("needs the shared corpus")
    text = (SHARED / "corpus" / "koordinator" / f"sched-config-chart-v{version}.yaml").read_text()
    assert same(config.read(text).data, chart.configuration(versions.parse(version), chart.NAMESPACE))


@pytest.mark.parametrize(
    ("version", "queue", "scored"),
    [("1.6.1", "Coscheduling", False), ("1.7.0", "PrioritySort", False), ("1.8.0", "PrioritySort", True)],
)
def test_history(version: str, queue: str, scored: bool) -> None:
    _, profile = config.profile(chart.configuration(versions.parse(version), "ns"), "koord-scheduler")
    assert list(config.point(profile, "queueSort").enabled) == [queue]
    assert ("Coscheduling" in config.point(profile, "score").enabled) == scored
    assert next(iter(config.point(profile, "preScore").enabled)) == "Reservation"
    assert config.arguments(profile, "ElasticQuota")["quotaGroupNamespace"] == "ns"
