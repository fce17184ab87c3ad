"""`policykit init`: a policy to start from, never over one that is there."""

from __future__ import annotations

import pytest

from policykit import bundled
from policykit.cli.profiles import names
from tests.cli.commands import Shell


@pytest.mark.parametrize("profile", names())
def test_the_profile_as_it_is(shell: Shell, profile: str) -> None:
    said = shell.run("init", "--profile", profile, "cluster")
    path = "cluster/policykit.yaml"
    assert said == (
        0,
        "",
        f"wrote {path}; describe your pools in it, then run: policykit lint, policykit gen\n",
    )
    assert (shell.folder / path).read_bytes() == bundled.read("profiles", f"{profile}.yaml")
    assert shell.run("gen", "-p", path, "-o", "-").code == 0


def test_the_folder_one_stands_in(shell: Shell) -> None:
    assert shell.run("init").code == 0
    assert (shell.folder / "policykit.yaml").exists()


@pytest.mark.parametrize("there", ["file", "dangling link"])
def test_never_overwritten(shell: Shell, there: str) -> None:
    path = shell.folder / "policykit.yaml"
    if there == "file":
        path.write_text("mine\n")
    else:
        path.symlink_to("nowhere")
    said = shell.run("init")
    assert (said.code, said.out) == (2, "")
    assert said.err == (
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
    said = shell.run("init", *arguments)
    assert said.code == 2
    assert message in said.err
