"""`policykit lint`: input good and bad, scopes, policies and settings."""

from __future__ import annotations

import json

import pytest

from tests.cli.commands import Result, Shell

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: main, image: "registry.example/a:1"}]}
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: registry.example/train:1
        resources: {requests: {cpu: 1, nvidia.com/gpu: 1}}
"""
BROKEN = "a: [\n"
POLICY = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: test}
pools:
  cpu: {nodes: 2, allocatable: {cpu: 8, memory: 32Gi}}
"""
SILENT = "policykit: 1 file has no policy: 44 rules did not run (name one with -p, or see `policykit init`)\n"


def codes(result: Result) -> list[str]:
    """`path CODE` of every finding."""
    lines = [line.split(" ") for line in result.out.splitlines() if not line.startswith("    ")]
    return [f"{words[0].split(':')[0]} {words[1]}" for words in lines]


def test_text_and_summary(shell: Shell) -> None:
    shell.write({"a.yaml": BROKEN, "b.yaml": POD})
    result = shell.run("lint")
    assert result.code == 1
    assert result.out == (
        "a.yaml:1:4: PK001 error: the [ that opens here is never closed [syntax-error]\n"
        "    1 | a: [\n"
        "      |    ^\n"
        "    help: close it with ]\n"
    )
    assert result.err.endswith("1 error (1 object in 2 files)\n")


FINE: dict[str, str | bytes] = {
    "empty": "",
    "only comments": "# nothing\n",
    "empty documents": "---\n---\n...\n",
    "byte order mark": b"\xef\xbb\xbf" + POD.encode(),
    "crlf": POD.replace("\n", "\r\n"),
    "json": json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}),
    "list": "apiVersion: v1\nkind: List\nitems:\n- " + POD.replace("\n", "\n  "),
    "list in a list": "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: List, items: []}]\n",
    "anchors": POD + "x-labels: &l {a: b}\nmetadata: {name: a, labels: *l}\n".replace("metadata", "y-labels"),
    "merge keys": "x: &x {a: b}\ny: {<<: *x, c: d}\n",
    "unknown kind": "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nspec: [1]\n",
    "no kind": "a: 1\n",
    "a list": "- 1\n",
    "text": "hello\n",
    "helm": "{{- if .Values.on }}\nkind: Pod\n{{- end }}\n",
}


@pytest.mark.parametrize("content", FINE.values(), ids=FINE.keys())
def test_fine_input(shell: Shell, content: str | bytes) -> None:
    shell.write({"a.yaml": content})
    result = shell.run("lint", "a.yaml", "--ignore", "PK003,PK008")
    assert (result.code, result.out) == (0, "")


BAD: dict[str, tuple[str | bytes, str]] = {
    "broken": ("a: b: c\n", "a.yaml:1:5: PK001 "),
    "tab": ("a:\n\tb: 1\n", "a.yaml:2:1: PK001 "),
    "duplicate key": ("a: 1\na: 2\n", "a.yaml:2:1: PK002 "),
    "nul": (b"a: 1\nb: \x00\n", "a.yaml:2:4: PK001 "),
    "not utf-8": (b"a: 1\nb: \xe9\n", "a.yaml:2:4: PK001 "),
    "not utf-8 after a byte order mark": (b"\xef\xbb\xbfb: \xe9\n", "a.yaml:1:4: PK001 "),
    "utf-16": ("a: 1\n".encode("utf-16"), "a.yaml:1:1: PK001 "),
    "deep in flow": ("a: " + "[" * 10_000 + "]" * 10_000, "a.yaml:1:203: PK001 "),
    "deep in block": ("\n".join(" " * n + "a:" for n in range(2000)), "a.yaml:201:201: PK001 "),
    "bomb": (
        "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30)),
        "a.yaml:7:20: PK001 ",
    ),
    "bomb of lists": (
        "a0: &a0 {apiVersion: v1, kind: List, items: []}\n"
        + "".join(
            f"a{n}: &a{n} {{kind: List, items: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 30)
        )
        + "kind: List\napiVersion: v1\nitems: [*a29]\n",
        "a.yaml:7:30: PK001 ",
    ),
    "alias without anchor": ("a: *b\n", "a.yaml:1:4: PK001 "),
    "spec is a list": (POD.replace("spec: {", "spec: [{").replace("]}\n", "]}]\n"), "a.yaml:4:1: PK004 "),
    "metadata is text": (POD.replace("{name: a}", "a"), "a.yaml:3:11: PK004 "),
    "labels are a list": (POD.replace("{name: a}", "{name: a, labels: [a]}"), "a.yaml:3:21: PK004 "),
}


