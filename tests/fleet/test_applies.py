"""`applies` of a policy is all that its cluster applies, and the part is judged as the whole."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.commands import Result, Shell
from tests.fleet.repositories import kustomization
from tests.fleet.repositories import on_path as on_path
from tests.fleet.test_units import JOB, told


def policy(name: str, *applies: object, **fields: object) -> str:
    """A policy that says what it applies to; without any, one that does not say it."""
    stated = {"applies": [*applies]} if applies else {}
    head = {"apiVersion": "policykit.io/v1alpha1", "kind": "Policy", "metadata": {"name": name}}
    return json.dumps({**head, "extends": ["profile:hybrid-volcano"], **stated, **fields}, indent=1)


def lint(shell: Shell, files: dict[str, str], *words: str) -> Result:
    shell.write(dict(files))
    return shell.run("lint", "--no-cache", "--select", "PK101", *words)


def judged(shell: Shell, files: dict[str, str], *words: str) -> list[tuple[Any, ...]]:
    """Place and clusters of each finding."""
    return [
        (place, clusters) for place, _, _, clusters in told(lint(shell, files, "--format", "json", *words))
    ]


FLEET = {
    "clusters/dev/policykit.yaml": policy("dev", {"path": "../../apps/gw"}),
    "clusters/prod/policykit.yaml": policy("prod", {"path": "../../apps/gw"}, {"path": "../../plain"}),
    "apps/gw/kustomization.yaml": kustomization(resources=["job.yaml"]),
    "apps/gw/job.yaml": JOB,
    "plain/deep/job.yaml": JOB,
    "other/job.yaml": JOB,
}
BOTH = ("apps/gw/job.yaml:6", ("dev", "prod"))
PROD = ("plain/deep/job.yaml:6", ("prod",))
PATHS = {
    ".": [BOTH, PROD],
    "apps": [BOTH],
    "apps/gw/job.yaml": [BOTH],
    "plain": [PROD],
    "plain/deep/job.yaml": [PROD],
    "other": [],
}


def test_what_a_policy_generates_is_its_own(shell: Shell) -> None:
    """It need not list it: `--require-policy` holds for a whole repository."""
    stated = policy("dev", {"path": "../apps"}, generate={"out": "generated"})
    shell.write({"dev/policykit.yaml": stated, "dev/apart/job.yaml": JOB, "apps/job.yaml": JOB})
    assert shell.run("gen", "--all").code == 0
    words = ("lint", "--no-cache", "--select", "PK101", "--require-policy", "--show-files")
    result = shell.run(*words, "dev/generated", "apps")
    assert (result.code, "no policy" in result.err) == (1, False)
    result = shell.run(*words)
    assert result.code == 2
    (line,) = [line for line in result.err.splitlines() if "no policy applies" in line]
    assert line.startswith("policykit: dev/apart/job.yaml is not judged: ")


@pytest.mark.parametrize(("path", "expected"), PATHS.items(), ids=PATHS)
@pytest.mark.parametrize("form", ["as written", "as built"])
def test_each_cluster_judges_what_it_applies(
    shell: Shell, path: str, expected: list[tuple[Any, ...]], form: str
) -> None:
    fields = {"commonAnnotations": {"a": "b"}} if form == "as built" else {}
    files = {**FLEET, "apps/gw/kustomization.yaml": kustomization(resources=["job.yaml"], **fields)}
    assert judged(shell, files, path) == expected


ARGUMENTS = [
    (["prod"], [("apps/gw/job.yaml:6", ("prod",)), PROD]),
    (["dev"], [("apps/gw/job.yaml:6", ("dev",))]),
    (["dev", "prod"], [BOTH, PROD]),
    (
        ["all"],
        [
            ("apps/gw/job.yaml:6", ("all",)),
            ("other/job.yaml:6", ("all",)),
            ("plain/deep/job.yaml:6", ("all",)),
        ],
    ),
    (
        ["all", "dev"],
        [
            ("apps/gw/job.yaml:6", ("dev",)),
            ("other/job.yaml:6", ("all",)),
            ("plain/deep/job.yaml:6", ("all",)),
        ],
    ),
    (
        ["all", "each"],
        [
            ("apps/gw/job.yaml:6", ("all", "each")),
            ("other/job.yaml:6", ("all", "each")),
            ("plain/deep/job.yaml:6", ("all", "each")),
        ],
    ),
]


@pytest.mark.parametrize(("names", "expected"), ARGUMENTS, ids=lambda value: "+".join(map(str, value))[:30])
def test_a_policy_of_the_command_line_judges_what_it_says_or_everything(
    shell: Shell, names: list[str], expected: list[tuple[Any, ...]]
) -> None:
    files = {**FLEET, "all.yaml": policy("all"), "each.yaml": policy("each")}
    files = {name: text for name, text in files.items() if "yaml" in name}
    for name in ("dev", "prod"):
        files[f"{name}.yaml"] = files[f"clusters/{name}/policykit.yaml"].replace("../../", "")
    words = [word for name in names for word in ("-p", f"{name}.yaml")]
    assert judged(shell, files, *words, "apps", "plain", "other") == expected


TOLERANT = JOB.replace(
    "      restartPolicy: Never\n",
    """\
      restartPolicy: Never
      tolerations:
        - {key: maip.mxsf.io/node.usage, operator: Equal, value: "${KIND}", effect: NoSchedule}
        - {key: nvidia.com/gpu.product, operator: Exists, effect: NoSchedule}
