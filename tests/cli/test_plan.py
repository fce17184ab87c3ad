"""`policykit plan`: what it is compared with, its formats, and exit codes."""

from __future__ import annotations

import json
import shlex
import subprocess
from typing import Any

import pytest
import yaml

from tests.cli.commands import Shell, commit
from tests.importer.cluster_files import as_file
from tests.importer.unusual_nodes import node, with_cards

POLICY = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: demo}
domain: a.example.com
coverage: complete
cards: {h20: {product: NVIDIA-H20}}
pools:
  train: {usage: training, card: h20, nodes: {names: ["t[1-4]"]}}
  infer: {usage: inference, card: h20, nodes: {names: ["i[1-4]"]}}
workloads:
  training: {usages: [training]}
  inference: {usages: [inference], queue: product, scheduler: volcano}
queues: {product: {}}
targets: {volcano: {version: 1.15.1}}
generate: {out: generated}
"""
MOVED = POLICY.replace("t[1-4]", "t[1-3]").replace('"i[1-4]"', '"i[1-4]", t4')
CONFLICT = f"<<<<<<< HEAD\n{POLICY}=======\n{MOVED}>>>>>>> topic\n"
CHAT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat, namespace: ml}
spec:
  replicas: 2
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat, policykit.io/workload: KIND}}
    spec:
      containers:
        - name: a
          image: registry.example/a:1
          resources: {requests: {cpu: 1, memory: 1Gi}, limits: {nvidia.com/gpu: 1}}
"""


VARIABLES = ("CI_MERGE_REQUEST_DIFF_BASE_SHA", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "GITHUB_BASE_REF")


@pytest.fixture
def repository(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """The policy with its manifests, committed."""
    for variable in (
        "CI_MERGE_REQUEST_DIFF_BASE_SHA",
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME",
        "GITHUB_BASE_REF",
    ):
        monkeypatch.delenv(variable, raising=False)
    shell.write(
        {
            "policykit.yaml": POLICY,
            "apps/chat.yaml": CHAT.replace("KIND", "inference"),
            "apps/train.yaml": CHAT.replace("KIND", "training").replace("chat", "train"),
        }
    )
    assert shell.run("patch", "--in-place", "apps").code == 0
    commit(shell.folder)
    return shell


TEXT = """\
policy demo, from HEAD

What changes
  ~   pool train: nodes 4 -> 3
  ~   pool infer: nodes 4 -> 5

Who is affected (2 pod sets judged)
  fewer nodes: Deployment ml/train (apps/train.yaml): lands on 3 nodes with 24 cards (train); before \
on 4 nodes with 32 cards (train)

The way there
  In this order no pod set has fewer accepting nodes than before or after, whichever are fewer.
  1. merge: the new policy, and its manifests.
     $ policykit gen
     # check: kubectl get pods --all-namespaces --field-selector=status.phase=Pending
  2. on nodes: 1 node moves from pool train to infer.
     $ kubectl label nodes --overwrite \\
       t4 \\
       a.example.com/node.usage=inference
     $ kubectl taint nodes --overwrite \\
       t4 \\
       a.example.com/node.usage=inference:NoSchedule
     # check: policykit nodes --check nodes.json  # kubectl get nodes -o json > nodes.json
"""


def test_the_work_tree_against_head(repository: Shell) -> None:
    same = repository.run("plan")
    assert (same.code, same.out.splitlines()[2], same.out.splitlines()[-1].strip()) == (
        *(0, "The policy does not change.", "There is nothing to do."),
    )
    repository.write({"policykit.yaml": MOVED})
    result = repository.run("plan")
    assert (result.code, result.out) == (1, TEXT)
    why = "there is no default branch of a remote, so changes that are not committed are shown"
    assert result.err == f"policykit: compared with HEAD: {why}\n"


def test_a_file_instead_of_a_revision(repository: Shell) -> None:
    repository.write({"old.yaml": POLICY, "policykit.yaml": MOVED})
    by_file, by_revision = (
        repository.run("plan", "--from", "old.yaml"),
        repository.run("plan", "--from", "HEAD"),
    )
    assert by_file.out == by_revision.out.replace("from HEAD", "from old.yaml")
    assert (by_file.code, by_file.err) == (1, "")


def test_the_manifests_are_those_of_the_revision(repository: Shell) -> None:
    """A workload that changes without the policy is compared, too."""
    chat = (repository.folder / "apps/chat.yaml").read_text()
    repository.write({"apps/chat.yaml": chat.replace("value: inference", "value: batch")})
    result = repository.run("plan")
    assert result.code == 1
    assert "nowhere: Deployment ml/chat (apps/chat.yaml): lands nowhere; before on 4 nodes" in result.out
    assert repository.run("plan", "apps/train.yaml").code == 0


JOINED = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: big, namespace: ml}
spec: {minMember: 4}
---
apiVersion: batch/v1
kind: Job
metadata: {name: big, namespace: ml}
spec:
  parallelism: 4
  completions: 4
  template:
    metadata: {annotations: {scheduling.k8s.io/group-name: big}}
    spec:
      schedulerName: volcano
      restartPolicy: Never
      nodeSelector: {a.example.com/node.usage: training}
      tolerations: [{operator: Exists}]
      containers:
        - {name: a, image: registry.example/a:1, resources: {limits: {nvidia.com/gpu: 8}}}
