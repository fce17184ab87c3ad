"""Compiled policies: taken again only as their files are, with the paths that those say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from policykit import bundled
from policykit.errors import SourceError
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.model.queue import Queue
from policykit.model.workload import WorkloadKind
from policykit.policy.load import load
from policykit.workspace.cache.codec import encode
from policykit.workspace.cache.folder import NO_CACHE, Cache, name_of
from policykit.workspace.cache.policies import CompiledPolicy, Reader, _Entry, compiled, fingerprint

HEAD = "apiVersion: policykit.io/v1alpha1\nkind: Policy\n"
PLAIN = {"p.yaml": f"{HEAD}metadata: {{name: test}}\n"}
WHOLE = {
    "sub/p.yaml": f"{HEAD}metadata: {{name: test}}\nextends: [../base.yaml, 'profile:hybrid-volcano']\n"
    "generate: {out: made/here}\nlint: {crds: [crds, more.yaml]}\n",
    "base.yaml": f"{HEAD}domain: ai.example.com\nextends: [lowest.yaml]\ngenerate: {{out: elsewhere}}\n"
    "targets: {koordinator: {config: koord.yaml}}\n",
    "lowest.yaml": HEAD,
    "koord.yaml": "",
}
NAMES = [(PLAIN, "p.yaml"), (WHOLE, "sub/p.yaml"), ({}, "profile:hybrid-volcano")]


class Disk:
    """Files, and which of them were read."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files = files
        self.read: list[str] = []

    def __call__(self, path: str) -> bytes:
        self.read.append(path)
        if path not in self.files:
            raise SourceError("cannot be read", "", path)
        return self.files[path].encode()


def make(name: str, read: Reader) -> CompiledPolicy:
    found = load(name, read)
    return CompiledPolicy(found.cluster, found.files, tuple(map(str, found.notices)))


def forbidden(name: str, read: Reader) -> CompiledPolicy:
    raise AssertionError(f"{name} is compiled again")


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(str(tmp_path / "cache"))


@pytest.mark.parametrize(("files", "name"), NAMES, ids=[name for _, name in NAMES])
def test_a_policy_is_compiled_once(files: dict[str, str], name: str, cache: Cache) -> None:
    first = compiled(cache, name, Disk(files), make)
    assert first == make(name, Disk(files))
    assert compiled(cache, name, Disk(files), forbidden) == first
    assert compiled(NO_CACHE, name, Disk(files), make) == first


@pytest.mark.parametrize("name", bundled.names("profiles", suffix=".yaml"))
def test_so_is_every_bundled_profile(name: str, cache: Cache) -> None:
    first = compiled(cache, f"profile:{name}", Disk({}), make)
    assert compiled(cache, f"profile:{name}", Disk({}), forbidden) == first


@pytest.mark.parametrize("changed", WHOLE)
def test_a_change_of_any_file_is_seen(changed: str, cache: Cache) -> None:
    compiled(cache, "sub/p.yaml", Disk(WHOLE), make)
    files = {**WHOLE, changed: WHOLE[changed] + "# new\n"}
    with pytest.raises(AssertionError, match="compiled again"):
        compiled(cache, "sub/p.yaml", Disk(files), forbidden)
    compiled(cache, "sub/p.yaml", Disk(files), make)
    compiled(cache, "sub/p.yaml", Disk(files), forbidden)


def test_a_file_that_is_gone_is_told_as_without_a_cache(cache: Cache) -> None:
    compiled(cache, "sub/p.yaml", Disk(WHOLE), make)
    files = {name: text for name, text in WHOLE.items() if name != "lowest.yaml"}
    with pytest.raises(AssertionError, match="compiled again"):
        compiled(cache, "sub/p.yaml", Disk(files), forbidden)


def test_a_file_that_changes_meanwhile_is_stored_as_it_was_compiled(cache: Cache) -> None:
    disk = Disk(dict(PLAIN))

    def changing(name: str, read: Reader) -> CompiledPolicy:
        found = make(name, read)
        disk.files[name] += "# new\n"
        return found

    compiled(cache, "p.yaml", disk, changing)
    with pytest.raises(AssertionError, match="compiled again"):
        compiled(cache, "p.yaml", disk, forbidden)
    assert compiled(cache, "p.yaml", Disk(PLAIN), forbidden) == make("p.yaml", Disk(PLAIN))


