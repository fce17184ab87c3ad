"""Runs with and without what earlier runs left: the same bytes, less work, and never out of a checkout."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from policykit.formats import FORMATS
from policykit.linter.location import FieldLocation
from policykit.linter.scope import LocatedFact
from policykit.manifests.node import Span
from policykit.workspace.cache.folder import Cache, pack, unpack
from policykit.workspace.cache.results import decode_results, encode_results
from policykit.workspace.linting import incremental as cached
from tests.cli.commands import Result, Shell, process
from tests.processes import started
from tests.shared import ROOT, SHARED

POLICY = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: test}
extends: [base.yaml]
generate: {out: generated}
cards: {h20: {product: NVIDIA-H20}}
pools: {train: {usage: training, card: h20, nodes: 2, allocatable: {cpu: 8, memory: 32Gi}}}
workloads: {training: {usages: [training]}}
"""
BASE = "apiVersion: policykit.io/v1alpha1\nkind: Policy\ndomain: a.example.com\n"
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  nodeSelector: {a.example.com/node.usage: training}
  containers: [{name: main, image: "registry.example/a:1", resources: {limits: {nvidia.com/gpu: 1}}}]
"""
FILES: dict[str, str | bytes] = {"policykit.yaml": POLICY, "base.yaml": BASE, "a.yaml": POD}


@pytest.fixture(autouse=True)
def small_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cached, "_WORTH", 0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache, beside the repository."""
    beside = tmp_path.parent / f"{tmp_path.name}-cache"
    monkeypatch.setenv("POLICYKIT_CACHE_DIR", str(beside))
    return beside


@pytest.fixture
def run(shell: Shell) -> Callable[..., Result]:
    """A command as a process of its own would run it: it knows no policy yet."""
    return shell.run


def entries(folder: Path, kind: str) -> list[Path]:
    return sorted(folder.glob(f"{kind}-*"))


def test_the_same_findings_again(shell: Shell, run: Callable[..., Result], folder: Path) -> None:
    shell.write({**FILES, "b.yaml": POD + "x: 1\n"})
    first = run("lint", "a.yaml", "b.yaml", "--format", "json")
    assert first.code == 1
    assert len(entries(folder, "results")) == len(entries(folder, "policy")) == 1
    for words in ([], ["--jobs", "2"], ["--no-cache"]):
        again = run("lint", "a.yaml", "b.yaml", "--format", "json", *words)
        assert (again.code, again.out) == (first.code, first.out)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_every_result_is_stored(shell: Shell, run: Callable[..., Result], folder: Path, jobs: str) -> None:
    """More files than are encoded together, in several processes; and the three that stand in their scope."""
    pods = {f"pods/{n:03}.yaml": POD.replace("name: a}", f"name: a{n}}}") for n in range(70)}
    shell.write({**FILES, **pods})
    first = run("lint", "pods", "--jobs", jobs)
    assert len(stored(folder)) == 70 + 3
    shell.write({"pods/007.yaml": POD})
    changed = run("lint", "pods", "--jobs", jobs)
    assert len(stored(folder)) == 71 + 3
    assert changed.out.count("\n") == first.out.count("\n")
    assert changed.out == run("lint", "pods", "--no-cache").out


def stored(folder: Path) -> dict[bytes, bytes]:
    (path,) = entries(folder, "results")
    return unpack(Cache(str(folder)).load(path.name))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", POD.replace("node.usage: training", "node.usage: trainnig")),
        ("policykit.yaml", POLICY.replace("training", "inference")),
        ("base.yaml", BASE.replace("a.example", "b.example")),
    ],
    ids=["the file", "the policy", "what the policy extends"],
)
def test_a_change_is_seen(
    name: str, text: str, shell: Shell, run: Callable[..., Result], folder: Path
) -> None:
    shell.write(FILES)
    first = run("lint", "a.yaml")
    shell.write({name: text})
    changed = run("lint", "a.yaml")
    assert changed.out != first.out
    assert changed.out == run("lint", "a.yaml", "--no-cache").out


def test_damaged_files_are_as_good_as_none(shell: Shell, run: Callable[..., Result], folder: Path) -> None:
    shell.write(FILES)
    first = run("lint", "a.yaml")
    for damage in (b"", b"\x80\x05}", os.urandom(200)):
        for path in folder.iterdir():
            path.write_bytes(damage)
        assert run("lint", "a.yaml") == first


def test_the_corpus_is_judged_the_same(tmp_path: Path) -> None:
    if SHARED is None:
        pytest.skip("the shared corpus is not beside this checkout")
    words = ["lint", str(SHARED / "corpus"), "-p", "profile:hybrid-volcano", "--format", "jsonl"]
    without = process(*words, "--jobs", "1", "--no-cache", cwd=ROOT)
    for _ in range(2):
        assert process(*words, "--jobs", "1", "--cache-dir", str(tmp_path / "cache"), cwd=ROOT) == without