@pytest.mark.parametrize(("content", "place"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_a_finding(shell: Shell, content: str | bytes, place: str) -> None:
    shell.write({"a.yaml": content})
    result = shell.run("lint", "a.yaml")
    assert result.code == 1
    assert result.out.startswith(place)


def test_after_a_broken_document_reading_goes_on(shell: Shell) -> None:
    shell.write({"a.yaml": f"{BROKEN}---\n{JOB}"})
    assert codes(shell.run("lint")) == ["a.yaml PK001", "a.yaml PK201"]


def test_a_value_of_a_manifest_neither_breaks_lines_nor_colours_the_terminal(shell: Shell) -> None:
    shell.write({"a.yaml": POD.replace("spec: {", 'spec: {"x\\ny\\e[31m": 1, ')})
    result = shell.run("lint", "a.yaml")
    assert result.out.startswith(r"a.yaml:4:8: PK003 error: unknown field spec.x\ny\x1b[31m [unknown-field]")
    assert len(result.out.splitlines()) == 4
    assert "\x1b" not in result.out


PARTIAL = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: main, image: "registry.example/web:1"}
"""
"""A Deployment without a selector."""


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"a.yaml": PARTIAL}, 1),
        ({"a.yaml": f"# policykit: partial\n{PARTIAL}"}, 0),
        ({"a.yaml": f"{PARTIAL}      - $patch: delete\n        name: x\n"}, 0),
        ({"a.yaml": PARTIAL.replace("image:", "workingDir:")}, 0),
        ({"a.yaml": PARTIAL, "kustomization.yaml": "patches: [{path: a.yaml}]\n"}, 0),
        ({"a.yaml": PARTIAL, "kustomization.yaml": "patchesStrategicMerge: [./a.yaml]\n"}, 0),
        ({"a.yaml": PARTIAL, "kustomization.yaml": "resources: [a.yaml]\n"}, 1),
        ({"a.yaml": POD.replace(', image: "registry.example/a:1"', "")}, 1),
    ],
    ids=[
        "whole",
        "comment",
        "directive",
        "no selector, no image",
        "listed as a patch",
        "listed as a merge",
        "listed as a resource",
        "a pod is never partial by its shape",
    ],
)
def test_nothing_is_missing_from_a_partial_document(
    shell: Shell, files: dict[str, str | bytes], code: int
) -> None:
    shell.write(files)
    assert shell.run("lint", "a.yaml", "--select", "PK004").code == code


def test_what_was_passed_over(shell: Shell) -> None:
    kindless = {"d.yaml": "apiVersion: v1\n", "e.yaml": "kind: Pod\n", "f.yaml": "kind: 5\napiVersion: v1\n"}
    crypt = {"g.yaml": b"\x00GITCRYPT\x00\x8a\xff", "h.yaml": b"age-encryption.org/v1\n\x8a"}
    shell.write({"a.yaml": "a: 1\n", "b.yaml": "{{ x }}\n{{ y }}\n", "c.json": "{}", **kindless, **crypt})
    result = shell.run("lint", "--show-files")
    assert (result.code, result.out) == (0, "")
    assert result.err.splitlines()[:8] == [
        "skipped a.yaml: without apiVersion and kind",
        "skipped b.yaml: a template, YAML only once rendered",
        "skipped c.json: no Kubernetes object",
        "skipped d.yaml: without kind",
        "skipped e.yaml: without apiVersion",
        "skipped f.yaml: without a text as apiVersion or kind",
        "skipped g.yaml: encrypted with git-crypt",
        "skipped h.yaml: encrypted with age",
    ]


def test_the_folder_of_pipelines_as_code_is_known_from_inside(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = "apiVersion: tekton.dev/v1\nkind: Pipeline\nmetadata: {name: build}\n"
    task += "spec: {tasks: [{name: a, taskRef: {name: a}, workspaces: [{name: b, workspace: c}]}]}\n"
    shell.write({".tekton/a.yaml": task, "ci/a.yaml": task})
    for folder, code in ((".tekton", 0), ("ci", 1)):
        monkeypatch.chdir(shell.folder / folder)
        assert shell.run("lint", "--select", "PK004").code == code


def test_a_failure_leaves_everything_else_linted(shell: Shell) -> None:
    shell.write({"a.yaml": BROKEN})
    (shell.folder / "gone.yaml").symlink_to("nowhere")
    result = shell.run("lint", "missing.yaml", "gone.yaml", "a.yaml", "--exit-zero")
    assert result.code == 2
    assert codes(result) == ["a.yaml PK001"]
    assert result.err.splitlines()[:3] == [
        "policykit: missing.yaml: no such file or folder",
        "policykit: gone.yaml: cannot be read: No such file or directory",
        "  help: check the file and its permissions",
    ]


def test_nothing_to_lint_is_fine(shell: Shell) -> None:
    result = shell.run("lint")
    assert result == Result(
        0, "", "policykit: no YAML or JSON files found\nno findings (0 objects in 0 files)\n"
    )


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ([], 1),
        (["--fail-on", "error"], 1),
        (["--exit-zero"], 0),
        (["--ignore", "syntax-error"], 0),
        (["--select", "PK2"], 0),
        (["--select", "PK001,PK2", "--ignore", "PK001"], 0),
        (["--select", "PK99"], 2),
        (["--preset", "loud"], 2),
        (["--ignore", "syntax-eror"], 2),
        (["--fail-on", "none"], 2),
        (["--format", "xml"], 2),
        (["--jobs", "-1"], 2),
        (["--require-policy"], 2),
    ],
    ids=str,
)
def test_exit_codes(shell: Shell, options: list[str], code: int) -> None:
    shell.write({"a.yaml": BROKEN})
    assert shell.run("lint", "a.yaml", *options).code == code


@pytest.mark.parametrize(("fail_on", "code"), [("error", 0), ("warning", 1), ("info", 1)])
def test_fail_on(shell: Shell, fail_on: str, code: int) -> None:
    shell.write({"a.yaml": JOB, "pyproject.toml": "[tool.policykit.lint.severity]\nPK201 = 'warning'\n"})
    assert shell.run("lint", "--fail-on", fail_on).code == code


@pytest.mark.parametrize("settings", ["preset = 'minimal'", "preset = 'strict'", "select = ['PK201']"])
@pytest.mark.parametrize(
    ("preset", "spoken"),
    [
        ("minimal", ["PK201"]),
        ("recommended", ["PK903", "PK201"]),
        ("strict", ["PK903", "PK905", "PK201"]),
    ],
)
def test_a_preset_wins_over_the_settings(shell: Shell, settings: str, preset: str, spoken: list[str]) -> None:
    hidden = JOB.replace("{name: train}", "{name: train} # policykit: ignore[PK117]")
    shell.write({"a.yaml": hidden, "pyproject.toml": f"[tool.policykit.lint]\n{settings}\n"})
    found = codes(shell.run("lint", "--preset", preset))
    assert found == [f"a.yaml {code}" for code in spoken]


def test_info_never_fails(shell: Shell) -> None:
    shell.write({"a.yaml": JOB, "pyproject.toml": "[tool.policykit.lint.severity]\nPK201 = 'info'\n"})
    result = shell.run("lint", "--fail-on", "info")
    assert (result.code, codes(result)) == (0, ["a.yaml PK201"])


def test_silent_rules_are_counted_of_those_selected(shell: Shell) -> None:
    shell.write({"a.yaml": POD})
    assert shell.run("lint").err == f"{SILENT}no findings (1 object in 1 file)\n"
    assert "did not run" not in shell.run("lint", "--select", "PK0").err
    assert "did not run" not in shell.run("lint", "-p", "profile:hybrid-volcano").err


def test_the_nearest_policy_governs_each_file(shell: Shell) -> None:
    shell.write(
        {
            "policykit.yaml": POLICY + "lint: {ignore: [PK201]}\n",
            "a.yaml": JOB,
            "sub/policykit.yaml": POLICY,
            "sub/deep/a.yaml": JOB,
        }
    )
    assert "sub/deep/a.yaml PK201" in codes(shell.run("lint"))
    assert "a.yaml PK201" not in codes(shell.run("lint"))
    assert (
        codes(shell.run("lint", "a.yaml", "sub/deep/a.yaml", "-p", "policykit.yaml", "--select", "ALL")) != []
    )


def test_a_policy_stops_at_the_repository(shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY, "inner/a.yaml": POD})
    (shell.folder / "inner" / ".git").mkdir()
    assert "1 file has no policy" in shell.run("lint", "inner/a.yaml").err


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (BROKEN, "bad/policykit.yaml:"),
        (POLICY + "lint: {select: [PK99]}\n", "bad/policykit.yaml: no rule is called 'PK99'"),
        (POLICY + "poools: {}\n", "bad/policykit.yaml:6:1"),
    ],
    ids=["broken", "unknown rule", "unknown key"],
)
def test_a_bad_policy_fails_the_run_while_the_rest_is_linted(shell: Shell, policy: str, message: str) -> None:
    shell.write({"bad/policykit.yaml": policy, "bad/a.yaml": JOB, "good/a.yaml": JOB})
    result = shell.run("lint", "bad/a.yaml", "good/a.yaml")
    assert result.code == 2
    assert codes(result) == ["bad/a.yaml PK201", "good/a.yaml PK201"]
    assert message in result.err
    assert "1 file has no policy" in result.err


def test_a_policy_of_the_command_line_that_is_not_there(shell: Shell) -> None:
    shell.write({"a.yaml": JOB})
    result = shell.run("lint", "-p", "nope.yaml")
    assert (result.code, codes(result)) == (2, ["a.yaml PK201"])
    assert result.err.startswith("policykit: nope.yaml: cannot be read: No such file or directory\n")


def test_plugins_of_ones_own_are_known_without_a_policy(shell: Shell) -> None:
    configuration = (
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles: [{schedulerName: mine, plugins: {score: {enabled: [{name: Mine}]}}}]\n"
    )
    tiers = "actions: allocate, backfill\ntiers: [{plugins: [{name: gang}, {name: mine}]}]\n"
    for folder in ("usual", "own"):
        shell.write({f"{folder}/k.yaml": configuration, f"{folder}/volcano.yaml": tiers})
    shell.write({"own/pyproject.toml": "[tool.policykit.lint]\nextra-plugins = ['Mine', 'mine']\n"})
    assert codes(shell.run("lint")) == ["usual/k.yaml PK801", "usual/volcano.yaml PK502"]


def test_pyproject_governs_its_own_folder_only(shell: Shell) -> None:
    ignore = "[tool.policykit.lint]\nignore = ['PK201']\n"
    shell.write({"a/pyproject.toml": ignore, "a/a.yaml": JOB, "b/a.yaml": JOB, "c/pyproject.toml": "[x]\n"})
    assert codes(shell.run("lint")) == ["b/a.yaml PK201"]
    assert codes(shell.run("lint", "b", "a")) == ["b/a.yaml PK201"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("[tool.policykit.lint", "not TOML: "),
        ("[tool.policykit.lint]\nfoo = 1\n", "[tool.policykit.lint] has no setting 'foo'"),
        (
            "[tool.policykit.lint]\nper_path = 1\n",
            "[tool.policykit.lint] has no setting 'per_path'\n  help: did you mean per-path?",
        ),
        ("[tool.policykit.lint]\nselect = 'PK1'\n", "[tool.policykit.lint] select must be a list of strings"),
        ("[tool.policykit.lint]\nselect = ['PK99']\n", "no rule is called 'PK99'"),
    ],
    ids=["not TOML", "unknown key", "misspelt key", "not a list", "unknown rule"],
)
def test_bad_settings_fail_the_run_while_the_rest_is_linted(shell: Shell, table: str, message: str) -> None:
    shell.write({"bad/pyproject.toml": table, "bad/a.yaml": JOB, "good/a.yaml": JOB})
    result = shell.run("lint")
    assert (result.code, codes(result)) == (2, ["bad/a.yaml PK201", "good/a.yaml PK201"])
    assert f"policykit: bad/pyproject.toml: {message}" in result.err


def test_excluded_files_alone(shell: Shell) -> None:
    shell.write({"pyproject.toml": "[tool.policykit.lint]\nexclude = ['a.yaml']\n", "a.yaml": BROKEN})
    said = "policykit: no YAML or JSON files found besides those that the settings exclude\n"
    assert shell.run("lint", "--force-exclude", "a.yaml").err.startswith(said)


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["."], ["b.yaml PK001"]),
        (["gen/a.yaml", "b.yaml"], ["b.yaml PK001", "gen/a.yaml PK001"]),
        (["gen/a.yaml", "b.yaml", "--force-exclude"], ["b.yaml PK001"]),
        (["gen"], []),
    ],
    ids=str,
)
@pytest.mark.parametrize("by", ["policy", "pyproject"])
def test_exclude(shell: Shell, by: str, arguments: list[str], found: list[str]) -> None:
    settings = {
        "policy": {"policykit.yaml": POLICY + "lint: {exclude: [gen]}\n"},
        "pyproject": {"pyproject.toml": "[tool.policykit.lint]\nexclude = ['gen']\n"},
    }[by]
    shell.write({**settings, "gen/a.yaml": BROKEN, "b.yaml": BROKEN})
    assert codes(shell.run("lint", *arguments)) == found


GROUP = """\
apiVersion: scheduling.sigs.k8s.io/v1alpha1
kind: PodGroup
metadata: {name: train}
spec: {minMember: 4}
"""


def worker(name: str) -> str:
    return f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata:
      labels: {{app: {name}, pod-group.scheduling.sigs.k8s.io: train}}
    spec:
      schedulerName: koord-scheduler
      containers: [{{name: main, image: "registry.example/a:1"}}]
"""


GANG = {"group.yaml": GROUP, "one.yaml": worker("one"), "two.yaml": worker("two")}


def within(folder: str, files: dict[str, str]) -> dict[str, str | bytes]:
    return {f"{folder}/{name}": text for name, text in files.items()}


@pytest.mark.parametrize("name", GANG)
def test_one_file_of_a_gang_is_seen_with_the_others(shell: Shell, name: str) -> None:
    shell.write(within("app", GANG))
    result = shell.run("lint", f"app/{name}", "--select", "PK3")
    assert (result.code, result.out) == (0, "")


def test_what_is_found_in_a_scope_stands_where_it_is_said(shell: Shell) -> None:
    shell.write(within("app", {"group.yaml": GROUP, "one.yaml": worker("one")}))
    assert codes(shell.run("lint", "app", "--select", "PK3")) == ["app/group.yaml PK301"]
    assert codes(shell.run("lint", "app/group.yaml", "--select", "PK3")) == ["app/group.yaml PK301"]
    assert codes(shell.run("lint", "app/one.yaml", "--select", "PK3")) == []


LAYOUTS: dict[str, tuple[dict[str, str], list[str]]] = {
    "kustomizations do not see each other": (
        {"dev/kustomization.yaml": "resources: [x]\n", "prod/kustomization.yaml": "resources: [x]\n"},
        ["dev/group.yaml PK301", "prod/one.yaml PK306"],
    ),
    "a kustomization that lists both joins them": (
        {
            "dev/kustomization.yaml": "resources: [x]\n",
            "prod/kustomization.yaml": "resources: [x]\n",
            "kustomization.yaml": "resources: [dev, ./prod/]\n",
        },
        [],
    ),
    "charts do not see each other": (
        {"dev/Chart.yaml": "name: a\n", "prod/Chart.yaml": "name: a\n"},
        ["dev/group.yaml PK301", "prod/one.yaml PK306"],
    ),
    "policies do not see each other": (
        {"dev/policykit.yaml": POLICY, "prod/policykit.yaml": POLICY},
        ["dev/group.yaml PK301", "prod/one.yaml PK306"],
    ),
    "one policy above joins them": ({"policykit.yaml": POLICY}, []),
    "the folder argument joins them": ({}, []),
    "an outer file does not see into a kustomization": (
        {"dev/kustomization.yaml": "resources: [x]\n"},
        ["dev/group.yaml PK301", "prod/one.yaml PK306"],
    ),
}


@pytest.mark.parametrize(("layout", "found"), LAYOUTS.values(), ids=LAYOUTS.keys())
def test_scopes(shell: Shell, layout: dict[str, str], found: list[str]) -> None:
    lonely = {"dev/group.yaml": GROUP, "dev/half.yaml": worker("half"), "prod/one.yaml": worker("one")}
    shell.write({**lonely, **layout})
    assert codes(shell.run("lint", ".", "--select", "PK3")) == found


def test_files_alone_stand_in_their_own_folders(shell: Shell) -> None:
    shell.write({"dev/group.yaml": GROUP, "dev/half.yaml": worker("half"), "prod/one.yaml": worker("one")})
    result = shell.run("lint", "dev/group.yaml", "prod/one.yaml", "--select", "PK3")
    assert codes(result) == ["dev/group.yaml PK301", "prod/one.yaml PK306"]


@pytest.mark.parametrize(
    ("options", "kustomization", "found"),
    [
        ([], None, ["a.yaml PK306"]),
        (["--namespace", "team-a"], None, []),
        ([], "namespace: team-a\nresources: [a.yaml, g.yaml]\n", []),
        (["--namespace", "default"], "namespace: team-a\nresources: [a.yaml]\n", ["a.yaml PK306"]),
    ],
    ids=["default", "option", "kustomization", "the option wins"],
)
def test_where_objects_without_a_namespace_stand(
    shell: Shell, options: list[str], kustomization: str | None, found: list[str]
) -> None:
    group = GROUP.replace("name: train", "name: train, namespace: team-a").replace("4", "2")
    shell.write({"a.yaml": worker("one"), "g.yaml": group})
    if kustomization:
        shell.write({"kustomization.yaml": kustomization})
    assert codes(shell.run("lint", "a.yaml", "--select", "PK306", *options)) == found


def test_findings_keep_the_namespace_null(shell: Shell) -> None:
    shell.write({"a.yaml": JOB})
    result = shell.run("lint", "--format", "json", "--namespace", "team-a")
    assert json.loads(result.out)["findings"][0]["resource"]["namespace"] is None


def test_output_goes_to_a_file(shell: Shell) -> None:
    shell.write({"a.yaml": BROKEN, "there.txt": "old"})
    (shell.folder / "link.txt").symlink_to("there.txt")
    for name in ("new/report.txt", "link.txt"):
        result = shell.run("lint", "a.yaml", "--output", name)
        assert (result.code, result.out) == (1, "")
        assert (shell.folder / name).read_text().startswith("a.yaml:1:4: PK001 ")
    assert (shell.folder / "link.txt").is_symlink()
    assert sorted(p.name for p in shell.folder.iterdir() if p.name.startswith(".policykit")) == []


def test_output_that_cannot_be_written(shell: Shell) -> None:
    shell.write({"a.yaml": BROKEN})
    result = shell.run("lint", "a.yaml", "--output", "a.yaml/report.txt")
    assert result.code == 2
    assert result.err.startswith("policykit: a.yaml/report.txt: cannot be written: ")
    assert (shell.folder / "a.yaml").read_text() == BROKEN


def test_several_formats_in_one_run(shell: Shell) -> None:
    shell.write({"a.yaml": BROKEN})
    result = shell.run(
        "lint", "--format", "concise", "--format", "json=out.json", "--format", "sarif=out.sarif"
    )
    assert result.out == "a.yaml:1:4: PK001 error: the [ that opens here is never closed [syntax-error]\n"
    assert (
        json.loads((shell.folder / "out.json").read_text(encoding="utf-8"))["findings"][0]["code"] == "PK001"
    )
    assert (
        json.loads((shell.folder / "out.sarif").read_text(encoding="utf-8"))["runs"][0]["results"][0][
            "ruleId"
        ]
        == "PK001"
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--format", "sarfi"], "unknown format 'sarfi'"),
        (["--format", "json="], "--format json= names no file"),
        (["--format", "text", "--format", "json"], "formats text and json would both go to standard output"),
        (
            ["--format", "json=a", "--output", "b"],
            "--output applies to a format without a file, but every format has one",
        ),
        (
            ["--format", "json=a", "--format", "sarif=./a"],
            "formats json and sarif would both be written to ./a",
        ),
        (["--format", "json", "--format", "json=a", "--output", "a"], "formats json and json would both be"),
    ],
)
def test_formats_that_do_not_go_together(shell: Shell, words: list[str], says: str) -> None:
    result = shell.run("lint", *words)
    assert result.code == 2
    assert says in result.err


