"""Properties of queues and settings of the ConfigMap: names, values, releases."""

import pytest

from policykit.errors import PolicykitError
from policykit.model.release import Version
from policykit.targets.yunikorn import versions
from policykit.targets.yunikorn.configuration import configmap, properties

NEWEST = versions.parse("")


@pytest.mark.parametrize(
    ("text", "version"),
    [("", versions.RELEASES.newest), ("v1.6", Version(1, 6, 3)), ("1.8.0", Version(1, 8, 0))],
)
def test_versions(text: str, version: Version) -> None:
    assert versions.parse(text) == version


def test_what_is_no_release_is_refused() -> None:
    with pytest.raises(PolicykitError) as error:
        versions.parse("newest")
    assert error.value.message == "'newest' is not a release of YuniKorn"


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("application.sort.policy", "fifo", ""),
        ("application.sort.policy", "Fair", "is 'Fair', not fifo or fair"),
        ("application.sort.priority", "Disabled", ""),
        ("priority.policy", "fence", ""),
        ("priority.offset", "-5", ""),
        ("priority.offset", "2147483648", "is '2147483648', not a whole number of 32 bits"),
        ("preemption.policy", "never", "is 'never', not default, fence or disabled"),
        ("preemption.delay", "1h30m", ""),
        ("preemption.delay", "30", "is '30', not a duration such as 30s"),
        ("quota.preemption.delay", "0", ""),
        ("application.unschedasks.backoff", "-1", "is '-1', not a whole number"),
        ("preemption.delays", "1s", "is not a property that YuniKorn reads: did you mean preemption.delay?"),
        ("moon", "1s", "is not a property that YuniKorn reads"),
    ],
)
def test_properties(name: str, text: str, problem: str) -> None:
    assert properties.problem(name, text, NEWEST) == problem


def test_properties_of_later_releases() -> None:
    assert properties.problem("quota.preemption.delay", "1s", Version(1, 8, 0)) == ""
    assert (
        properties.problem("quota.preemption.delay", "1s", Version(1, 7, 0))
        == "requires YuniKorn 1.8.0 or later"
    )


def test_a_property_that_1_8_calls_otherwise() -> None:
    stated = {"quota.preemption.delay": "1s", "preemption.delay": "2s"}
    old = properties.release_names(stated, Version(1, 8, 0))
    assert old == {"preemption.quota.delay": "1s", "preemption.delay": "2s"}
    assert properties.newest_names(old) == stated
    assert properties.release_names(stated, Version(1, 9, 0)) == stated
    assert properties.newest_names({**old, **stated}) == stated


@pytest.mark.parametrize(
    ("key", "text", "problem"),
    [
        ("service.schedulingInterval", "500ms", ""),
        ("service.schedulingInterval", "1", "is '1', not a duration such as 10s"),
        ("health.checkInterval", "-1s", ""),
        ("service.disableGangScheduling", "yes", "is 'yes', not true or false"),
        ("kubernetes.qps", "1k", "is '1k', not a whole number"),
        ("log.level", "debug", ""),
        ("log.core.scheduler.level", "7", "is '7', not a level from debug to fatal or -1 to 5"),
        ("admissionController.filtering.bypassNamespaces", "^kube-system$,^b", ""),
        (
            "admissionController.filtering.bypassNamespaces",
            "a(",
            "is 'a(', not comma-separated regular expressions",
        ),
        (
            "event.ringbufferCapacity",
            "1",
            "is not a setting that YuniKorn reads: did you mean event.ringBufferCapacity?",
        ),
        ("service.policyGroup", "mine", "is set by the option policyGroup"),
        ("moon", "1", "is not a setting that YuniKorn reads"),
    ],
)
def test_settings(key: str, text: str, problem: str) -> None:
    assert configmap.problem(key, text, NEWEST) == problem


def test_settings_of_later_releases() -> None:
    assert configmap.problem("service.placeholderFsGroup", "1", Version(1, 8, 0)) == (
        "requires YuniKorn 1.9.0 or later"
    )
