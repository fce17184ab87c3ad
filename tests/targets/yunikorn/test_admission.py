"""Which namespaces the admission controller takes, by the settings of a policy."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.model.cluster import TargetSettings
from policykit.targets.yunikorn.admission import covers
from policykit.targets.yunikorn.options import YuniKornOptions

BYPASS = "admissionController.filtering.bypassNamespaces"
PROCESS = "admissionController.filtering.processNamespaces"


def target(**settings: str) -> TargetSettings:
    keys = {"bypass": BYPASS, "process": PROCESS}
    return TargetSettings(
        "yunikorn", options=YuniKornOptions(settings={keys[name]: text for name, text in settings.items()})
    )


@pytest.mark.parametrize(
    ("made", "namespace", "taken"),
    [
        (TargetSettings("yunikorn"), "team-a", True),
        (TargetSettings("yunikorn"), "kube-system", False),
        (TargetSettings("yunikorn"), "kube-system-2", True),
        (target(bypass="^web$, ^dev"), "dev-1", False),
        (target(bypass="^web$, ^dev"), "kube-system", True),
        (target(bypass=""), "kube-system", True),
        (target(process="^team-"), "team-a", True),
        (target(process="^team-"), "web", False),
        (target(process="^team-", bypass="a$"), "team-a", False),
        (target(bypass="^(dev"), "kube-system", False),
        (target(process="^(dev"), "web", True),
        (target(process="^(a+)+$"), "a" * 50 + "!", False),
    ],
)
def test_covers(made: TargetSettings, namespace: str, taken: bool) -> None:
    assert covers(made, namespace) is taken


@given(st.text(max_size=12), st.text(max_size=12))
def test_any_pattern(bypass: str, namespace: str) -> None:
    assert covers(target(bypass=bypass), namespace) in (True, False)
