"""Scheduler configurations inside ConfigMaps: found, and placed in the file."""

from __future__ import annotations

import pytest

from policykit import api

INNER = "kind: KubeSchedulerConfiguration\nprofiles:\n- plugins: {score: {enabled: [{name: GPUAffinity}]}}\n"


def config_map(value: str) -> str:
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: scheduler}}\ndata:\n  config: {value}\n"


def block(indicator: str) -> str:
    body = f"apiVersion: kubescheduler.config.k8s.io/v1\n{INNER}"
    return config_map(f"{indicator}\n    " + body.replace("\n", "\n    "))


def found(text: str) -> list[tuple[str, int, int, str, str]]:
    report = api.lint_texts({"a.yaml": text.encode()}, select=["PK8"])
    return [(f.code, f.span.line, f.span.column, f.pointer, str(f.resource)) for f in report.findings]


PLACE = ("PK801", 9, 42, "/data/config", "ConfigMap scheduler")


@pytest.mark.parametrize("indicator", ["|", "|-", "|+"])
def test_in_a_block(indicator: str) -> None:
    assert found(block(indicator)) == [PLACE]


def test_in_quotes_on_one_line() -> None:
    body = f"apiVersion: kubescheduler.config.k8s.io/v1\n{INNER}".replace("\n", "\\n")
    ((code, line, column, pointer, _),) = found(config_map(f'"{body}"'))
    assert (code, line, pointer) == ("PK801", 5, "/data/config")
    assert column > 100


@pytest.mark.parametrize(
    "text",
    [
        config_map("KubeSchedulerConfiguration"),
        config_map('"kind: KubeSchedulerConfiguration: ["'),
        config_map("[KubeSchedulerConfiguration]"),
        config_map("null"),
        block("|").replace("kind: ConfigMap", "kind: Secret"),
        "apiVersion: v1\nkind: ConfigMap\ndata: [KubeSchedulerConfiguration]\n",
    ],
    ids=["a word", "broken", "a list", "null", "not a ConfigMap", "data is a list"],
)
def test_what_is_none(text: str) -> None:
    assert found(text) == []