GROUP = (
    "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: a}\nspec: {minMember: 1}\n"
)


def test_a_whole_folder(shell: Shell, run: Callable[..., Result], folder: Path) -> None:
    """The whole run is recorded: every change that could matter makes it anew."""
    shell.write({"apps/a.yaml": POD, "apps/group.yaml": GROUP})
    first = run("lint", "apps", "--format", "json")
    assert len(entries(folder, "run")) == 1
    assert run("lint", "apps", "--format", "json") == first

    def anew(*words: str) -> str:
        result = run("lint", "apps", "--format", "json", *words)
        assert result.out == run("lint", "apps", "--format", "json", "--no-cache", *words).out
        assert result.out != first.out
        return result.out

    assert '"PK306"' in first.out
    assert '"PK306"' not in anew("--ignore", "PK306")
    anew("--namespace", "team")
    shell.write({"apps/b.yaml": "a: ["})
    assert '"PK001"' in anew()
    (shell.folder / "apps" / "b.yaml").unlink()
    assert run("lint", "apps", "--format", "json").out == first.out
    shell.write({"apps/a.yaml": POD.replace("metadata: {name: a}", "metadata: {name: b}")})
    anew()


def test_what_neighbours_state_is_remembered(
    shell: Shell, run: Callable[..., Result], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cached, "_WORTH", 1_000_000)  # the run itself is small
    gang = "batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: j}\nspec:\n  queue: mine\n"
    queue = "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: mine}\n"
    job = f"apiVersion: {gang}  minAvailable: 1\n  tasks: [{{name: w, replicas: 1, template: {{}}}}]\n"
    shell.write({**FILES, "j.yaml": job, "queue.yaml": queue})
    plain = run("lint", "j.yaml", "--no-cache").out
    assert "PK401" not in plain
    for _ in range(2):
        assert run("lint", "j.yaml").out == plain
        assert len(stored(folder)) == 4  # the other files of its scope
    shell.write({"queue.yaml": queue.replace("mine", "other")})
    changed = run("lint", "j.yaml").out
    assert "PK401" in changed
    assert changed == run("lint", "j.yaml", "--no-cache").out


def test_files_beside_the_run_have_a_say(shell: Shell, run: Callable[..., Result], folder: Path) -> None:
    """A scope may reach beyond what is linted."""
    shell.write({**FILES, "apps/group.yaml": GROUP.replace("minMember: 1", "minMember: 3")})
    member = POD.replace("metadata: {name: a}", "metadata: {name: b, annotations: {ANNOTATION: a}}")
    member = member.replace("ANNOTATION", "scheduling.k8s.io/group-name")
    first = run("lint", "apps")
    assert len(entries(folder, "run")) == 1
    shell.write({"b.yaml": member.replace("spec:\n", "spec:\n  schedulerName: volcano\n", 1)})
    changed = run("lint", "apps")
    assert changed != first
    assert changed == run("lint", "apps", "--no-cache")


def test_results_that_contradict_the_files_are_dropped(
    shell: Shell, run: Callable[..., Result], folder: Path
) -> None:
    """Of the right types, and yet nothing that a rule can work with."""
    shell.write({"apps/a.yaml": POD, "apps/group.yaml": GROUP})
    first = run("lint", "apps")
    sound = stored(folder)
    places: list[dict[str, FieldLocation]] = [
        {},
        {"min_member": FieldLocation(Span(-9, 10**9, 0, 0), ("no", 7, "where"))},
    ]
    for fields in places:
        for whole in entries(folder, "run"):
            whole.unlink()
        results = decode_results([*sound.values()])
        facts = [[f._replace(fields=fields) for f in r.facts if isinstance(f, LocatedFact)] for r in results]
        odd = [r._replace(facts=tuple(f)) for r, f in zip(results, facts, strict=True)]
        assert any(facts)
        (path,) = entries(folder, "results")
        tampered = dict(zip(sound, encode_results(odd), strict=True))
        assert Cache(str(folder)).store(path.name, pack(tampered))
        again = run("lint", "apps")
        assert again.code == first.code
        if not fields:
            assert again == first
            assert stored(folder) == sound
        for format_ in FORMATS:
            assert run("lint", "apps", "--format", format_).code == first.code


