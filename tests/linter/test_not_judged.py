"""The reasons why something is not judged."""

from __future__ import annotations

from typing import get_args

import pytest

from policykit import api
from policykit.linter.finding import NotJudged
from policykit.linter.not_judged import NO_POLICY, NOT_YAML, REASONS
from policykit.linter.run import not_accepted
from policykit.model.cluster import Cluster, LintSettings
from policykit.policy.models.policy import NotJudgedReason

POD = b"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: m, image: a:1}]}\n"


def test_settings_know_every_reason() -> None:
    assert get_args(NotJudgedReason) == tuple(REASONS)


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        (POD, []),
        (b"", []),
        (b"# only a comment\n", []),
        (b"replicas: 1\n", []),
        (b"Error: no such file\n", []),
        (b"no such file\n", ["not-yaml"]),
        (b"CREATE TABLE a;\n# the second\nCREATE TABLE b;\n", ["not-yaml"]),
        (b"{{- if .Values.on }}\na: 1\n{{- end }}\n", ["not-yaml"]),
        (POD + b"---\nno such file\n", ["not-yaml"]),
        (b"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {a: 'ENC[x]'}\nsops: {}\n", []),
        (
            b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: 'ENC[x]'}\nsops: {}\n",
            ["encrypted"],
        ),
        (b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\nsops: {}\n", []),
    ],
)
def test_a_file(text: bytes, reasons: list[str]) -> None:
    found = api.lint_texts({"a.yaml": text}).not_judged
    assert [one.reason for one in found] == reasons
    assert [one.detail for one in found] == [REASONS[reason] for reason in reasons]


def test_settings_accept_a_reason_below_a_path() -> None:
    lint = LintSettings(accept_not_judged={NOT_YAML: ("charts",), NO_POLICY: ("**",)})
    settings = (api.setting(), api.setting(Cluster("a", ()), lint))
    left = [
        NotJudged("charts/a.yaml", NOT_YAML, "", 1),
        NotJudged("apps/a.yaml", NOT_YAML, "", 1),
        NotJudged("charts/b.yaml", NOT_YAML, "", 0),
        NotJudged("apps/b.yaml", NO_POLICY, "", 0),
    ]
    assert not_accepted(settings, left) == (left[1], left[2])