def test_numbers_on_standard_error(shell: Shell) -> None:
    shell.write({"a.yaml": BROKEN, "b.yaml": BROKEN})
    result = shell.run("lint", "--statistics", "--timings", "--format", "concise")
    assert "\n2  PK001  syntax-error\n" in result.err
    assert result.err.endswith(" ms  all rules\n")
    assert result.out.count("\n") == 2


def test_the_summary_of_a_step(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.write({"a.yaml": BROKEN, "summary.md": "before\n"})
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    result = shell.run("lint", "a.yaml", "--format", "github")
    assert result.out.startswith("::error file=a.yaml,line=1,endLine=1,col=4,")
    assert (
        (shell.folder / "summary.md")
        .read_text(encoding="utf-8")
        .startswith("before\n### policykit\n\n1 error\n")
    )


@pytest.mark.parametrize(("color", "on"), [("always", True), ("never", False), ("auto", False)])
def test_colours(shell: Shell, color: str, on: bool) -> None:
    shell.write({"a.yaml": BROKEN})
    assert ("\x1b[1;31mPK001" in shell.run("lint", "--color", color).out) is on


def test_a_queue_that_a_template_defines_is_not_unknown(shell: Shell) -> None:
    queue = (
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: NAME, namespace: default}\n"
    )
    job = JOB.replace("{name: train}", "{name: train, labels: {kueue.x-k8s.io/queue-name: user-queue}}")
    shell.write({"queue.yaml": queue.replace("NAME", "usr-queue"), "job.yaml": job})
    assert "no file here defines LocalQueue default/user-queue" in shell.run("lint", ".").out
    shell.write({"queue.yaml.tftpl": queue.replace("NAME", '"user-queue"')})
    assert "PK401" not in shell.run("lint", ".").out


