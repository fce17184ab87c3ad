import pytest

from policykit.errors import PolicykitError
from policykit.targets.release import Version
from policykit.targets.volcano import versions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", Version(1, 15, 1)),
        ("1.15.1", Version(1, 15, 1)),
        ("v1.14", Version(1, 14, 4)),
        ("1.8.0", Version(1, 8, 0)),
        ("1.10", Version(1, 10, 2)),
        ("1.15.9", Version(1, 15, 9)),
    ],
)
def test_parse(text: str, expected: Version) -> None:
    assert versions.parse(text) == expected


@pytest.mark.parametrize("text", ["1.7.0", "1.16.0", "2.0.0", "1", "latest", "1.15.1-rc1", "1.15.1\n"])
def test_unknown(text: str) -> None:
    with pytest.raises(PolicykitError) as raised:
        versions.parse(text)
    assert raised.value.message == f"Volcano {text} is not a version policykit knows"
    assert raised.value.hint == "set targets.volcano.version to a release from 1.8 to 1.15, such as '1.15.1'"
