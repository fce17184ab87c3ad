"""Bundled profiles, and a policy created from one."""

from __future__ import annotations

import pytest

from policykit import bundled
from policykit.cli.profiles import profile_names
from tests.cli.commands import Shell


@pytest.mark.parametrize("profile", profile_names())
def test_the_profile_marked_as_no_object_of_the_cluster(shell: Shell, profile: str) -> None:
    result = shell.run("init", "--profile", profile, "cluster")
    path = "cluster/policykit.yaml"
    assert (result.code, result.out) == (0, "")
    first, second, *others = result.err.splitlines()
    assert (
        first == f"wrote {path} from profile {profile}; describe your pools in it, then run: policykit lint"
    )
    assert second == "other profiles to start from, with --profile NAME:"
    assert [line.split()[0] for line in others] == [name for name in profile_names() if name != profile]
    written = (shell.folder / path).read_text()
    text = bundled.read("profiles", f"{profile}.yaml").decode()
    assert [line for line in written.split("\n") if line not in text.split("\n")] == [
        "  annotations:",
        "    # Not applied to the cluster, also where Flux applies every file of this folder.",
        '    config.kubernetes.io/local-config: "true"',
    ]
    assert set(text.split("\n")) <= set(written.split("\n"))
    assert shell.run("gen", "-p", path, "-o", "-").code == 0


def test_the_current_folder(shell: Shell) -> None:
    assert shell.run("init").code == 0
    assert (shell.folder / "policykit.yaml").exists()


@pytest.mark.parametrize("there", ["file", "dangling link"])
def test_never_overwritten(shell: Shell, there: str) -> None:
    path = shell.folder / "policykit.yaml"
    if there == "file":
        path.write_text("mine\n")
    else:
        path.symlink_to("nowhere")
    result = shell.run("init")
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "policykit: ./policykit.yaml: the folder already has a policy\n"
        "  help: edit it, or choose another folder\n"
    )
    assert not (shell.folder / "nowhere").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--profile", "nope"], "unknown profile 'nope'"),
        (["file"], "file/policykit.yaml: cannot be written: "),
        (["file/deeper"], "file/deeper/policykit.yaml: cannot be written: "),
    ],
    ids=["no profile", "a file", "below a file"],
)
def test_failures(shell: Shell, arguments: list[str], message: str) -> None:
    shell.write({"file": ""})
    result = shell.run("init", *arguments)
    assert result.code == 2
    assert message in result.err


def test_the_listing_has_a_caption_for_each(shell: Shell) -> None:
    result = shell.run("profiles")
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    assert [line.split()[0] for line in lines[:-2]] == list(profile_names())
    assert all(len(line.split()) > 3 for line in lines[:-2])


@pytest.mark.parametrize("name", profile_names())
def test_a_profile_is_printed_as_it_is(shell: Shell, name: str) -> None:
    result = shell.run("profiles", name)
    assert result == (0, bundled.read("profiles", f"{name}.yaml").decode(), "")
