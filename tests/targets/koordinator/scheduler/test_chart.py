"""Our rendering of the chart's configuration says what the chart's says."""

import pytest

from policykit.manifests.edit import same
from policykit.targets.koordinator import versions
from policykit.targets.koordinator.scheduler import chart, configuration, merge
from tests.shared import SHARED


@pytest.mark.parametrize("version", ["1.5.0", "1.6.0", "1.7.0", "1.8.0"])
def test_equal_to_the_chart(version: str) -> None:
    if SHARED is None:
        pytest.skip("needs the shared corpus")
    text = (SHARED / "corpus" / "koordinator" / f"sched-config-chart-v{version}.yaml").read_text()
    assert same(merge.read_source(text).data, chart.configuration(versions.parse(version), chart.NAMESPACE))


@pytest.mark.parametrize(("version", "has"), [("1.6.0", False), ("1.7.0", True), ("1.8.0", True)])
def test_without_job_preemption(version: str, has: bool) -> None:
    """scheduler.enableJobPreemption: false leaves the field out, and enables DefaultPreemption."""
    release = versions.parse(version)
    on, off = (chart.configuration(release, "ns", job_preemption=each) for each in (True, False))
    assert (on != off) == has
    profile = configuration.read(off).required_profile("koord-scheduler")
    assert profile.point("postFilter").names[-1] == "DefaultPreemption"
    assert "enablePreemption" not in profile.arguments("Coscheduling")


@pytest.mark.parametrize(
    ("version", "queue", "scored"),
    [("1.6.1", "Coscheduling", False), ("1.7.0", "PrioritySort", False), ("1.8.0", "PrioritySort", True)],
)
def test_history(version: str, queue: str, scored: bool) -> None:
    given = configuration.read(chart.configuration(versions.parse(version), "ns"))
    profile = given.required_profile("koord-scheduler")
    assert profile.point("queueSort").names == (queue,)
    assert ("Coscheduling" in profile.point("score").names) == scored
    assert profile.point("preScore").names[0] == "Reservation"
    assert profile.arguments("ElasticQuota")["quotaGroupNamespace"] == "ns"
