"""`policykit patch`: files, standard input, what is written where, and what fails."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.commands import Result, Shell, commit, process

HYBRID = ("-p", "profile:hybrid-volcano")
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: NAME, labels: {policykit.io/workload: training}}
spec:
  containers:
  - {name: a, image: 'registry.example/a:1', resources: {limits: {nvidia.com/gpu: 1}}}
"""
A, B = POD.replace("NAME", "a"), POD.replace("NAME", "b")
WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {containers: [{name: a, image: 'registry.example/a:1'}]}
"""
POLICY = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: test}
extends: [profile:hybrid-volcano]
queues: {research: {weight: 2}}
"""


@pytest.fixture
def files(shell: Shell) -> Shell:
    shell.write({"a.yaml": A, "b.yaml": B, "web.yaml": WEB})
    return shell


def placed(text: str) -> int:
    """How many pods have got tolerations."""
    return text.count("tolerations:")


def test_a_file_on_standard_output(files: Shell) -> None:
    result = files.run("patch", *HYBRID, "a.yaml")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(A)
    assert "  schedulerName: volcano\n" in result.out
    assert placed(result.out) == 1


def test_files_come_out_as_one_stream(files: Shell) -> None:
    files.write({"c.yaml": b"\xef\xbb\xbf" + WEB.rstrip("\n").encode(), "d.yaml": f"---\n{WEB}"})
    result = files.run("patch", *HYBRID, "web.yaml", "c.yaml", "d.yaml")
    # In the order they are given. A byte order mark stands at the beginning of a stream, or nowhere.
    assert result.out == f"{WEB}---\n{WEB}---\n{WEB}"
    assert files.run("patch", *HYBRID, "c.yaml", "./c.yaml").out == f"\ufeff{WEB}".rstrip("\n")


def test_in_place_writes_what_changes_and_says_so(files: Shell) -> None:
    os.chmod(files.folder / "a.yaml", 0o600)
    before = (files.folder / "web.yaml").stat().st_mtime_ns
    result = files.run("patch", *HYBRID, "--in-place", ".")
    assert result == (0, "", "a.yaml: Pod/a\nb.yaml: Pod/b\npolicykit: 2 files written\n")
    assert placed((files.folder / "a.yaml").read_text()) == 1
    assert (files.folder / "a.yaml").stat().st_mode & 0o777 == 0o600
    assert (files.folder / "web.yaml").stat().st_mtime_ns == before
    assert files.run("patch", *HYBRID, "--in-place", ".") == (0, "", "policykit: 0 files written\n")


def test_one_file_by_two_names_is_written_once(files: Shell) -> None:
    os.symlink("a.yaml", files.folder / "link.yaml")
    result = files.run("patch", *HYBRID, "--in-place", "link.yaml", "a.yaml")
    assert result == (0, "", "link.yaml: Pod/a\npolicykit: 1 file written\n")
    assert placed((files.folder / "a.yaml").read_text()) == 1
    assert (files.folder / "link.yaml").is_symlink()


def test_in_place_writes_all_or_none(files: Shell) -> None:
    os.chmod(files.folder / "b.yaml", 0o444)
    result = files.run("patch", *HYBRID, "--in-place", ".")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("policykit: b.yaml: cannot be written: the file is read-only\n")
    assert (files.folder / "a.yaml").read_text() == A


def test_in_place_writes_no_pipe(files: Shell) -> None:
    result = process("patch", *HYBRID, "--in-place", "/dev/stdin", cwd=files.folder, stdin=A.encode())
    assert result == (2, "", "policykit: /dev/stdin: is not a regular file\n  help: omit --in-place\n")


def test_a_diff_writes_nothing(files: Shell) -> None:
    result = files.run("patch", *HYBRID, "--diff", ".")
    assert result.code == 0
    assert result.out.startswith("--- a/a.yaml\n+++ b/a.yaml\n@@ -4,3 +4,35 @@\n spec:\n")
    assert (files.folder / "a.yaml").read_text() == A
    assert "web" not in result.out


