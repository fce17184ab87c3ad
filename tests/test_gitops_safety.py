"""Generated files on disk: other people's files are left alone, policies keep out of each other's folders."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit import api
from policykit.cli import run
from policykit.generator.bundle import bundle
from policykit.generator.header import owner
from tests.cli.commands import process
from tests.clusters import profile
from tests.gitops import HEADER, LEFTOVER, drift, gen, generated, policy, tree, write
from tests.shared import ROOT
from tests.test_golden import PROFILES


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return generated(tmp_path)


# --- Whose a file is ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROFILES)
def test_every_generated_format_has_comments_for_the_header(name: str) -> None:
    files = bundle(profile(name), api.generate(profile(name)))
    assert {Path(path).suffix for path in files} <= {".yaml", ".md", ".sh", ".env"}
    assert {owner(text) for text in files.values()} == {profile(name).name}


CHANGED = "differs: the policy or the version of policykit has changed"


def test_a_renamed_policy_keeps_its_files(repo: Path) -> None:
    before = tree(repo / "out")
    write(repo, {"policykit.yaml": policy("renamed", train="learn")})
    left = {path for path in before if "train" in path}
    assert left
    told = drift(gen(repo, "--check"))
    assert {path for path, why in told.items() if why == "no longer generated"} == left
    assert set(told.values()) == {"no longer generated", CHANGED, "missing"}
    assert gen(repo, "--prune").code == 0
    assert {owner(text) for text in tree(repo / "out").values()} == {"renamed"}
    assert gen(repo, "--check").code == 0


def test_files_of_a_policy_that_may_be_elsewhere_are_not_taken_over(repo: Path) -> None:
    """Neither in a folder that the policy does not name, nor beside files of its own."""
    before = tree(repo / "out")
    write(repo, {"policykit.yaml": policy("renamed")})
    refused = gen(repo, "-o", "out")
    assert (refused.code, refused.out) == (2, "")
    assert "out/README.md: was generated from policy maip, so it was not overwritten, and " in refused.err
    assert "help: if maip was renamed to renamed, delete the files that say so; " in refused.err
    assert tree(repo / "out") == before
    write(repo, {"out/mine.yaml": HEADER.replace("maip", "renamed")})
    assert gen(repo).code == 2
    write(repo, {"other/policykit.yaml": policy("maip", "elsewhere")})
    (repo / "out/mine.yaml").unlink()
    assert gen(repo).code == 2
    assert tree(repo / "out") == before


@pytest.mark.parametrize("file", ["other/policykit.yaml", "site.yaml"])
def test_a_file_of_a_policy_that_is_there_is_its_own_business(repo: Path, file: str) -> None:
    write(repo, {"out/copy.yaml": HEADER.replace("maip", "other")})
    assert drift(gen(repo, "--check")) == {
        "copy.yaml": "generated from policy other, which is not in this repository; delete it by hand"
    }
    write(repo, {file: policy("other", "elsewhere")})
    assert gen(repo, "--check").code == 0
    assert gen(repo, "--prune").code == 0
    assert (repo / "out/copy.yaml").exists()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda text: "\n" * 4 + text, "not generated from this policy"),
        (lambda text: text.split("\n", 1)[1], "not generated from this policy"),
        (lambda text: "mine\n", "not generated from this policy"),
        (lambda text: "", "not generated from this policy"),
        (lambda text: text.replace("policy maip", "policy other"), "generated from policy other"),
    ],
    ids=["header below line 4", "header lost", "by hand", "empty", "header of another policy"],
)
def test_a_file_without_the_header_is_never_written(
    repo: Path, change: Callable[[str], str], why: str
) -> None:
    readme = repo / "out/README.md"
    readme.write_text(change(readme.read_text()))
    (repo / "out/nodes/README.md").unlink()
    before = tree(repo)
    assert drift(gen(repo, "--check"))["README.md"] == why
    for words in ([], ["--prune"], ["--target", "nodes", "--prune"]):
        assert gen(repo, *words).code == 2
    assert tree(repo) == before


def test_a_copy_is_found_and_goes_only_with_prune(repo: Path) -> None:
    before = tree(repo / "out")
    shutil.copy(repo / "out/README.md", repo / "out/copy.md")
    assert drift(gen(repo, "--check")) == {"copy.md": "no longer generated"}
    assert gen(repo, "--check").err.endswith("out: 1 file out of date; run `policykit gen --prune`\n")
    assert drift(gen(repo)) == {"copy.md": "no longer generated"}
    assert (repo / "out/copy.md").exists()
    assert drift(gen(repo, "--prune")) == {"copy.md": "removed"}
    assert tree(repo / "out") == before


NAMES = st.sampled_from(
    [
        "README.md",
        "nodes/README.md",
        "nodes",
        "mine.yaml",
        "nodes/mine/a.yaml",
        "kustomization.yaml",
        LEFTOVER,
    ]
)
TEXTS = st.sampled_from(
    ["", "mine\n", "\n\n\n\n" + HEADER, HEADER.replace("maip", "other"), f"# {'x' * 5000}{HEADER}"]
)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(NAMES, TEXTS, max_size=4), st.booleans())
def test_files_of_others_never_change(files: dict[str, str], prune: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        there = {name: text for name, text in files.items() if "nodes" not in files or name[:6] != "nodes/"}
        write(root, {"policykit.yaml": policy(), **{f"out/{name}": text for name, text in there.items()}})
        code = run(["gen", "-p", f"{root}/policykit.yaml", *(["--prune"] if prune else [])])
        after = tree(root / "out") if (root / "out").exists() else {}
        assert {name: after.get(name) for name in there} == there
        blocked = {"README.md", "nodes/README.md", "nodes"}.intersection(there)
        assert code == (2 if blocked else 0)
        assert not blocked or after == there


# --- Line endings -------------------------------------------------------------------------------


def git(root: Path, *words: str) -> str:
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    author = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    done = subprocess.run(
        ["git", *author, *words], cwd=root, env={**environment, **quiet}, capture_output=True, check=True
    )
    return done.stdout.decode()


def test_files_that_git_checked_out_with_crlf_are_unchanged(repo: Path) -> None:
    (repo / ".git").rmdir()
    git(repo, "init", "-q")
    git(repo, "config", "core.autocrlf", "true")
    git(repo, "add", "--all")
    git(repo, "commit", "-q", "-m", "generated")
    shutil.rmtree(repo / "out")
    git(repo, "checkout", "-q", ".")
    before = tree(repo / "out")
    assert all("\r\n" in text for text in before.values())
    assert gen(repo, "--check").code == 0
    assert gen(repo).err.endswith(f"out: 0 files written, {len(before)} unchanged\n")
    write(repo, {"policykit.yaml": policy(**{"gpu-2": "gpu-3"})})
    changed = set(drift(gen(repo, "--check")))
    shown = gen(repo, "--diff").out
    assert "-gpu-1" not in shown.replace("\r", "")
    assert gen(repo).code == 0
    after = tree(repo / "out")
    assert {path for path in after if after[path] != before.get(path)} == changed != set(after)
    assert all(text.count("\n") == text.count("\r\n") for text in after.values())
    listed = git(repo, "diff", "--name-only").split()
    assert set(listed) == {f"out/{path}" for path in changed} | {"policykit.yaml"}
    edited = repo / "out/README.md"
    edited.write_bytes(edited.read_bytes().replace(b"\r\n", b"\n", 1))
    assert drift(gen(repo, "--check")) == {"README.md": "differs: edited by hand"}


# --- Another version of policykit ---------------------------------------------------------------


EARLIER = """\
# Generated by policykit from policy maip: do not edit.
# Edit the policy and run `policykit gen`.
# sha256 of the rest: 9b7b792f14d9d553
---
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
sortOptions:
  order: fifo
