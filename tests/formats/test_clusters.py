"""Findings of one place that differ between clusters: every format names the clusters."""

from __future__ import annotations

import json

import pytest

from policykit.formats import FormatContext, format_named
from policykit.linter.finding import Report
from tests.formats.reports import CONTEXT, FINDING

DEV = FINDING._replace(message="needs 4, has 2", clusters=("dev",))
PROD = FINDING._replace(message="needs 4, has 3", clusters=("prod", "test"))


def written(name: str, *findings: object) -> str:
    return format_named(name)(Report(findings, 1, 1), CONTEXT)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["text", "concise", "gitlab", "github", "junit", "rdjson"])
def test_one_entry_names_the_clusters_of_each_message(name: str) -> None:
    text = written(name, DEV, PROD)
    assert text.count("needs 4, has 2") == written(name, DEV).count("needs 4, has 2")
    assert "cluster dev" in text
    assert "clusters prod, test: needs 4, has 3" in text


@pytest.mark.parametrize("name", ["text", "concise", "gitlab", "github", "junit", "rdjson"])
def test_clusters_that_agree_are_not_named(name: str) -> None:
    assert "cluster" not in written(name, DEV._replace(clusters=("dev", "prod")))


def test_runs_of_a_matrix_have_their_own_sarif_category() -> None:
    """Only where clusters were chosen: the category of a whole fleet would change with each new cluster, and
    what it reported before would stay open."""

    def run(category: str) -> dict[str, object]:
        context = FormatContext(clusters=("dev", "prod"), category=category)
        data = json.loads(format_named("sarif")(Report((), 1, 1), context))
        found: dict[str, object] = data["runs"][0]
        return found

    assert run("prod")["automationDetails"] == {"id": "policykit/prod/"}
    assert run("dev+prod")["automationDetails"] == {"id": "policykit/dev+prod/"}
    assert "automationDetails" not in run("")