def test_nothing_is_printed_or_written_unless_all_succeed(files: Shell) -> None:
    files.write({"z.yaml": "a: b: c\n"})
    expected = (
        2,
        "",
        "policykit: z.yaml:1:5: not YAML: mapping values are not allowed in this context\n"
        "  help: correct it: nothing was written\n",
    )
    assert files.run("patch", *HYBRID, "a.yaml", "z.yaml") == expected
    assert files.run("patch", *HYBRID, "--in-place", ".") == expected
    assert files.run("patch", *HYBRID, "--diff", ".") == expected
    assert (files.folder / "a.yaml").read_text() == A


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--workload", "trainng"),
            "the policy has no workload kind 'trainng'\n  help: did you mean 'training'?",
        ),
        (("--card", "h200"), "the policy has no card 'h200'\n  help: did you mean 'h20'?"),
        (
            ("--queue", "zzz"),
            "the policy has no queue 'zzz'\n  help: choose one of default, root, root.default",
        ),
        (("--only", "pod/c"), "there is no object pod/c\n  help: did you mean 'Pod/a'?"),
        (("--only", "Deployment/web"), "there is no object Deployment/web\n  help: choose one of Pod/a"),
        (("--only", "web"), "--only takes KIND/NAME, not 'web'\n  help: for example Deployment/web"),
        (("--in-place", "--diff"), "--in-place and --diff cannot be combined\n  help: use only one of them"),
        (
            ("--in-place", "-"),
            "--in-place needs files, not standard input\n  help: name the files, or omit --in-place",
        ),
        (("nowhere",), "nowhere: no such file or folder\n  help: check the path"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_what_is_asked_for_must_make_sense(files: Shell, words: tuple[str, ...], message: str) -> None:
    result = files.run("patch", *HYBRID, "a.yaml", *words)
    assert result == (2, "", f"policykit: {message}\n")


def test_only_names_what_is_patched(files: Shell) -> None:
    result = files.run("patch", *HYBRID, "a.yaml", "b.yaml", "--only", "pod/b")
    assert result.out.startswith(f"{A}---\n{B}")
    assert placed(result.out) == 1


@pytest.mark.parametrize(
    ("text", "only", "message"),
    [
        ("apiVersion: v1\nkind: Service\nmetadata: {name: s}\n", "Service/s", "makes no pods"),
        (WEB, "Deployment/web", "has no recognizable workload kind"),
        (f"# policykit: partial\n{A}", "Pod/a", "is a fragment, not a whole object"),
    ],
    ids=["no pods", "no kind", "partial"],
)
def test_what_is_named_must_be_patched(shell: Shell, text: str, only: str, message: str) -> None:
    shell.write({"a.yaml": text})
    result = shell.run("patch", *HYBRID, "a.yaml", "--only", only)
    assert (result.code, result.out) == (2, "")
    assert f"{only} {message}\n  help: " in result.err


def test_the_workload_kind_named(files: Shell) -> None:
    assert placed(files.run("patch", *HYBRID, "web.yaml", "--workload", "training").out) == 0
    named = files.run("patch", *HYBRID, "web.yaml", "--workload", "training", "--only", "Deployment/web")
    assert named.out.count("policykit.io/workload: training") == 2
    forced = files.run("patch", *HYBRID, "a.yaml", "--workload", "inference")
    assert "policykit.io/workload: inference" in forced.out
    assert "- inference\n" in forced.out


def test_the_nearest_policy_governs_each_file(shell: Shell) -> None:
    shell.write(
        {
            "one/policykit.yaml": POLICY,
            "two/policykit.yaml": POLICY.replace("queues:", "domain: example.org\nqueues:"),
            "one/a.yaml": A,
            "two/a.yaml": A,
        }
    )
    result = shell.run("patch", "one/a.yaml", "two/a.yaml", "--queue", "research")
    assert result.code == 0
    assert "key: maip.mxsf.io/node.usage" in result.out.split("---\n")[0]
    assert "key: example.org/node.usage" in result.out.split("---\n")[1]
    assert result.out.count("scheduling.volcano.sh/queue-name: research") == 2


def test_without_a_policy_nothing_is_done(files: Shell) -> None:
    assert files.run("patch", "a.yaml") == (
        2,
        "",
        "policykit: a.yaml: no policy in this or any parent folder\n"
        "  help: name one with -p, or see `policykit init`\n",
    )


def test_the_namespace_recognises(shell: Shell) -> None:
    shell.write(
        {
            "policykit.yaml": POLICY + "workloads:\n  training:\n    match: [{namespaces: [ml]}]\n",
            "web.yaml": WEB,
        }
    )
    assert "policykit.io/workload" not in shell.run("patch", "web.yaml").out
    assert "policykit.io/workload: training" in shell.run("patch", "web.yaml", "--namespace", "ml").out


def test_the_namespace_of_the_kustomization_recognises(shell: Shell) -> None:
    shell.write(
        {
            "policykit.yaml": POLICY + "workloads:\n  training:\n    match: [{namespaces: [ml]}]\n",
            "web.yaml": WEB,
            "kustomization.yaml": "namespace: ml\nresources: [web.yaml]\n",
        }
    )
    assert "policykit.io/workload: training" in shell.run("patch", "web.yaml").out


def filtered(tmp_path: Path, text: str | bytes, *words: str) -> Result:
    raw = text if isinstance(text, bytes) else text.encode()
    return process("patch", *words, cwd=tmp_path, stdin=raw)


def test_standard_input_is_what_is_read_by_default(tmp_path: Path) -> None:
    result = filtered(tmp_path, A, *HYBRID)
    assert (result.code, result.err) == (0, "")
    assert filtered(tmp_path, A, *HYBRID, "-") == result
    assert filtered(tmp_path, result.out, *HYBRID) == result


def test_standard_input_has_a_name_and_a_policy(tmp_path: Path) -> None:
    (tmp_path / "charts").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / "charts" / "policykit.yaml").write_text(POLICY)
    named = ("--stdin-filename", "charts/a.yaml")
    assert placed(filtered(tmp_path, A, *named).out) == 1
    assert filtered(tmp_path, "{", *named).err.startswith("policykit: charts/a.yaml:")
    assert filtered(tmp_path, A).code == 2