resources:
  - kubernetes/priorities.yaml
"""
"""What an earlier version wrote for the policy below, before built objects were labelled."""
EDITED = "differs: edited by hand"
UPGRADE = "the policy or the version of policykit has changed since it was generated: line 9 is "


@pytest.mark.parametrize(
    ("there", "why", "lint", "overwritten"),
    [
        (EARLIER, CHANGED, UPGRADE, False),
        (EARLIER.replace("\n", "\r\n"), CHANGED, UPGRADE, False),
        (EARLIER.replace("order: fifo", "order: legacy"), EDITED, "was edited by hand: line 8 is ", True),
        (f"{EARLIER}  - mine.yaml\n", EDITED, "was edited by hand: line 9 is ", True),
        (
            EARLIER.replace("# sha256 of the rest: 9b7b792f14d9d553\n", ""),
            "differs",
            "differs from what the policy generates: line 3 is ",
            False,
        ),
    ],
    ids=["as written", "CRLF", "edited", "added to", "no digest"],
)
def test_a_file_of_an_earlier_version_is_told_from_one_edited_by_hand(
    tmp_path: Path, there: str, why: str, lint: str, overwritten: bool
) -> None:
    (tmp_path / ".git").mkdir()
    stated = f"{policy()}priorities: {{urgent: {{value: 1000}}}}\ntargets: {{kubernetes: {{}}}}\n"
    write(tmp_path, {"policykit.yaml": stated})
    assert gen(tmp_path).code == 0
    now = tree(tmp_path / "out")
    write(tmp_path, {"out/kustomization.yaml": there})
    checked = gen(tmp_path, "--check")
    assert (checked.code, drift(checked)) == (1, {"kustomization.yaml": why})
    found = process("lint", "--no-cache", "--select", "PK901", cwd=tmp_path)
    assert found.code == 1
    assert f"out/kustomization.yaml:1:1: PK901 error: {lint}" in found.out
    written = gen(tmp_path)
    line = "out/kustomization.yaml: had been edited by hand; overwritten\n"
    assert (written.code, line in written.err) == (0, overwritten)
    text = (tmp_path / "out/kustomization.yaml").read_bytes().decode().replace("\r\n", "\n")
    assert text == now["kustomization.yaml"] != EARLIER
    assert gen(tmp_path, "--check").code == 0


def test_an_upgrade_of_policykit_changes_nothing_on_the_cluster(tmp_path: Path) -> None:
    """The plan from the commit with the files of the earlier version to those of this one."""
    git(tmp_path, "init", "-q")
    stated = f"{policy()}priorities: {{urgent: {{value: 1000}}}}\ntargets: {{kubernetes: {{}}}}\n"
    write(tmp_path, {"policykit.yaml": stated})
    assert gen(tmp_path).code == 0
    write(tmp_path, {"out/kustomization.yaml": EARLIER})
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "-q", "-m", "an earlier version")
    assert gen(tmp_path).code == 0
    assert git(tmp_path, "diff", "--name-only").split() == ["out/kustomization.yaml"]
    planned = process("plan", "--no-cache", "--from", "HEAD", cwd=tmp_path)
    assert (planned.code, "The policy does not change." in planned.out) == (0, True)


# --- Links, files and folders in the way --------------------------------------------------------


def test_nothing_is_written_or_deleted_through_links(repo: Path) -> None:
    outside = repo / "outside"
    shutil.copytree(repo / "out", outside)
    write(repo, {"outside/old.yaml": HEADER})
    shutil.rmtree(repo / "out/nodes")
    (repo / "out/README.md").unlink()
    (repo / "out/nodes").symlink_to("../outside/nodes")
    (repo / "out/README.md").symlink_to("../outside/README.md")
    (repo / "out/old.yaml").symlink_to("../outside/old.yaml")
    (repo / "out/more").symlink_to("../outside")
    write(repo, {"policykit.yaml": policy(domain="domain", **{"example.com": "other.example.com"})})
    before = tree(repo)
    told = drift(gen(repo, "--check"))
    assert told["README.md"] == "a link"
    assert told["nodes/README.md"] == "behind the link out/nodes"
    assert "old.yaml" not in told
    for words in ([], ["--prune"]):
        refused = gen(repo, *words)
        assert refused.code == 2
        assert "out/README.md: is a link, so it was not overwritten, and " in refused.err
    assert tree(repo) == before
    (repo / "out/nodes").unlink()
    (repo / "out/README.md").unlink()
    assert gen(repo, "--prune").code == 0
    assert tree(outside) == {
        path.removeprefix("outside/"): text for path, text in before.items() if path.startswith("outside/")
    }
    assert (repo / "out/old.yaml").is_symlink()
    assert (repo / "out/more").is_symlink()


def test_the_folder_itself_may_be_a_link(repo: Path) -> None:
    (repo / "out").rename(repo / "deploy")
    (repo / "out").symlink_to("deploy")
    assert gen(repo, "--check").code == 0
    (repo / "deploy/README.md").unlink()
    assert gen(repo).code == 0
    assert (repo / "deploy/README.md").is_file()


@pytest.mark.parametrize(
    ("out", "place"), [("file", "file"), ("file/below/it", "file"), ("dangling", "dangling")]
)
def test_a_folder_that_is_none(repo: Path, out: str, place: str) -> None:
    write(repo, {"file": "mine\n", "policykit.yaml": policy(out=out)})
    (repo / "dangling").symlink_to("nowhere")
    before = tree(repo)
    for words in ([], ["--check"], ["--prune"]):
        result = gen(repo, *words)
        assert (result.code, result.out) == (2, "")
        assert f"policykit: {place}: cannot be written: it is a " in result.err
    assert tree(repo) == before


def test_the_folder_may_hold_the_policy_and_everything_else(repo: Path) -> None:
    shutil.rmtree(repo / "out")
    write(repo, {"policykit.yaml": policy(out="."), "apps/web.yaml": "kind: Pod\n", ".git/copy.yaml": HEADER})
    mine = tree(repo)
    assert gen(repo).code == 0
    assert gen(repo, "--check").code == 0
    write(repo, {"policykit.yaml": policy(out=".", train="learn")})
    assert gen(repo, "--prune").code == 0
    after = tree(repo)
    assert {path: after[path] for path in mine if path != "policykit.yaml"} == {
        path: text for path, text in mine.items() if path != "policykit.yaml"
    }
    assert not any("nodes/train" in path for path in after)
    write(repo, {"README.md": "# Our repository\n"})
    assert gen(repo).code == 2
    assert (repo / "README.md").read_text() == "# Our repository\n"


def test_a_repository_inside_the_folder_is_another_one(repo: Path) -> None:
    write(repo, {"out/module/.git": "gitdir: ../../.git/modules/module\n", "out/module/old.yaml": HEADER})
    assert gen(repo, "--check").code == 0
    assert gen(repo, "--prune").code == 0
    assert (repo / "out/module/old.yaml").exists()


# --- Several policies ---------------------------------------------------------------------------


def test_folders_beside_the_policies(repo: Path) -> None:
    write(repo, {"a/policykit.yaml": policy("a", "../x/a"), "b/policykit.yaml": policy("b", "../x/b")})
    assert gen(repo, "--all").code == 0
    assert tree(repo / "x/a").keys() == tree(repo / "x/b").keys() != set()
    assert gen(repo / "a", "--all", "--check").code == 0


@pytest.mark.parametrize("second", ["maip", "other"], ids=["one name", "two names"])
def test_one_folder_of_two_policies_is_refused(repo: Path, second: str) -> None:
    write(repo, {"team/policykit.yaml": policy(second, "../out", **{"gpu-2": "gpu-3"})})
    before = tree(repo)
    both = gen(repo, "--all")
    assert both.code == 2
    assert both.err == (
        "policykit: out: team/policykit.yaml also writes to this folder\n"
        "  help: give each policy its own generate.out\n"
        "policykit: out: policykit.yaml also writes to this folder\n"
        "  help: give each policy its own generate.out\n"
    )
    assert gen(repo, "--all", "--check").code == 2
    assert gen(repo).code == 2
    assert gen(repo / "team", "--prune").code == 2
    assert gen(repo, "-p", "team/policykit.yaml", "-o", "out").code == 2
    assert tree(repo) == before
    assert gen(repo, "-p", "team/policykit.yaml", "--check").code == 1


@pytest.mark.parametrize("inner", ["maip", "other"], ids=["one name", "two names"])
def test_a_folder_inside_another_is_left_to_its_policy(repo: Path, inner: str) -> None:
    write(repo, {"team/policykit.yaml": policy(inner, "../out/team")})
    assert gen(repo, "--all").code == 0
    both = tree(repo / "out")
    assert "team/README.md" in both
    checked = gen(repo, "--all", "--check")
    assert (checked.code, "differs" in checked.err) == (int(inner == "maip"), False)
    assert ("metadata.name maip is also that of" in checked.err) == (inner == "maip")
    assert gen(repo, "--prune").code == 0
    assert gen(repo, "--all", "--prune").code == 0
    assert tree(repo / "out") == both
    (repo / "out/team/README.md").unlink()
    assert gen(repo, "--check").code == 0
    assert gen(repo / "team", "--check").code == 1


def test_files_of_one_policy_are_not_written_into_the_folder_of_another(repo: Path) -> None:
    write(repo, {"team/policykit.yaml": policy("other", "../out/nodes")})
    shutil.rmtree(repo / "out/nodes")
    told = drift(gen(repo, "--check"))
    assert told["nodes/README.md"] == "in the folder of team/policykit.yaml"
    result = gen(repo, "--all")
    assert result.code == 2
    assert ": is in the folder of team/policykit.yaml, so it was not overwritten, and " in result.err
    assert owner((repo / "out/nodes/README.md").read_text()) == "other"


def test_another_folder_does_not_prune_the_usual_one(repo: Path) -> None:
    before = tree(repo / "out")
    assert gen(repo, "-o", ".", "--prune").code == 0
    assert tree(repo / "out") == before


# --- Comparing ----------------------------------------------------------------------------------


def test_the_diff_is_what_git_apply_needs(repo: Path) -> None:
    (repo / ".git").rmdir()
    git(repo, "init", "-q")
    before = tree(repo / "out")
    write(repo, {"policykit.yaml": policy(train="learn", **{"gpu-2": "gpu-3"})})
    kept, pruned = (gen(repo, "--diff", *words).out for words in ([], ["--prune"]))
    assert tree(repo / "out") == before
    assert "+++ /dev/null\n" in pruned
    assert "+++ /dev/null\n" not in kept
    assert "--- /dev/null\n" in kept
    (repo / "changes").write_text(pruned)
    git(repo, "apply", "changes")
    applied = tree(repo / "out")
    assert gen(repo, "--check").code == 0
    assert gen(repo, "--prune").err.endswith(f"out: 0 files written, {len(applied)} unchanged\n")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["-o", "-", "--check"], "--check, --diff and --prune need a folder"),
        (["-o", "-", "--diff"], "--check, --diff and --prune need a folder"),
        (["-o", "-", "--prune"], "--check, --diff and --prune need a folder"),
        (["--target", "nodes", "--prune"], "--prune cannot be combined with --target"),
    ],
)
def test_what_does_not_go_together(repo: Path, words: list[str], says: str) -> None:
    result = gen(repo, *words)
    assert (result.code, result.out) == (2, "")
    assert f"policykit: {says}\n  help: " in result.err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("words", ["-o -", "--diff"])
def test_a_full_standard_output_fails_the_run(repo: Path, words: str) -> None:
    write(repo, {"policykit.yaml": policy(**{"gpu-2": "gpu-3"})})
    line = f'"{sys.executable}" -m policykit gen {words} >/dev/full; echo $?'
    done = subprocess.run(
        ["sh", "-c", line],
        cwd=repo,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "2\n"
    assert done.stderr.endswith("No space left on device\n")
    assert "Traceback" not in done.stderr
