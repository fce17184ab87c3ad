"""`lint --since` where policies, bases and settings change: the difference of two whole runs."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cli.commands import Result, process
from tests.workspace.linting.test_since import GIT, Repository, told

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

BASE = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: base}
domain: ai.example.com
cards: {h20: {product: NVIDIA-H20}}
pools:
  train: {usage: training, card: h20, nodes: 2, allocatable: {cpu: 180, memory: 1900Gi}}
workloads:
  training: {usages: [training]}
"""


def policy(name: str, more: str = "") -> str:
    return (
        "apiVersion: policykit.io/v1alpha1\nkind: Policy\nextends: [../../base/base.yaml]\n"
        f"metadata: {{name: {name}}}\n{more}"
    )


def job(name: str, usage: str = "training", key: str = "ai.example.com/node.usage") -> str:
    return f"""\
apiVersion: batch/v1
kind: Job
metadata: {{name: {name}, labels: {{policykit.io/workload: training}}}}
spec:
  template:
    spec:
      restartPolicy: Never
      nodeSelector: {{{key}: training}}
      tolerations:
      - {{key: {key}, operator: Equal, value: {usage}, effect: NoSchedule}}
      - {{key: nvidia.com/gpu.product, operator: Equal, value: NVIDIA-H20, effect: NoSchedule}}
      containers:
      - name: main
        image: registry.example/a:1
        resources: {{requests: {{cpu: 1, memory: 1Gi}}, limits: {{nvidia.com/gpu: 1}}}}
"""


FILES = {
    "base/base.yaml": BASE,
    "clusters/dev/policykit.yaml": policy("dev"),
    "clusters/prod/policykit.yaml": policy("prod"),
    "clusters/dev/a.yaml": job("a"),
    "clusters/prod/a.yaml": job("a"),
    "clusters/prod/b.yaml": job("b", "trainnig"),
}


def lint(folder: Path, *words: str) -> Result:
    return process("lint", "--no-cache", "--format", "json", *words, cwd=folder, stdin=None, **GIT)


def findings(result: Result) -> Counter[tuple[object, ...]]:
    """Every finding by what makes it the same one, for each of its clusters."""
    assert result.code in (0, 1), result.err
    return Counter(
        (one["code"], one["resource"] and one["resource"]["name"], one["message"], cluster)
        for one in json.loads(result.out)["findings"]
        for cluster in one["clusters"] or [""]
    )


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "repository")
    made.commit(FILES)
    return made


def test_nothing_changed(repository: Repository) -> None:
    assert findings(lint(repository.folder))
    assert findings(lint(repository.folder, "--since", "HEAD")) == Counter()


@pytest.mark.parametrize("where", ["base/base.yaml", "clusters/prod/policykit.yaml"])
def test_a_changed_domain_is_told_in_every_object_that_it_breaks(repository: Repository, where: str) -> None:
    text = FILES[where].replace("ai.example.com", "other.example.com")
    repository.write({where: text + ("domain: other.example.com\n" if "base.yaml" not in where else "")})
    result = lint(repository.folder, "--since", "HEAD")
    assert result.code == 1
    found = findings(result)
    assert {str(one[3]) for one in found} == ({"dev", "prod"} if where == "base/base.yaml" else {"prod"})
    assert {one[1] for one in found} >= {"a", "b"}


def test_a_part_is_told_what_the_whole_is(repository: Repository) -> None:
    repository.write({"base/base.yaml": BASE.replace("ai.example.com", "other.example.com")})
    whole = json.loads(lint(repository.folder, "--since", "HEAD").out)["findings"]
    part = json.loads(lint(repository.folder, "--since", "HEAD", "clusters/prod").out)["findings"]
    assert part == [one for one in whole if one["path"].startswith("clusters/prod/")] != []


def test_renamed_files_folders_and_policies(repository: Repository) -> None:
    repository.git("mv", "clusters/prod", "clusters/production")
    assert findings(lint(repository.folder, "--since", "HEAD")) == Counter()
    repository.git("mv", "clusters/production/b.yaml", "clusters/production/c.yaml")
    assert findings(lint(repository.folder, "--since", "HEAD", "clusters/production")) == Counter()
    text = FILES["clusters/dev/policykit.yaml"].replace("name: dev", "name: development")
    repository.write({"clusters/dev/policykit.yaml": text})
    assert findings(lint(repository.folder, "--since", "HEAD")) == Counter()


def test_applications_of_the_revision_are_in_the_same_repository(repository: Repository) -> None:
    """Their sources are named by its remotes, however those are written."""
    url = 'https://git.example.com/a"b\\c'
    source = {"repoURL": url, "path": "clusters/prod"}
    application = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": "a"},
        "spec": {"source": source, "destination": {"name": "dev"}},
    }
    repository.git("remote", "add", "origin", url)
    repository.commit({"argocd/a.yaml": json.dumps(application)})
    assert any(one[3] == "dev" and one[1] == "b" for one in findings(lint(repository.folder)))
    assert findings(lint(repository.folder, "--since", "HEAD")) == Counter()


def test_another_cause_at_the_same_place_is_new(repository: Repository) -> None:
    """The pod lacks a toleration before and after, but of another taint."""
    repository.write({"base/base.yaml": BASE.replace("ai.example.com", "other.example.com")})
    messages = [one[2] for one in findings(lint(repository.folder, "--since", "HEAD")) if one[1] == "b"]
    assert any("does not tolerate taint other.example.com/" in str(message) for message in messages)


