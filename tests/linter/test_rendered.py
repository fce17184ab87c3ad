"""Documents that say which template they were rendered from."""

from __future__ import annotations

import pytest

from policykit import api
from policykit.linter.rendered import comments
from policykit.linter.selection import Selection

QUOTA = (
    'apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: a}\nspec: {hard: {limits.nvidia.com/gpu: "8"}}\n'
)
GROUP = (
    "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: a}\nspec: {minMember: 1}\n"
)


def sources(text: str) -> list[tuple[str, str]]:
    report = api.lint_texts({"all.yaml": text.encode()}, select=["PK206", "PK306"])
    return [(finding.code, finding.source) for finding in report.findings]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"---\n# Source: app/templates/quota.yaml\n{QUOTA}", [("PK206", "app/templates/quota.yaml")]),
        (f"# Source: app/templates/quota.yaml\n{QUOTA}", [("PK206", "app/templates/quota.yaml")]),
        (f"---\r\n# Source: a b.yaml \r\n{QUOTA}", [("PK206", "a b.yaml")]),
        (f"---\n# Source: a.yaml\n{GROUP}---\n{QUOTA}", [("PK306", "a.yaml"), ("PK206", "")]),
        (f"---\n# Source: a.yaml\n---\n# Source: b.yaml\n{QUOTA}", [("PK206", "b.yaml")]),
        (f"{QUOTA}# Source: a.yaml\n", [("PK206", "")]),
        (f"# Source:\n{QUOTA}", [("PK206", "")]),
        (QUOTA, [("PK206", "")]),
    ],
    ids=["Helm", "the first", "CRLF", "each its own", "an empty one", "behind", "empty", "none"],
)
def test_source(text: str, found: list[tuple[str, str]]) -> None:
    assert sources(text) == found


def test_comments() -> None:
    assert comments("a\n# Source: b\n  # Source: c\n") == ((1, "b"),)


def test_settings_per_path_know_the_template() -> None:
    report = api.lint_texts(
        {"all.yaml": f"# Source: app/charts/x/a.yaml\n{QUOTA}".encode()}, select=["PK206"]
    )
    silent = Selection(frozenset({"PK206"}), per_path=(("app/charts/**", frozenset({"PK206"})),))
    assert len(report.findings) == 1
    assert silent.apply(report.findings) == []