"""


@pytest.mark.parametrize("source", ["HEAD", "old.yaml"])
def test_a_gang_that_pods_join_by_name(repository: Shell, source: str) -> None:
    repository.write({"apps/big.yaml": JOINED, "old.yaml": POLICY})
    commit(repository.folder)
    repository.write({"policykit.yaml": MOVED})
    result = repository.run("plan", "--from", source)
    message = "the gang of 4 pods no longer fits: its nodes hold 3, before 4"
    assert f"  gang: Job ml/big (apps/big.yaml): {message}\n" in result.out
    repository.write({"apps/big.yaml": JOINED.replace("minMember: 4", "minMember: 3")})
    assert "no longer fits" not in repository.run("plan", "--from", source).out


@pytest.mark.parametrize(
    ("variable", "value", "revision"),
    [
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", "SHA", "SHA"),
        ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main", "origin/main..."),
        ("GITHUB_BASE_REF", "main", "origin/main..."),
    ],
)
def test_the_base_that_a_platform_names(
    repository: Shell, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, revision: str
) -> None:
    base = git(repository, "rev-parse", "HEAD")
    git(repository, "update-ref", "refs/remotes/origin/main", base)
    repository.write({"policykit.yaml": MOVED})
    commit(repository.folder)
    monkeypatch.setenv(variable, value.replace("SHA", base))
    result = repository.run("plan")
    assert result.code == 1
    assert (
        f"compared with {revision.replace('SHA', base)}: the base of the merge request ({variable})"
        in result.err
    )


def test_where_the_branch_left_the_default_branch(repository: Shell) -> None:
    base = git(repository, "rev-parse", "HEAD")
    git(repository, "update-ref", "refs/remotes/origin/main", base)
    git(repository, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    assert "HEAD is part of origin/main, so changes that are not committed" in repository.run("plan").err
    repository.write({"policykit.yaml": MOVED})
    commit(repository.folder)
    result = repository.run("plan")
    assert (result.code, result.err) == (
        1,
        "policykit: compared with origin/main...: where HEAD left origin/main\n",
    )


def git(shell: Shell, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=shell.folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_without_history_it_fails_with_the_command_that_fetches_it(
    repository: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_BASE_REF", "main")
    result = repository.run("plan")
    assert (result.code, result.out) == (2, "")
    assert "git does not know the commit 'origin/main'\n" in result.err
    assert "or fetch it: `git fetch origin main:refs/remotes/origin/main`; CI often" in result.err


SHALLOW = """\
policykit: FOLDER: is a shallow clone that does not know the default branch of its remote
  help: name the base with --from, or fetch it: `COMMAND`