def test_the_first_policy_of_a_file_makes_no_old_finding_new(repository: Repository) -> None:
    wrong = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containerz: []}\n"
    repository.commit({"other/p.yaml": wrong})
    repository.write({"other/policykit.yaml": policy("other").replace("../../", "../")})
    found = findings(lint(repository.folder, "--since", "HEAD", "other"))
    assert not [one for one in found if str(one[0]).startswith("PK0")]


def test_what_is_not_judged_any_more_is_told(repository: Repository) -> None:
    text = policy("prod", "lint: {ignore: [PK115], exclude: [a.yaml]}\n")
    repository.write({"clusters/prod/policykit.yaml": text})
    result = lint(repository.folder, "--since", "HEAD")
    assert "no longer judged, unlike in HEAD: clusters/prod/a.yaml, by policy prod\n" in result.err
    assert "no longer judged, unlike in HEAD: PK115, by policy prod\n" in result.err
    (repository.folder / "clusters/dev/policykit.yaml").unlink()
    result = lint(repository.folder, "--since", "HEAD")
    assert "no longer judged, unlike in HEAD: clusters/dev/a.yaml, by policy dev\n" in result.err


@pytest.mark.parametrize(
    ("name", "more", "lost"),
    [
        ("prod", "lint: {exclude: ['shared/**']}", ["shared/a.yaml"]),
        (
            "prod",
            "applies: [{path: ../../other}]",
            ["clusters/prod/a.yaml", "clusters/prod/b.yaml", "shared/a.yaml"],
        ),
        ("renamed", "applies: [{path: ../../shared}, {path: .}]", []),
    ],
    ids=["exclude", "applies", "renamed"],
)
def test_what_one_of_several_clusters_does_not_judge_any_more(
    repository: Repository, name: str, more: str, lost: list[str]
) -> None:
    applies = "applies: [{path: ../../shared}, {path: .}]\n"
    both = {f"clusters/{each}/policykit.yaml": policy(each, applies) for each in ("dev", "prod")}
    repository.commit({**both, "shared/a.yaml": job("shared"), "other/a.yaml": job("other")})
    more = more if "applies" in more else applies + more
    repository.write({"clusters/prod/policykit.yaml": policy(name, more)})
    lines = lint(repository.folder, "--since", "HEAD").err.splitlines()
    start = "policykit: no longer judged, unlike in HEAD: "
    assert [each for each in lines if each.startswith(start)] == [
        f"{start}{path}, by policy prod" for path in lost
    ]


def test_what_the_revision_could_not_judge_had_no_findings(repository: Repository) -> None:
    repository.commit({"clusters/prod/policykit.yaml": policy("prod", "poolz: {}\n")})
    repository.write({"clusters/prod/policykit.yaml": policy("prod")})
    result = lint(repository.folder, "--since", "HEAD")
    assert result.code == 1
    told = [line for line in result.err.splitlines() if "could not be judged as a whole" in line]
    place = "clusters/prod/policykit.yaml"
    assert len(told) == 1
    assert told[0].startswith(f"policykit: HEAD could not be judged as a whole: {place}:")
    assert "help" not in told[0]
    assert {one[3] for one in findings(result)} == {"prod"}


def test_text_output_counts_what_is_not_new(repository: Repository) -> None:
    result = process("lint", "--since", "HEAD", cwd=repository.folder, stdin=None, **GIT)
    assert told(result) == []
    assert " not new)\n" in result.err


TEXTS: Mapping[str, list[str | None]] = {
    "base/base.yaml": [BASE, BASE.replace("ai.ex", "other.ex"), BASE.replace("nodes: 2", "nodes: 3")],
    "clusters/dev/policykit.yaml": [policy("dev"), policy("dev", "lint: {ignore: [PK1]}\n"), None],
    "clusters/prod/policykit.yaml": [policy("prod"), policy("prod", "coverage: complete\n")],
    "clusters/dev/a.yaml": [job("a"), job("a", "inference"), job("a", key="other.example.com/node.usage")],
    "clusters/prod/a.yaml": [job("a"), job("a", "trainnig"), None],
    "clusters/prod/b.yaml": [job("b"), job("b", "trainnig"), "a: [\n", None],
    "clusters/prod/renamed.yaml": [job("b"), job("b", "trainnig"), None],
}


def trees() -> st.SearchStrategy[dict[str, str | None]]:
    return st.fixed_dictionaries({path: st.sampled_from(texts) for path, texts in TEXTS.items()})


def write(folder: Path, tree: Mapping[str, str | None]) -> None:
    for path, text in tree.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            file.unlink(missing_ok=True)
        else:
            file.write_text(text, encoding="utf-8")


@settings(
    max_examples=int(os.environ.get("POLICYKIT_EXAMPLES", "6")),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(trees(), trees())
def test_since_is_the_difference_of_two_whole_runs(
    before: dict[str, str | None], now: dict[str, str | None]
) -> None:
    # A policy that goes or comes leaves files without a cluster, which pair with those of every cluster.
    now["clusters/dev/policykit.yaml"] = now["clusters/dev/policykit.yaml"] or policy("dev")
    before["clusters/dev/policykit.yaml"] = before["clusters/dev/policykit.yaml"] or policy("dev")
    with TemporaryDirectory() as made:
        made_here = Repository(Path(made) / "repository")
        write(made_here.folder, before)
        made_here.commit()
        old = findings(lint(made_here.folder))
        write(made_here.folder, now)
        new = findings(lint(made_here.folder))
        assert findings(lint(made_here.folder, "--since", "HEAD")) == new - old
