"""`policykit baseline`, and what `lint` makes of it: old findings stay quiet, new ones are told."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from policykit.rules.housekeeping import baseline_stale
from tests.cli.commands import Result, Shell, process

FILE = ".policykit-baseline.json"
RULES = ("--select", "PK001,PK201,PK909")


def container(name: str, *, bad: bool = True) -> str:
    cards = "{requests: {cpu: 1, nvidia.com/gpu: 1}}" if bad else "{}"
    return f"  - name: {name}\n    image: registry.example/{name}:1\n    resources: {cards}\n"


def pod(name: str, *containers: str) -> str:
    return f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n  containers:\n" + "".join(
        containers
    )


A = pod("a", container("main"), container("side"))
B = pod("b", container("main"))
BROKEN = "a: [\n"


def told(result: Result) -> list[str]:
    """`path:line CODE` of every finding."""
    lines = [line.split(" ") for line in result.out.splitlines() if not line.startswith("    ")]
    return [f"{':'.join(words[0].split(':')[:2])} {words[1]}" for words in lines]


@pytest.fixture
def accepted(shell: Shell) -> Shell:
    """Four findings, all of them accepted."""
    shell.write({"apps/a.yaml": A, "apps/b.yaml": B, "broken.yaml": BROKEN})
    result = shell.run("baseline")
    assert (result.code, result.out) == (0, "")
    assert result.err == f"policykit: {FILE} accepts 4 findings (4 new, 0 removed)\n"
    return shell


def test_what_is_accepted_is_not_told(accepted: Shell) -> None:
    result = accepted.run("lint", *RULES)
    assert (result.code, result.out) == (0, "")
    assert result.err == "no findings (2 objects in 3 files, 4 in the baseline)\n"
    assert json.loads(accepted.run("lint", "--format", "json").out)["summary"]["baselined"] == 4


def test_without_it_everything_is(accepted: Shell) -> None:
    result = accepted.run("lint", "--no-baseline")
    assert told(result) == [
        "apps/a.yaml:8 PK201",
        "apps/a.yaml:11 PK201",
        "apps/b.yaml:8 PK201",
        "broken.yaml:1 PK001",
    ]


@pytest.mark.parametrize(
    "files",
    [
        {"apps/a.yaml": None, "other/renamed.yaml": A},
        {"apps/a.yaml": f"{B}---\n{A}", "apps/b.yaml": None},
        {"apps/a.yaml": pod("a", container("side"), container("main"))},
        {"apps/a.yaml": pod("a", container("new", bad=False), container("main"), container("side"))},
        {"apps/a.yaml": "# one\n\n# two\n" + A.replace("spec:", "# three\nspec:")},
        {
            "apps/a.yaml": "apiVersion: v1\nkind: List\nitems:\n- "
            + B.replace("\n", "\n  ").rstrip()
            + "\n- "
            + A.replace("\n", "\n  ").rstrip()
            + "\n",
            "apps/b.yaml": None,
        },
        {"apps/a.yaml": json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}})},
        {"broken.yaml": "\n\n" + BROKEN},
        {"apps/a.yaml": A.replace("v1\n", "v1 # still\n")},
    ],
    ids=[
        "renamed",
        "documents reordered",
        "containers reordered",
        "a container before",
        "lines inserted",
        "items of a List",
        "gone",
        "not YAML, further down",
        "a comment",
    ],
)
def test_nothing_new(accepted: Shell, files: dict[str, str | None]) -> None:
    for path, text in files.items():
        if text is None:
            (accepted.folder / path).unlink()
        else:
            accepted.write({path: text})
    for jobs in ("1", "2", "4"):
        result = accepted.run("lint", "--jobs", jobs, "--ignore", "PK909")
        assert (result.code, result.out) == (0, "")


@pytest.mark.parametrize(
    ("path", "text", "new"),
    [
        ("apps/c.yaml", pod("c", container("main")), "apps/c.yaml:8 PK201"),
        ("apps/b.yaml", pod("b", container("main"), container("more")), "apps/b.yaml:11 PK201"),
        ("apps/c.yaml", B, "apps/c.yaml:8 PK201"),
        ("other.yaml", BROKEN, "other.yaml:1 PK001"),
        ("apps/b.yaml", B.replace("{name: b}", "{name: b, namespace: x}"), "apps/b.yaml:8 PK201"),
    ],
    ids=["another object", "another container", "the same object again", "another file", "another namespace"],
)
def test_what_is_new_is_told(accepted: Shell, path: str, text: str, new: str) -> None:
    accepted.write({path: text})
    for jobs in ("1", "4"):
        result = accepted.run("lint", "--jobs", jobs, "--ignore", "PK909")
        assert (result.code, told(result)) == (1, [new])


def test_the_nearest_one_governs(accepted: Shell) -> None:
    accepted.cd("apps")
    assert accepted.run("baseline", "-o", FILE, "a.yaml").code == 0
    accepted.cd(".")
    assert told(accepted.run("lint", "--ignore", "PK909")) == ["apps/b.yaml:8 PK201"]
    assert told(accepted.run("lint", "--baseline", FILE, "--ignore", "PK909")) == []
    assert accepted.run("baseline").err == f"policykit: {FILE} accepts 4 findings (no changes)\n"
    accepted.run("baseline", "apps")
    assert told(accepted.run("lint", "--ignore", "PK909")) == []


def test_above_the_repository_nothing_is_looked_for(shell: Shell) -> None:
    shell.write({"apps/.git/HEAD": "", "apps/b.yaml": B, "b.yaml": B})
    shell.run("baseline", "b.yaml")
    assert told(shell.run("lint", "apps")) == ["apps/b.yaml:8 PK201"]
    assert told(shell.run("lint", "b.yaml")) == []


def test_standard_input_has_the_baseline_of_its_name(accepted: Shell) -> None:
    words = ("lint", "-", "--stdin-filename", "apps/new.yaml", *RULES)
    result = process(*words, cwd=accepted.folder, stdin=A.encode())
    assert result == (0, "", "no findings (1 object in 1 file, 2 in the baseline)\n")


def test_fixing_leaves_what_is_accepted(accepted: Shell) -> None:
    unused = pod("c", container("main", bad=False)).replace("{}", "{}  # policykit: ignore[PK201] -- no more")
    accepted.write({"apps/c.yaml": unused, "apps/d.yaml": unused.replace("{name: c}", "{name: d}")})
    accepted.run("baseline", "apps/c.yaml")
    result = accepted.run("lint", "--fix", "--select", "PK903")
    assert (
        result.err
        == "policykit: 1 finding fixed in 1 file\nno findings (4 objects in 5 files, 1 in the baseline)\n"
    )
    assert "policykit:" in (accepted.folder / "apps/c.yaml").read_text()
    assert "policykit:" not in (accepted.folder / "apps/d.yaml").read_text()


def fix_finding(shell: Shell) -> None:
    """One object is gone, one container of another, and the text is YAML."""
    (shell.folder / "apps/b.yaml").unlink()
    shell.write({"apps/a.yaml": pod("a", container("main")), "broken.yaml": "a: []\n"})


STALE = [f"{FILE}:{line} PK909" for line in (6, 8, 9)]


def test_stale_entries(accepted: Shell) -> None:
    fix_finding(accepted)
    result = accepted.run("lint")
    assert (result.code, told(result)) == (0, STALE)
    assert [line for line in result.out.splitlines()[:4] if "|" not in line] == [
        f"{FILE}:6:5: PK909 info: PK001 in broken.yaml: the baseline accepts it, but it no longer exists"
        " [baseline-stale]",
        "    help: run `policykit baseline --prune`, so that it is reported if it returns",
    ]


@pytest.mark.parametrize(
    "words",
    [
        ["apps/a.yaml"],
        ["apps"],
        [".", "nowhere"],
        [".", "--ignore", "PK909"],
        [".", "--no-baseline", "--ignore", "PK201"],
    ],
    ids=["one file", "one folder", "a path that is not there", "not chosen", "no baseline"],
)
def test_a_run_that_cannot_know_says_nothing_of_it(accepted: Shell, words: list[str]) -> None:
    fix_finding(accepted)
    assert told(accepted.run("lint", *words)) == []


def test_rules_that_were_not_chosen_are_not_stale(accepted: Shell) -> None:
    fix_finding(accepted)
    assert told(accepted.run("lint", "--select", "PK001,PK909")) == STALE[:1]


def test_fewer_than_accepted(shell: Shell) -> None:
    shell.write({"a.yaml": B, "b.yaml": B})
    shell.run("baseline")
    (shell.folder / "a.yaml").unlink()
    result = shell.run("lint")
    assert "the baseline accepts 2 findings, but only 1 remain" in result.out
    shell.run("baseline", "--prune")
    assert '"occurrences": 1' in (shell.folder / FILE).read_text()


def test_prune(accepted: Shell) -> None:
    fix_finding(accepted)
    accepted.write({"apps/c.yaml": pod("c", container("main"))})
    accepted.cd("apps")
    result = accepted.run("baseline", "--prune")
    assert result.err == f"policykit: {accepted.folder}/{FILE} accepts 1 finding (0 new, 3 removed)\n"
    accepted.cd(".")
    assert told(accepted.run("lint")) == ["apps/c.yaml:8 PK201"]


def test_prune_looks_at_everything_or_does_nothing(accepted: Shell) -> None:
    fix_finding(accepted)
    before = (accepted.folder / FILE).read_bytes()
    result = accepted.run("baseline", "--prune", "apps")
    assert (result.code, (accepted.folder / FILE).read_bytes()) == (2, before)
    assert result.err == (
        f"policykit: {FILE}: this run leaves out paths that the baseline covers: .\n"
        "  help: run it without paths to check everything\n"
    )


def test_prune_without_a_policy_leaves_the_rules_that_need_one(shell: Shell) -> None:
    shell.write({"a.yaml": pod("a", container("main"))})
    shell.run("baseline", "-p", "profile:hybrid-volcano")
    before = (shell.folder / FILE).read_text()
    assert "PK1" in before
    shell.run("baseline", "--prune")
    assert (shell.folder / FILE).read_text() == before


def test_nothing_to_prune(shell: Shell) -> None:
    result = shell.run("baseline", "--prune")
    assert (result.code, result.err.splitlines()[0]) == (
        2,
        f"policykit: {FILE}: there is no baseline to prune",
    )


def test_a_second_run_adds_and_keeps(accepted: Shell) -> None:
    fix_finding(accepted)
    accepted.write({"more/c.yaml": pod("c", container("main"))})
    result = accepted.run("baseline", "more")
    assert result.err == f"policykit: {FILE} accepts 5 findings (1 new, 0 removed)\n"
    assert json.loads((accepted.folder / FILE).read_text())["covers"] == ["."]


def test_what_is_covered_stands_in_it(shell: Shell) -> None:
    shell.write({"apps/a.yaml": A, "more/b.yaml": B, "c.yaml": B})
    shell.run("baseline", "more", "apps/a.yaml")
    assert json.loads((shell.folder / FILE).read_text())["covers"] == ["apps/a.yaml", "more"]
    shell.run("baseline", "apps")
    assert json.loads((shell.folder / FILE).read_text())["covers"] == ["apps", "more"]


def test_same_input_same_bytes(accepted: Shell) -> None:
    before = (accepted.folder / FILE).read_bytes()
    stamp = (accepted.folder / FILE).stat().st_mtime_ns
    accepted.run("baseline")
    assert (accepted.folder / FILE).stat().st_mtime_ns == stamp
    (accepted.folder / FILE).unlink()
    accepted.run("baseline", ".")
    assert (accepted.folder / FILE).read_bytes() == before
    assert before.endswith(b"}\n")


def test_where_it_is_written(shell: Shell) -> None:
    shell.write({"deep/er/a.yaml": A})
    shell.cd("deep/er")
    shell.run("baseline")
    assert (shell.folder / FILE).is_file()
    (shell.folder / FILE).unlink()
    (shell.folder / ".git").rmdir()
    shell.write({"deep/er/.git/HEAD": ""})
    shell.run("baseline", "-o", "mine.json")
    assert told(shell.run("lint", "--baseline", "mine.json")) == []


@pytest.mark.parametrize(
    "content",
    [b'{"kind": "Pod"}\n', b"no\n", b"\xff", b""],
    ids=["another object", "not JSON", "not UTF-8", "empty"],
)
def test_a_file_that_is_no_baseline_stays(shell: Shell, content: bytes) -> None:
    shell.write({"a.yaml": A, FILE: content})
    for words in (
        ["baseline"],
        ["baseline", "-o", FILE],
        ["baseline", "--prune"],
        ["lint", "--baseline", FILE],
    ):
        result = shell.run(*words)
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith(f"policykit: {FILE}")
        assert "\n  help: " in result.err
    assert (shell.folder / FILE).read_bytes() == content
    assert shell.run("lint", "--no-baseline").code == 1


def test_a_baseline_that_is_none_accepts_nothing_and_ends_no_run(shell: Shell) -> None:
    shell.write({"a.yaml": A, "sub/b.yaml": B})
    assert shell.run("baseline", "-o", f"sub/{FILE}", "sub").code == 0
    shell.write({FILE: "no\n"})
    result = shell.run("lint", *RULES)
    assert (result.code, told(result)) == (2, ["a.yaml:8 PK201", "a.yaml:11 PK201"])
    assert result.err.startswith(f"policykit: {FILE}:1:1: is not JSON, so it cannot be read as a baseline\n")


def test_a_baseline_that_is_not_there(shell: Shell) -> None:
    shell.write({"a.yaml": A})
    result = shell.run("lint", "--baseline", "nowhere.json")
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "policykit: nowhere.json: cannot be read: No such file or directory\n"
        "  help: check the path, or make one with `policykit baseline -o nowhere.json`\n"
    )


@pytest.mark.parametrize(
    "words", [["lint", "--baseline", "x", "--no-baseline"], ["baseline", "-"]], ids=["both", "standard input"]
)
def test_what_makes_no_sense(shell: Shell, words: list[str]) -> None:
    assert shell.run(*words).code == 2


def test_from_half_a_run_nothing_is_written(accepted: Shell) -> None:
    before = (accepted.folder / FILE).read_bytes()
    accepted.write({"more.yaml": pod("c", container("main"))})
    result = accepted.run("baseline", ".", "nowhere")
    assert result.code == 2
    assert result.err.endswith("policykit: no baseline written: not everything could be checked\n")
    assert (accepted.folder / FILE).read_bytes() == before


@pytest.mark.skipif(os.name == "nt", reason="names of other bytes are a matter of POSIX")
def test_names_that_are_not_utf8(shell: Shell) -> None:
    Path(os.fsdecode(os.fsencode(shell.folder) + b"/\xff.yaml")).write_text(BROKEN)
    assert shell.run("baseline").code == 0
    assert told(shell.run("lint")) == []


def test_a_baseline_of_an_older_version_is_read_and_told(accepted: Shell) -> None:
    """Its entries name no cluster and no cause, so that they hide what nobody has accepted."""
    data = json.loads((accepted.folder / FILE).read_text())
    for entry in data["findings"]:
        cause = entry.pop("cause")
        entry.pop("cluster", None)
        entry |= {"message": cause} if "path" in entry else {}
    accepted.write({FILE: json.dumps({**data, "version": 1})})
    before = accepted.run("lint")
    assert (before.code, told(before)) == (0, [])
    assert (
        f"policykit: {FILE}: an older policykit wrote it: it accepts findings in every cluster and for any "
        "cause\n  help: run `policykit baseline` to accept only what is found now\n"
    ) in before.err
    assert accepted.run("baseline").code == 0
    assert json.loads((accepted.folder / FILE).read_text())["version"] == 2
    assert "older" not in accepted.run("lint").err


def test_the_examples_on_the_rule_page(shell: Shell) -> None:
    shell.write({FILE: baseline_stale.BAD})
    assert told(shell.run("lint")) == [f"{FILE}:6 PK909"]
    shell.write({FILE: baseline_stale.GOOD})
    assert told(shell.run("lint")) == []