def test_runs_at_the_same_time(shell: Shell, folder: Path) -> None:
    pods = {f"pods/{n:03}.yaml": POD.replace("name: a}", f"name: a{n}}}") for n in range(40)}
    shell.write({**FILES, **pods, "pods/large.yaml": f"# {'x' * 120_000}\n"})
    command = [sys.executable, "-m", "policykit", "lint", "pods"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for _ in range(2):
        with ExitStack() as stack:
            running = [
                stack.enter_context(started(command, cwd=shell.folder, env=environment)) for _ in range(3)
            ]
            result = [process.communicate() for process in running]
        assert [process.returncode for process in running] == [1, 1, 1]
        assert result[0] == result[1] == result[2]
    assert len(stored(folder)) == 41 + 3
    assert not list(folder.glob("*.part"))


COMMANDS = [
    ["lint", "a.yaml"],
    ["lint", "."],
    ["lint", "--fix", "a.yaml"],
    ["baseline", "a.yaml"],
    ["where", "a.yaml"],
    ["gen", "-o", "-"],
    ["gen", "--all", "--check"],
    ["patch", "a.yaml"],
    ["nodes", "--check", "nodes.json"],
]
NODES = '{"kind": "List", "items": [{"kind": "Node", "metadata": {"name": "a"}, "status": {}}]}'
INSIDE = {
    "POLICYKIT_CACHE_DIR": ("sub/cache", "sub/cache"),
    "XDG_CACHE_HOME": ("sub", "sub/policykit"),
    "HOME": (".", ".cache/policykit"),
}
"""What a variable is set to in the repository, and the cache that follows from it."""


@pytest.mark.parametrize("variable", INSIDE)
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_cache_in_the_repository_is_not_used(
    words: list[str],
    variable: str,
    shell: Shell,
    run: Callable[..., Result],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shell.write({**FILES, "nodes.json": NODES})
    monkeypatch.delenv("POLICYKIT_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv(variable, str(shell.folder / INSIDE[variable][0]))
    cache = shell.folder / INSIDE[variable][1]
    run(*words, "--no-cache")  # what it writes is written now
    usual = run(*words, "--no-cache")
    result = run(*words)
    assert (result.code, result.out) == (usual.code, usual.out)
    assert result.err == (
        f"policykit: cache disabled: {cache} is inside {shell.folder}, where anyone may have written to it;"
        " set POLICYKIT_CACHE_DIR to a folder elsewhere, or pass this one with --cache-dir\n" + usual.err
    )
    assert not cache.exists()
    assert run(*words, "--cache-dir", str(cache)) == usual
    assert entries(cache, "policy"), "the command line may name any folder"
    assert run(*words, "--cache-dir", str(cache)) == usual


def test_a_link_into_the_repository_is_followed(
    shell: Shell,
    run: Callable[..., Result],
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shell.write({**FILES, "cache/x": ""})
    link = tmp_path_factory.mktemp("elsewhere") / "link"
    link.symlink_to(shell.folder / "cache")
    monkeypatch.setenv("POLICYKIT_CACHE_DIR", str(link))
    assert f"{shell.folder / 'cache'} is inside {shell.folder}, " in run("lint", "a.yaml").err
    monkeypatch.chdir("/")
    assert "is inside" in run("lint", str(shell.folder / "a.yaml")).err
    assert [path.name for path in (shell.folder / "cache").iterdir()] == ["x"]


def test_a_folder_of_the_run_without_a_repository(
    shell: Shell, run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An archive that was unpacked is a checkout, too."""
    shell.write({f"apps/{name}": text for name, text in FILES.items()})
    (shell.folder / ".git").rmdir()
    monkeypatch.setenv("POLICYKIT_CACHE_DIR", str(shell.folder / "apps/cache"))
    apps = str(shell.folder / "apps")
    for words in (["lint", "apps"], ["lint", "-p", "apps/policykit.yaml", "x.yaml"]):
        assert f"is inside {shell.folder}, " in run(*words).err
        monkeypatch.chdir("/")
        words = [word.replace("apps", apps) for word in words]
        assert f"is inside {apps}, " in run(*words).err
        monkeypatch.chdir(shell.folder)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_both_options_exclude_each_other(words: list[str], shell: Shell, run: Callable[..., Result]) -> None:
    shell.write({**FILES, "nodes.json": NODES})
    result = run(*words, "--no-cache", "--cache-dir", "cache")
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "policykit: --cache-dir and --no-cache cannot be combined\n  help: use only one of them\n"
    )
    result = run(*words, "--cache-dir", "")
    assert (result.code, result.out) == (2, "")
    assert result.err == "policykit: --cache-dir is empty\n  help: name a folder, or use --no-cache\n"


def test_a_folder_that_others_can_write_to_is_told(
    shell: Shell, run: Callable[..., Result], folder: Path
) -> None:
    shell.write(FILES)
    folder.mkdir()
    folder.chmod(0o777)
    told = (
        f"policykit: cache disabled: {folder} is writable by other users:"
        " run chmod -R go-w on it, or use another one\n"
    )
    assert run("where", "a.yaml").err == told
    assert run("where", "a.yaml", "--cache-dir", str(folder)).err == told
    assert list(folder.iterdir()) == []


def test_only_the_named_folder_is_used(shell: Shell, run: Callable[..., Result], folder: Path) -> None:
    shell.write(FILES)
    run("where", "a.yaml", "--cache-dir", "deep/cache")
    assert len(entries(shell.folder / "deep/cache", "policy")) == 1
    assert not folder.exists()
    run("where", "a.yaml", "--no-cache")
    assert not folder.exists()
    run("where", "a.yaml")
    assert len(entries(folder, "policy")) == 1
