"""Given configurations: found in a document or in a string of a ConfigMap."""

import pytest

from policykit.errors import PolicykitError
from policykit.targets.koordinator.scheduler import source

BARE = "kind: KubeSchedulerConfiguration\nprofiles: []\n"
CONFIG_MAP = "kind: ConfigMap\ndata:\n  x: |\n    kind: KubeSchedulerConfiguration\n  y: |\n    a: b\n"


def test_bare_and_inside_a_config_map() -> None:
    assert source.read(BARE).path == ()
    assert source.read(CONFIG_MAP).path == ("data", "x")
    assert source.read(CONFIG_MAP).inner == "kind: KubeSchedulerConfiguration\n"
    assert source.read(f"kind: Service\n---\n{CONFIG_MAP}").document == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("kind: ConfigMap\n", "has 0 documents"),
        (f"{BARE}---\n{BARE}", "has 2 documents"),
        ("data: {{ .Values.x }}\n", "koord-scheduler-config"),
        ("a: [\n", "not YAML"),
    ],
)
def test_what_cannot_be_read(text: str, says: str) -> None:
    with pytest.raises(PolicykitError, match=says):
        source.read(text)