@pytest.mark.parametrize("text", ["", "\n", "# words\n", "---\n", WEB.replace("\n", "\r\n"), "\ufeff" + WEB])
def test_what_has_no_workloads_comes_out_as_it_went_in(tmp_path: Path, text: str) -> None:
    assert filtered(tmp_path, text, *HYBRID) == (0, text, "")


def test_it_is_among_the_commands(shell: Shell) -> None:
    result = shell.run("--help")
    assert "  patch " in result.out
    assert "  krm " in result.out


GANGS = POLICY + (
    "scheme: {topology: {rack: example.com/rack}}\n"
    "workloads: {training: {gang: all, within: {level: rack, mode: hard}, scheduler: koord-scheduler}}\n"
    "targets: {koordinator: {}}\n"
)
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: NAME}
spec:
  parallelism: 4
  template:
    metadata: {labels: {policykit.io/workload: training}}
    spec:
      restartPolicy: Never
      containers:
      - {name: a, image: 'registry.example/a:1', resources: {limits: {nvidia.com/gpu: 1}}}
"""


def test_a_pod_group_is_added_behind_its_job(shell: Shell) -> None:
    shell.write({"policykit.yaml": GANGS, "a.yaml": JOB.replace("NAME", "a"), "b.yaml": WEB})
    result = shell.run("patch", "--in-place", ".")
    assert result == (0, "", "a.yaml: Job/a, PodGroup/a\npolicykit: 1 file written\n")
    text = (shell.folder / "a.yaml").read_text()
    assert text.split("---\n")[1] == (
        "apiVersion: scheduling.sigs.k8s.io/v1alpha1\n"
        "kind: PodGroup\n"
        "metadata:\n"
        "  name: a\n"
        "  annotations:\n"
        "    gang.scheduling.koordinator.sh/network-topology-spec:\n"
        '      "{\\"gatherStrategy\\":[{\\"layer\\":\\"rack\\",\\"strategy\\":\\"MustGather\\"}]}"\n'
        "  labels:\n"
        "    policykit.io/workload: training\n"
        "spec:\n"
        "  minMember: 4\n"
    )
    assert shell.run("patch", "--in-place", ".") == (0, "", "policykit: 0 files written\n")


def test_a_pod_group_of_another_file_is_not_added_again(shell: Shell) -> None:
    shell.write({"policykit.yaml": GANGS, "a.yaml": JOB.replace("NAME", "a")})
    shell.run("patch", "--in-place", ".")
    job, group = (shell.folder / "a.yaml").read_text().split("---\n")
    shell.write({"a.yaml": job, "groups.yaml": group})
    assert shell.run("patch", "--in-place", ".") == (0, "", "policykit: 0 files written\n")
    shell.write({"prod/a.yaml": job})
    result = shell.run("patch", "--in-place", ".")
    assert result.err == "prod/a.yaml: PodGroup/a\npolicykit: 1 file written\n"


def test_where_no_document_can_follow_it_is_told(shell: Shell) -> None:
    item = "- " + JOB.replace("NAME", "a").replace("\n", "\n  ").rstrip(" ")
    shell.write({"policykit.yaml": GANGS, "a.yaml": f"apiVersion: v1\nkind: List\nitems:\n{item}"})
    result = shell.run("patch", "a.yaml")
    assert result.err == (
        "policykit: a.yaml: PodGroup/a is needed next to its workload, but this file cannot contain another"
        " document: add it yourself\n"
    )
    assert "pod-group.scheduling.sigs.k8s.io: a" in result.out


def test_what_a_scheduler_cannot_be_told_is_said_once(shell: Shell) -> None:
    policy = GANGS.replace("mode: hard}", "mode: hard}, across: {level: node}").replace(
        "scheduler: koord-scheduler", "scheduler: volcano"
    )
    deployment = WEB.replace(
        "metadata: {labels: {a: b}}", "metadata: {labels: {policykit.io/workload: training}}"
    )
    web = deployment.replace("spec:\n  selector", "spec:\n  replicas: 3\n  selector")
    shell.write({"policykit.yaml": policy, "a.yaml": web, "b.yaml": web})
    result = shell.run("patch", ".")
    assert result.code == 0
    assert result.err == (
        "policykit: a.yaml:1:1: Deployment/web: each ReplicaSet of a Deployment is a gang of its own, so 3"
        " new pods start together or not at all: roll out with strategy Recreate, or maxSurge 100%\n"
    )


def test_what_the_policy_of_a_revision_wrote_is_taken_out(shell: Shell) -> None:
    """The domain changed: without --from the old and the new affinity would exclude each other."""
    shell.write({"policykit.yaml": POLICY, "a.yaml": A})
    shell.run("patch", "a.yaml", "--workload", "training", "--in-place")
    commit(shell.folder)
    new = POLICY + "domain: new.example.com\n"
    shell.write({"policykit.yaml": new, "old.yaml": POLICY})
    refused = shell.run("patch", "a.yaml", "--in-place")
    assert (refused.code, refused.out) == (2, "")
    assert "requires maip.mxsf.io/node.usage In training, hybrid" in refused.err
    by_file = shell.run("patch", "a.yaml", "--from", "old.yaml")
    by_revision = shell.run("patch", "a.yaml", "--from", "HEAD")
    assert (by_file.code, by_revision) == (0, by_file)
    assert "new.example.com/node.usage" in by_file.out
    assert "maip.mxsf.io" not in by_file.out


@pytest.mark.parametrize(
    ("policy", "message"),
    [("policykit.yaml", "git does not know the commit 'nope'"), ("other.yaml", "HEAD has no such policy")],
)
def test_an_earlier_policy_that_does_not_exist(shell: Shell, policy: str, message: str) -> None:
    shell.write({"policykit.yaml": POLICY, "a.yaml": A})
    commit(shell.folder)
    shell.write({"other.yaml": POLICY})
    revision = "nope" if policy == "policykit.yaml" else "HEAD"
    found = shell.run("patch", "a.yaml", "-p", policy, "--from", revision)
    assert (found.code, found.out) == (2, "")
    assert message in found.err
