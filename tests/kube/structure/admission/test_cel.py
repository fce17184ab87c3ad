"""Expressions about devices."""

import pytest

from policykit.kube.structure.admission.cel import fault

TAKEN = (
    "device.attributes['gpu.nvidia.com'].profile == '1g.5gb'",
    'device.driver == "a.example.com" && device.attributes["a.example.com"].index in [0, 1]',
    "cel.bind(ours, device.attributes['a.example.com'], has(ours.fast) && ours.fast)",
    "device.attributes['a.example.com'].models.exists(m, m.startsWith('H20'))",
    "device.capacity['a.example.com'].memory.compareTo(quantity('4Gi')) >= 0",
    "device.capacity['a.example.com'].memory == quantity('4Gi')",
    "device.attributes['a.example.com'].driverVersion.isGreaterThan(semver('7.5.0'))",
    r"device.attributes['a.example.com'].name.matches(r'a=\d')",
    "device.attributes['a.example.com'].?fast.orValue(false)",
    "device.attributes['a.example.com'].x > 1u  // it's one",
    "device.attributes['a.example.com'].name == 'it\\'s'",
    '"""it\'s "one" """ == device.driver',
    "",
)
REFUSED = (
    ("device.driver = 'a'", "compare with `==`"),
    ("device.driver == 'a' or device.driver == 'b'", "write `||`"),
    ("device.driver == 'a", "end the text with the quote that begins it"),
    ("(device.driver == 'a'", "write brackets in pairs"),
    ("device.attributes['a').x == 1", "write brackets in pairs"),
    ("device.attributes['a'].model == H20", "quote it: 'H20' is a text"),
    ("device.attributes[a.example.com].x == 1", "quote it: 'a' is a text"),
    ("device.capacity['a'].memory >= quantity('4Gi')", "write .compareTo(quantity('4Gi')) >= 0"),
    ("device.capacity['a'].memory.isLessThan('4Gi')", "write isLessThan(quantity('4Gi'))"),
)


@pytest.mark.parametrize("expression", TAKEN)
def test_what_compiles_has_no_fault(expression: str) -> None:
    assert fault(expression) == ("", "")


@pytest.mark.parametrize(("expression", "advice"), REFUSED)
def test_what_does_not_compile_has_one(expression: str, advice: str) -> None:
    assert fault(expression)[1] == advice
