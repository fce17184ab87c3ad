"""Beyond its limits, a run judges files as they are written, and says what it did not build."""

from __future__ import annotations

import json

import pytest

from tests.cli.commands import Shell
from tests.fleet.repositories import on_path as on_path
from tests.fleet.repositories import policy
from tests.fleet.test_units import JOB, fleet


@pytest.mark.parametrize(
    ("words", "built", "detail"),
    [
        ((), 2, ""),
        (("--max-builds", "2"), 2, ""),
        (("--max-builds", "1"), 1, "this run has more builds than --max-builds allows"),
        (("--build-seconds", "0"), 0, "the builds of this run take longer than --build-seconds allows"),
    ],
)
def test_what_is_over_the_limits_is_not_judged(
    shell: Shell, words: tuple[str, ...], built: int, detail: str
) -> None:
    shell.write(dict(fleet(dev=policy("dev"), prod=policy("prod"))))
    result = shell.run("lint", "--no-cache", "--show-files", "--format", "json", *words)
    left = [each for each in json.loads(result.out)["not_judged"] if each["reason"] != "no-policy"]
    assert [(each["reason"], each["detail"]) for each in left] == [("over-limits", detail)] * (2 - built)
    assert result.err.count("with kustomize") == built
    assert shell.run("lint", "--no-cache", "--require-judged", "--exit-zero", *words).code == (
        0 if built == 2 else 2
    )


def test_files_of_several_policies_are_units_too(shell: Shell) -> None:
    applies = [{"path": "../../shared"}]
    files: dict[str, str | bytes] = {f"shared/job-{number}.yaml": JOB for number in range(3)}
    for name in ("dev", "prod"):
        said = {**json.loads(policy(name)), "applies": applies}
        files[f"clusters/{name}/policykit.yaml"] = json.dumps(said)
    shell.write(files)
    for most, left in ((6, 0), (5, 1), (4, 1), (0, 3)):
        result = shell.run("lint", "--no-cache", "--format", "json", "--max-units", str(most))
        over = [each for each in json.loads(result.out)["not_judged"] if each["reason"] == "over-limits"]
        assert len(over) == left
        assert {each["detail"] for each in over} <= {
            "this run has more files of several policies than --max-units allows"
        }
        required = ("--no-cache", "--require-judged", "--exit-zero", "--max-units", str(most))
        assert shell.run("lint", *required).code == (2 if left else 0)


BOMB = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data:
  x0: &x0 [%s]
"""


def test_a_build_takes_bounded_memory(shell: Shell) -> None:
    """A file of a few kilobytes, whose aliases kustomize writes out: it would need more than 6 GB."""
    text = BOMB % ("a," * 1000)
    text += "".join(f"  x{n + 1}: &x{n + 1} [{f'*x{n},' * 10}]\n" for n in range(6))
    shell.write({"kustomization.yaml": "namePrefix: a-\nresources: [a.yaml]\n", "a.yaml": text})
    result = shell.run("lint", "--no-cache", "--show-files")
    assert "not built .: kustomize needs more than 2 GB of memory\n" in result.err
