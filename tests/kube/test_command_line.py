"""Arguments of containers, and the file of a ConfigMap that `--config` names."""

from __future__ import annotations

from typing import Any

import pytest

from policykit.kube.command_line import ConfigMapKey, arguments, configuration

MOUNT = {"name": "config", "mountPath": "/etc/own/"}
SOURCE = {"name": "own"}


def found(*words: str, mount: dict[str, Any] = MOUNT, source: dict[str, Any] = SOURCE) -> ConfigMapKey | None:
    container = {"args": [*words], "volumeMounts": [mount]}
    return configuration(container, {"volumes": [{"name": "config", "configMap": source}]})


@pytest.mark.parametrize(
    ("container", "words"),
    [
        ({}, []),
        ({"args": ["-v"], "command": ["run"]}, [("run", ("command", 0)), ("-v", ("args", 0))]),
        ({"args": [1, "--v=1", None]}, [("--v=1", ("args", 1))]),
        ({"args": "--v=1", "command": {"a": 1}}, []),
    ],
)
def test_arguments(container: dict[str, Any], words: list[tuple[str, tuple[str, int]]]) -> None:
    assert [*arguments(container)] == words


@pytest.mark.parametrize(
    ("words", "key", "at"),
    [
        (["--config=/etc/own/a.yaml"], "a.yaml", 0),
        (["--v=2", "--config", "/etc/own/a.yaml"], "a.yaml", 2),
        (["--config=/etc/other.yaml", "--config=/etc/own/a.yaml"], "a.yaml", 1),
        (["--config", "/etc/own/a.yaml", "--config", "/etc/own/b.yaml"], "b.yaml", 3),
    ],
)
def test_the_last_file_counts(words: list[str], key: str, at: int) -> None:
    assert found(*words) == ConfigMapKey("own", key, False, ("args", at))


@pytest.mark.parametrize(
    ("words", "mount", "source"),
    [
        ([], MOUNT, SOURCE),
        (["--config"], MOUNT, SOURCE),
        (["--config="], MOUNT, SOURCE),
        (["--config=/etc/own/"], MOUNT, SOURCE),
        (["--config=/etc/own/a.yaml", "--config=/etc/other.yaml"], MOUNT, SOURCE),
        (["--config=/etc/own/a.yaml"], {**MOUNT, "subPath": "a.yaml"}, SOURCE),
        (["--config=/etc/own/a.yaml"], {**MOUNT, "name": "other"}, SOURCE),
        (["--config=/etc/own/a.yaml"], MOUNT, {**SOURCE, "items": [{"key": "b", "path": "a.yaml"}]}),
        (["--config=/etc/own/a.yaml"], MOUNT, {}),
        (["--config=/etc/own/a.yaml"], MOUNT, ["own"]),
        (["--configuration=/etc/own/a.yaml"], MOUNT, SOURCE),
    ],
    ids=[
        "no flag",
        "no value",
        "an empty value",
        "a folder",
        "another file is the last",
        "one key is mounted",
        "another volume",
        "keys under other names",
        "no name",
        "no map",
        "another flag",
    ],
)
def test_other_files(words: list[str], mount: dict[str, Any], source: Any) -> None:
    assert found(*words, mount=mount, source=source) is None


def test_an_optional_config_map() -> None:
    assert found("--config=/etc/own/a.yaml", source={**SOURCE, "optional": True}) == ConfigMapKey(
        "own", "a.yaml", True, ("args", 0)
    )