"""


@pytest.mark.parametrize(
    ("variable", "command"),
    [
        (
            "",
            "git remote set-branches origin '*' && git fetch --unshallow origin"
            " && git remote set-head origin --auto",
        ),
        ("GITHUB_BASE_REF", "git fetch --unshallow origin main:refs/remotes/origin/main"),
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", "git fetch origin SHA"),
    ],
)
def test_a_shallow_clone_of_a_branch_compares_nothing_until_the_command_was_run(
    repository: Shell, monkeypatch: pytest.MonkeyPatch, variable: str, command: str
) -> None:
    """As CI clones it: without a remote's default branch, HEAD would be compared with itself."""
    base = git(repository, "rev-parse", "HEAD")
    git(repository, "branch", "-M", "main")
    git(repository, "checkout", "-q", "-b", "feature")
    repository.write({"policykit.yaml": MOVED})
    commit(repository.folder)
    git(repository, "checkout", "-q", "main")
    url = f"file://{repository.folder}"
    git(repository, "clone", "-q", "--depth", "1", "--branch", "feature", url, "clone")
    repository.cd("clone")
    if variable:
        monkeypatch.setenv(variable, "main" if variable.startswith("GITHUB") else base)
    result = repository.run("plan")
    command = command.replace("SHA", base)
    assert (result.code, result.out) == (2, "")
    assert f"fetch it: `{command}`" in result.err
    if not variable:
        folder = str(repository.folder / "clone")
        assert result.err == SHALLOW.replace("FOLDER", folder).replace("COMMAND", command)
    subprocess.run(command, shell=True, cwd=repository.folder / "clone", check=True, capture_output=True)
    result = repository.run("plan")
    assert "pool train: nodes 4 -> 3" in result.out


def test_json(repository: Shell) -> None:
    repository.write({"policykit.yaml": MOVED})
    data = json.loads(repository.run("plan", "--format", "json").out)
    assert data["summary"] == {
        "safe": True,
        "one_merge": False,
        "harmless": False,
        "pod_sets": 2,
        "gangs": 0,
        "not_judged": 0,
    }
    assert data["changes"][0] == {
        "sign": "~",
        "what": "pool",
        "name": "train",
        "details": ["nodes 4 -> 3"],
        "note": None,
    }
    assert (data["effects"][0]["nodes"], data["effects"][0]["cards"]) == (
        {"before": 4, "after": 3},
        {"before": 32, "after": 24},
    )
    assert [step["when"] for step in data["steps"]] == ["merge", "on nodes"]


TAINTED = POLICY.replace('{names: ["t[1-4]"]}}', '{names: ["t[1-4]"]}, taints: ["repair=now:NoExecute"]}')


def pod(name: str, on: str, **toleration: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "ml"},
        "spec": {"nodeName": on, "tolerations": [toleration] if toleration else []},
        "status": {"phase": "Running"},
    }


def test_running_pods_and_what_a_taint_evicts(repository: Shell) -> None:
    pods = [pod("one", "t1"), pod("two", "t2", key="repair", operator="Exists"), pod("three", "i1")]
    repository.write(
        {
            "policykit.yaml": TAINTED,
            "pods.json": json.dumps({"kind": "List", "apiVersion": "v1", "items": pods}),
        }
    )
    assert repository.run("patch", "--from", "HEAD", "--in-place", "apps").code == 0
    result = repository.run("plan", "--pods", "pods.json")
    assert "evicted: Pod ml/one: runs on t1: taint repair=now:NoExecute evicts it\n" in result.out
    assert "on moved nodes: Pod ml/two: keeps running on t2, which changes" in result.out
    assert "three" not in result.out
    assert "NoExecute evicts running pods that do not tolerate the taint, at once." in result.out


def test_live_nodes_give_the_names_of_pools_that_are_counted(repository: Shell) -> None:
    counted = POLICY.replace('{names: ["i[1-4]"]}', "2")
    repository.write({"policykit.yaml": counted})
    commit(repository.folder)
    usage = {"a.example.com/node.usage": "inference", "nvidia.com/gpu.product": "NVIDIA-H20"}
    taints = [("a.example.com/node.usage", "inference", "NoSchedule")]
    live = [node(f"x{n}", usage, taints, with_cards(8)) for n in (1, 2)]
    changed = counted.replace("usage: inference, card: h20", "usage: inference, card: h20, labels: {team: a}")
    repository.write({"policykit.yaml": changed, "nodes.json": as_file(live)})
    assert "  x1 \\\n" not in repository.run("plan").out
    assert "  x1 \\\n       team=a\n" in repository.run("plan", "--nodes", "nodes.json").out


FLAVORS = [
    {"name": name, "resources": [{"name": "nvidia.com/gpu", "total": total}]}
    for name, total in (("a", 1), ("b", "2"))
]