@pytest.mark.parametrize(
    ("kustomization", "found"),
    [
        ("", ["on", "off", "true"]),
        ("resources: [class.yaml]\n", ["true"]),
        ("resources: [class.yaml]\nnamePrefix: a-\nhelmCharts: [{name: x}]\n", ["true"]),
    ],
    ids=["no kustomization", "a plain one", "one that is not built"],
)
def test_words_that_kustomize_reads_as_text(shell: Shell, kustomization: str, found: list[str]) -> None:
    """`kustomize build` writes `dedup: "off"`, where kubectl reads a boolean."""
    text = (
        "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata:\n  name: zfs\n  labels:\n    fast: on\n"
        "provisioner: zfs.csi.example.com\nparameters:\n  dedup: off\n  shared: true\n"
    )
    shell.write({"class.yaml": text})
    if kustomization:
        shell.write({"kustomization.yaml": kustomization})
    findings = json.loads(shell.run("lint", "--format", "json").out)["findings"]
    lines = text.splitlines()
    assert [lines[one["line"] - 1].partition(": ")[2] for one in findings] == found


@pytest.mark.parametrize("words", [["lint"], ["gen"], ["plan"], ["patch", "a.yaml"]], ids=" ".join)
def test_a_policy_with_the_wrong_name(shell: Shell, words: list[str]) -> None:
    shell.write({"policykit.yml": "a: 1\n", "a.yaml": POD})
    assert "rename policykit.yml to policykit.yaml" in shell.run(*words).err


def test_a_date_among_the_rules_of_a_suppression(shell: Shell) -> None:
    shell.write({"a.yaml": f"# policykit: ignore[PK201 until 2030-12-31] -- why\n{POD}"})
    found = shell.run("lint", "--select", "PK903").out
    assert "PK903 warning: unknown rule '2030-12-31'" in found
    assert "help: write the date after the bracket: ignore[RULES] until 2030-12-31 -- why\n" in found
