"""Where clusters disagree, text tells one message and what the others have; JSON and SARIF keep all."""

from __future__ import annotations

import json

from tests.cli.commands import Shell
from tests.fleet.repositories import on_path as on_path
from tests.fleet.repositories import policy
from tests.fleet.test_units import fleet, lint

DEV = {"severity": {"PK101": "warning"}, "select": ["PK101"]}
FILES = fleet(dev=policy("dev", **DEV), prod=policy("prod", select=["PK101"]))


def test_text_groups_by_code_and_place(shell: Shell) -> None:
    result = lint(shell, FILES, "--format", "concise")
    (line,) = result.out.splitlines()
    head, _, rest = line.partition(" (cluster ")
    assert head.startswith("apps/gw/job.yaml:6:5: PK101 ")
    message = head.removeprefix("apps/gw/job.yaml:6:5: PK101 error: ").removesuffix(" [missing-toleration]")
    assert rest == f"prod; cluster dev: {message})"


def test_at_most_five_others_are_told(shell: Shell) -> None:
    names = [f"c{number}" for number in range(8)]
    words = ["error", "warning", "info"]
    policies = {
        name: policy(name, select=["PK101"], severity={"PK101": words[min(number, 2)]})
        for number, name in enumerate(names)
    }
    text = lint(shell, fleet(**policies)).out
    assert text.count("PK101") == 1
    assert [line.split(":")[0] for line in text.splitlines() if line.startswith("    cluster")] == [
        "    cluster c0",
        "    cluster c1",
        "    clusters c2, c3, c4, c5, c6, c7",
    ]


def test_json_and_sarif_keep_all(shell: Shell) -> None:
    found = json.loads(lint(shell, FILES, "--format", "json").out)["findings"]
    assert [(each["severity"], each["clusters"]) for each in found] == [
        ("warning", ["dev"]),
        ("error", ["prod"]),
    ]
    (run,) = json.loads(lint(shell, FILES, "--format", "sarif").out)["runs"]
    assert [each["properties"]["clusters"] for each in run["results"]] == [["dev"], ["prod"]]


def helps(shell: Shell, files: dict[str, str]) -> list[tuple[list[str], str]]:
    result = lint(shell, files, "--select", "PK101,PK106", "--format", "json")
    return [(each["clusters"], each["help"].splitlines()[0]) for each in json.loads(result.out)["findings"]]


def test_what_every_cluster_needs_is_told_of_the_file(shell: Shell) -> None:
    files = fleet(dev=policy("dev"), prod=policy("prod"))
    ((clusters, help_),) = helps(shell, files)
    assert clusters == ["dev", "prod"]
    assert help_.startswith("add ")
    result = lint(shell, fleet(dev=policy("dev", select=["PK201"])), "--format", "json")
    (of_prod,) = [each for each in json.loads(result.out)["findings"] if each["code"] == "PK101"]
    assert of_prod["help"].splitlines()[0] == help_


def test_what_one_cluster_needs_is_told_of_its_overlay(shell: Shell) -> None:
    """Dev has no taints: what prod needs in the shared file says nothing that dev should do."""
    bare = json.loads(policy("dev"))
    bare["scheme"] = {"preset": "plain"}
    found = helps(shell, fleet(dev=json.dumps(bare), prod=policy("prod")))
    (of_prod,) = [help_ for clusters, help_ in found if clusters == ["prod"]]
    assert of_prod.startswith("in an overlay of prod, as dev uses this file too: add ")


def test_a_finding_that_holds_for_some_clusters_names_them(shell: Shell) -> None:
    """No folder that is built and no message says for which clusters it is."""
    named = {name: policy(name, select=["PK101"]) for name in ("prod", "test")}
    files = fleet(dev=policy("dev", select=["PK3"]), **named)
    path = "apps/gw/job.yaml"
    (line,) = lint(shell, files, "--format", "concise", path).out.splitlines()
    assert line.endswith(" [missing-toleration] (clusters prod, test)")
    (entry,) = json.loads(lint(shell, files, "--format", "gitlab", path).out)
    assert entry["description"].endswith("; clusters prod, test")
    again = {"clusters/dev/policykit.yaml": policy("dev", select=["PK101"])}
    (line,) = lint(shell, again, "--format", "concise", path).out.splitlines()
    assert line.endswith(" [missing-toleration]")


def test_a_long_list_of_clusters_is_cut_short(shell: Shell) -> None:
    names = [f"c{number:02}" for number in range(11)]
    files = fleet(
        **{name: policy(name, select=["PK101"]) for name in names}, dev=policy("dev", select=["PK3"])
    )
    (line,) = lint(shell, files, "--format", "concise").out.splitlines()
    assert line.endswith(f" (clusters {', '.join(names[:8])} and 3 more)")