@pytest.mark.parametrize(
    ("version", "kind", "status"),
    [
        ("scheduling.volcano.sh/v1beta1", "Queue", {"allocated": {"nvidia.com/gpu": "3"}}),
        ("kueue.x-k8s.io/v1beta2", "ClusterQueue", {"flavorsReservation": FLAVORS}),
    ],
)
def test_queues_that_go_while_they_are_in_use(
    repository: Shell, version: str, kind: str, status: dict[str, object]
) -> None:
    queue = {"apiVersion": version, "kind": kind, "metadata": {"name": "product"}, "status": status}
    gone = POLICY.replace("queues: {product: {}}", "queues: {other: {}}").replace(", queue: product", "")
    repository.write({"policykit.yaml": gone, "queues.json": json.dumps(queue)})
    result = repository.run("plan", "--queues", "queues.json")
    assert "queue: queue product: is deleted, but 3 nvidia.com/gpu are allocated from it\n" in result.out
    assert "queue: queue product: is deleted, but Deployment ml/chat still names it\n" in result.out
    assert result.out.count("wait until: queue product: empty.") == 1


def test_live_queues_are_asked_for_by_their_kind(repository: Shell) -> None:
    admitted = POLICY.replace("volcano: {version: 1.15.1}", "kueue: {version: 0.16.0}")
    admitted = admitted.replace(", scheduler: volcano", "").replace("scheduler: volcano, ", "")
    repository.write({"policykit.yaml": admitted})
    commit(repository.folder)
    gone = admitted.replace("queues: {product: {}}", "queues: {other: {}}").replace(", queue: product", "")
    repository.write({"policykit.yaml": gone})
    shown = repository.run("plan").out
    assert "# kubectl get ClusterQueue.kueue.x-k8s.io -o json > queues.json" in shown
    repository.write({"queues.json": "{kind: Pod, apiVersion: v1, metadata: {name: a}}"})
    refused = repository.run("plan", "--queues", "queues.json")
    assert refused.code == 2
    assert "contains no Queue or ClusterQueue objects" in refused.err
    assert "`kubectl get queues -o json` or `kubectl get clusterqueues -o json`" in refused.err


def test_every_policy_of_the_repository(repository: Shell) -> None:
    repository.write({"b/policykit.yaml": POLICY.replace("demo", "other")})
    commit(repository.folder)
    repository.write({"policykit.yaml": MOVED})
    result = repository.run("plan", "--all")
    assert result.code == 1
    assert [line for line in result.out.splitlines() if line.startswith("policy ")] == [
        *("policy demo, from HEAD", "policy other, from HEAD"),
    ]


def test_a_policy_that_is_new_has_nothing_to_be_compared_with(repository: Shell) -> None:
    repository.write({"b/policykit.yaml": POLICY.replace("demo", "other")})
    result = repository.run("plan", "--all", "--format", "markdown")
    assert (result.code, result.out.count("### policykit plan")) == (0, 1)
    assert "policykit: b/policykit.yaml: HEAD has no such policy: nothing to compare\n" in result.err
    alone = repository.run("plan", "-p", "b/policykit.yaml")
    assert (alone.code, alone.out) == (2, "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--all", "-p", "policykit.yaml"), "--all cannot be combined with -p, --nodes, --pods or --queues"),
        (("--from", "nope"), "git does not know the commit 'nope'"),
        (
            ("--from", "nope.yaml"),
            "nope.yaml: there is no such file\n  help: name an earlier policy file, or",
        ),
        (("--pods", "policykit.yaml"), "contains no Pod objects"),
        (("-p", "conflict", "--from", "policykit.yaml"), "conflict:1:1: a merge conflict was left"),
    ],
    ids=["all", "no such revision", "no such file", "no pods", "a merge conflict"],
)
def test_what_fails(repository: Shell, words: tuple[str, ...], message: str) -> None:
    repository.write({"conflict": CONFLICT})
    result = repository.run("plan", *words)
    assert (result.code, result.out) == (2, "")
    assert message in result.err