""",
)
WRONG = ["apps/gw/job.yaml:8"]


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ({"substitute": {"KIND": "training"}}, []),
        ({"substitute": {"KIND": "other"}}, WRONG),
        ({"substitute": {"OTHER": "training"}}, WRONG),
        ({"substituteFrom": ["vars.yaml"]}, []),
        ({"substituteFrom": ["vars.yaml"], "substitute": {"KIND": "other"}}, WRONG),
        ({"substituteFrom": ["secret.yaml"]}, []),
        ({"substituteFrom": ["wrong.yaml", "secret.yaml"]}, []),
        ({"substituteFrom": ["secret.yaml", "wrong.yaml"]}, WRONG),
        ({"substituteFrom": ["wrong.yaml", "vars.yaml"]}, []),
    ],
    ids=lambda value: json.dumps(value) if isinstance(value, dict) else "",
)
def test_variables_of_a_cluster(shell: Shell, own: dict[str, Any], expected: list[str]) -> None:
    about = "{apiVersion: v1, metadata: {name: a}, kind: "
    files = {
        "clusters/prod/policykit.yaml": policy("prod", {"path": "../../apps/gw", **own}),
        "clusters/prod/vars.yaml": about + "ConfigMap, data: {KIND: training}}",
        "clusters/prod/wrong.yaml": "KIND: other",
        "clusters/prod/secret.yaml": about + "Secret, stringData: {KIND: other}}",
        "apps/gw/kustomization.yaml": FLEET["apps/gw/kustomization.yaml"],
        "apps/gw/job.yaml": TOLERANT,
    }
    assert [place for place, _ in judged(shell, files, "apps")] == expected


def test_a_base_says_where_its_paths_start(shell: Shell) -> None:
    files = {
        "base/policykit.yaml": policy("base", {"path": "../apps/gw"}),
        "clusters/prod/policykit.yaml": policy("prod").replace(
            "profile:hybrid-volcano", "../../base/policykit.yaml"
        ),
        "apps/gw/kustomization.yaml": FLEET["apps/gw/kustomization.yaml"],
        "apps/gw/job.yaml": JOB,
    }
    assert judged(shell, files) == [("apps/gw/job.yaml:6", ("base", "prod"))]


def test_a_base_without_any_is_no_cluster(shell: Shell) -> None:
    files = {
        "policykit.yaml": policy("base"),
        "job.yaml": JOB,
        "prod/policykit.yaml": policy("prod").replace("profile:hybrid-volcano", "../policykit.yaml"),
        "prod/job.yaml": JOB,
    }
    assert judged(shell, files) == [("prod/job.yaml:6", ("prod",))]
    files = {"policykit.yaml": policy("base", generate={"out": "gen"})}
    assert judged(shell, files) == [("job.yaml:6", ("base",)), ("prod/job.yaml:6", ("prod",))]


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("../../apps/none", "../../apps/none does not exist"),
        ("../../apps/gw/job.yaml", "../../apps/gw/job.yaml is not a folder"),
        ("../../..", "../../.. is outside of the repository"),
    ],
)
def test_what_cannot_be_applied_fails_the_run(shell: Shell, path: str, says: str) -> None:
    result = lint(shell, {**FLEET, "clusters/dev/policykit.yaml": policy("dev", {"path": path})})
    assert result.code == 2
    assert "clusters/dev/policykit.yaml:" in result.err
    assert says in result.err


def test_a_file_that_a_policy_reaches_has_one(shell: Shell) -> None:
    assert lint(shell, FLEET, "--require-policy", "apps", "plain").code == 1
    result = lint(shell, FLEET, "--require-policy", "other")
    assert (result.code, "1 file has no policy" in result.err) == (2, True)