def test_a_key_that_is_hidden_by_escapes_is_compiled_each_time(cache: Cache) -> None:
    files = {"p.yaml": f'{HEAD}metadata: {{name: test}}\n"e\\x78tends": [base.yaml]\n', "base.yaml": HEAD}
    for _ in range(2):
        with pytest.raises(AssertionError, match="compiled again"):
            compiled(cache, "p.yaml", Disk(files), forbidden)
        assert compiled(cache, "p.yaml", Disk(files), make).files == ("p.yaml", "base.yaml")


def plant(cache: Cache, name: str, files: dict[str, str], policy: CompiledPolicy, /, **odd: Any) -> None:
    """What somebody else may have written."""
    entry = _Entry(name, {path: text.encode() for path, text in files.items()}, policy)._replace(**odd)
    assert cache.store(name_of("policy", name), encode(_Entry, [entry])[0])


@pytest.mark.parametrize(("files", "name"), NAMES, ids=[name for _, name in NAMES])
def test_paths_are_those_of_the_policy_itself(files: dict[str, str], name: str, cache: Cache) -> None:
    sound = make(name, Disk(files))
    lint = sound.cluster.lint._replace(crds=("/etc/passwd", "../../secret"), exclude=("changed",))
    cluster = sound.cluster._replace(output="../../.ssh", source="/etc/passwd", lint=lint)
    odd = CompiledPolicy(cluster, (name, "/etc/passwd", "/dev/zero"), ("changed",))
    plant(cache, name, files, odd)
    disk = Disk(files)
    found = compiled(cache, name, disk, forbidden)
    assert found.cluster.lint.exclude == found.notices == ("changed",)
    assert found.files == sound.files
    assert found.cluster.source == name
    assert found.cluster.lint.crds == sound.cluster.lint.crds
    assert name.startswith("profile:") or found.cluster.output == sound.cluster.output
    assert set(disk.read) <= set(files)


@pytest.mark.parametrize(
    "odd",
    [
        {"name": "other.yaml"},
        {"texts": {}},
        {"texts": {"p.yaml": PLAIN["p.yaml"].encode(), "/etc/passwd": b""}},
        {"texts": {"p.yaml": b"other"}},
    ],
    ids=["another policy", "no file", "a file more", "another text"],
)
def test_an_entry_of_other_files_is_none(odd: dict[str, Any], cache: Cache) -> None:
    plant(cache, "p.yaml", PLAIN, make("p.yaml", Disk(PLAIN)), **odd)
    disk = Disk(PLAIN)
    with pytest.raises(AssertionError, match="compiled again"):
        compiled(cache, "p.yaml", disk, forbidden)
    assert set(disk.read) == {"p.yaml"}


INCONSISTENT = [
    Cluster("a", (Pool("a", (), card="none"),)),
    Cluster("a", (), workloads={"a": WorkloadKind("b")}),
    Cluster("a", (), workloads={"a": WorkloadKind("a", placement_name="none")}),
    Cluster("a", (), queues=(Queue("a", "a"),)),
    Cluster("a", (), queues=(Queue("a"), Queue("b", "c"), Queue("c", "b"))),
]


@pytest.mark.parametrize("cluster", INCONSISTENT, ids=["card", "name", "placement", "own parent", "circle"])
def test_a_policy_that_cannot_be_is_none(cluster: Cluster, cache: Cache) -> None:
    plant(cache, "p.yaml", PLAIN, CompiledPolicy(cluster, ("p.yaml",)))
    with pytest.raises(AssertionError, match="compiled again"):
        compiled(cache, "p.yaml", Disk(PLAIN), forbidden)


def test_a_chain_of_queues_is_followed_once(cache: Cache) -> None:
    queues = tuple(Queue(f"q{n}", f"q{n + 1}") for n in range(3_000))
    plant(cache, "p.yaml", PLAIN, CompiledPolicy(Cluster("a", (), queues=queues), ("p.yaml",)))
    assert compiled(cache, "p.yaml", Disk(PLAIN), forbidden).cluster.queues == queues


def test_a_fingerprint_tells_the_bytes_of_all_files() -> None:
    files = ("p.yaml", "profile:hybrid-volcano")
    usual = fingerprint(files, Disk(PLAIN))
    assert usual == fingerprint(files, Disk(PLAIN))
    assert usual != fingerprint(files, Disk({"p.yaml": "other"}))
    assert usual != fingerprint(("p.yaml",), Disk(PLAIN))
    assert fingerprint(files, Disk({})) is None