def tolerations(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load(text)["spec"]["template"]["spec"]["tolerations"]
    return found


EVICTING = POLICY.replace(
    'card: h20, nodes: {names: ["i', 'card: h20, taints: [team=a:EFFECT], nodes: {names: ["i'
)


def test_the_commands_of_a_changed_effect_lead_from_the_old_manifests_to_the_new(repository: Shell) -> None:
    """In between they tolerate both, whatever HEAD is by then."""

    def tolerated() -> list[str]:
        text = (repository.folder / "apps/chat.yaml").read_text()
        return [one["effect"] for one in tolerations(text) if one["key"] == "team"]

    repository.write({"policykit.yaml": EVICTING.replace("EFFECT", "NoSchedule")})
    assert repository.run("patch", "--in-place", "apps").code == 0
    commit(repository.folder)
    repository.write({"policykit.yaml": EVICTING.replace("EFFECT", "NoExecute")})
    assert "plan again" in repository.run("plan").out
    assert repository.run("patch", "--from", "HEAD", "--in-place", "apps").code == 0
    steps = json.loads(repository.run("plan", "--format", "json").out)["steps"]
    assert [step["when"] for step in steps] == [
        *("before the merge", "merge", "wait until", "on nodes", "on nodes", "merge"),
    ]
    assert steps[1]["text"] == (
        "the new policy, and the manifests of HEAD patched with it, not with `--from`: they accept the old "
        "and the new nodes. Other changes of these files wait for the last merge."
    )
    assert steps[-1]["text"] == "the new policy, and the manifests without what only the old policy wrote."
    for number, effects in ((1, ["NoSchedule", "NoExecute"]), (5, ["NoExecute"])):
        for line in steps[number]["commands"]:
            program, *words = shlex.split(line)
            if program == "git":
                subprocess.run([program, *words], cwd=repository.folder, check=True)
            else:
                assert (program, repository.run(*words).code) == ("policykit", 0)
        assert tolerated() == effects
        commit(repository.folder)


@pytest.mark.parametrize(
    "words",
    [
        ("plan",),
        ("plan", "--all"),
        ("gen",),
        ("gen", "--check"),
        ("gen", "--all"),
        ("lint",),
        ("where", "apps"),
        ("patch", "--in-place", "apps"),
        ("nodes", "--check", "nodes.json"),
        ("clusters",),
        ("baseline",),
        ("lint", "--fix"),
    ],
    ids=" ".join,
)
def test_a_merge_conflict_stops_everything_and_changes_nothing(
    repository: Shell, words: tuple[str, ...]
) -> None:
    """Neither side is taken for the policy, in the file itself or in one that it extends."""
    base = POLICY.replace("metadata: {name: demo}\n", "")
    repository.write({"nodes.json": as_file([node("t1")])})
    conflicts: tuple[dict[str, str | bytes], ...] = (
        {"policykit.yaml": CONFLICT},
        {
            "policykit.yaml": POLICY.partition("domain")[0] + "extends: [base/policykit.yaml]\n",
            "base/policykit.yaml": f"<<<<<<< HEAD\n{base}=======\n{base}>>>>>>> topic\n",
        },
    )
    for files in conflicts:
        repository.write(files)
        before = everything(repository)
        result = repository.run(*words, "--no-cache") if words[0] != "clusters" else repository.run(*words)
        assert result.code == 2
        assert "a merge conflict was left in the file" in result.out + result.err
        assert everything(repository) == before


def everything(shell: Shell) -> dict[str, bytes]:
    """Every file but git's own."""
    found = [path for path in shell.folder.rglob("*") if path.is_file() and ".git" not in path.parts]
    return {str(path): path.read_bytes() for path in found}


def test_a_manifest_that_is_not_yaml_is_no_deleted_workload(repository: Shell) -> None:
    """The plan would say that nobody is affected. What was broken in the revision may be mended."""
    chat = (repository.folder / "apps/chat.yaml").read_text()
    broken = f"<<<<<<< HEAD\n{chat}=======\n>>>>>>> topic\n"
    repository.write({"policykit.yaml": MOVED, "apps/chat.yaml": broken})
    for words in (("plan",), ("plan", "apps"), ("where", "apps")):
        result = repository.run(*words)
        assert result.code == 2
        assert "apps/chat.yaml:1:1: a merge conflict was left in the file" in result.err
    assert "apps/train.yaml" in result.out
    commit(repository.folder)
    repository.write({"apps/chat.yaml": chat})
    assert repository.run("plan").code == 0


KUSTOMIZATION = "resources: [chat.yaml]\ncomponents: [../generated/workloads/inference-h20]\n"


def test_components_complete_the_manifests_that_use_them(repository: Shell) -> None:
    """The manifests themselves say nothing of nodes: the kustomization lists what `gen` writes."""
    plain = CHAT.replace("KIND", "inference")
    repository.write(
        {
            "apps/chat.yaml": plain,
            "apps/kustomization.yaml": KUSTOMIZATION,
        }
    )
    assert repository.run("gen").code == 0
    commit(repository.folder)
    repository.write({"policykit.yaml": MOVED})
    result = repository.run("plan", "apps")
    assert "fewer nodes: Deployment ml/train" in result.out
    assert "chat" not in result.out
