"""Locations of the parts of a policy: in its own file, in a base, or where a profile is extended."""

from __future__ import annotations

import pytest
from hypothesis import given

from policykit.errors import SourceError
from policykit.manifests.path import Path
from policykit.manifests.writer import dump
from policykit.policy.load import load
from policykit.policy.locations import NamedFiles, PolicyLocations, named_files, policy_locations
from tests.policies import policies

FILES = {
    "prod/policykit.yaml": "apiVersion: policykit.io/v1alpha1\nkind: Policy\nextends:\n- ../base.yaml\n"
    "pools:\n  own: {card: h20, nodes: 1}\n  shared: {nodes: 2}\n",
    "base.yaml": "apiVersion: policykit.io/v1alpha1\nkind: Policy\n"
    "extends: [profile:packed-kube-scheduler, profile:hybrid-volcano]\n"
    "pools:\n  shared: {usage: web}\n  theirs: {nodes: 3}\n",
}


def said() -> PolicyLocations:
    found = policy_locations("prod/policykit.yaml", lambda name: FILES[name].encode())
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("path", "key", "place", "own"),
    [
        (("pools", "own", "card"), False, "prod/policykit.yaml:6:15", True),
        (("pools", "own", "card"), True, "prod/policykit.yaml:6:9", True),
        (("pools", "own", "taints"), True, "prod/policykit.yaml:6:3", False),
        (("pools", "shared"), True, "prod/policykit.yaml:7:3", True),
        (("pools", "shared", "usage"), False, "base.yaml:5:19", False),
        (("pools", "theirs"), True, "base.yaml:6:3", False),
        (("pools", "train-h20", "card"), False, "base.yaml:3:42", False),
        (("placements", "packed"), True, "base.yaml:3:11", False),
        ((), False, "prod/policykit.yaml:1:1", True),
    ],
)
def test_places(path: Path, key: bool, place: str, own: bool) -> None:
    file, span = said().at(path, key)
    assert f"{file}:{span.line}:{span.column}" == place
    assert said().own(path) is own


def test_files_that_findings_stand_in() -> None:
    assert sorted(said().files) == sorted(FILES)


def test_no_policy() -> None:
    assert policy_locations("a.yaml", lambda name: b"- a\n") is None


HEAD = "apiVersion: policykit.io/v1alpha1\nkind: Policy\n"
NAME = "metadata: {name: a}\n"
KOORDINATOR = "targets: {koordinator: {config: config.yaml}}\n"

CASES = [
    ("nothing", {"a/p.yaml": HEAD + NAME}, NamedFiles(("a/p.yaml",))),
    (
        "all in one file",
        {
            "a/p.yaml": HEAD + NAME + "generate: {out: ./made/}\nlint: {crds: [c, ../d]}\n" + KOORDINATOR,
            "a/config.yaml": "",
        },
        NamedFiles(("a/p.yaml", "a/config.yaml"), "made", ("c", "../d")),
    ),
    (
        "in a base",
        {
            "a/p.yaml": HEAD + NAME + "extends: [../b/p.yaml]\n",
            "b/p.yaml": HEAD + "generate: {out: made}\nlint: {crds: [c]}\n" + KOORDINATOR,
            "b/config.yaml": "",
        },
        NamedFiles(("a/p.yaml", "b/p.yaml", "b/config.yaml"), "made", ("c",)),
    ),
    (
        "what a base says is replaced and removed",
        {
            "a/p.yaml": HEAD + NAME + "extends: [b.yaml]\ngenerate: {out: null}\nlint: {crds: [d]}\n",
            "a/b.yaml": HEAD + "generate: {out: made}\nlint: {crds: [c]}\n",
        },
        NamedFiles(("a/p.yaml", "a/b.yaml"), "", ("d",)),
    ),
    (
        "a bundled profile",
        {"a/p.yaml": HEAD + NAME + "extends: ['profile:hybrid-volcano']\n"},
        NamedFiles(("a/p.yaml", "profile:hybrid-volcano"), "generated"),
    ),
]


@pytest.mark.parametrize(("files", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_the_files_of_a_policy(files: dict[str, str], expected: NamedFiles) -> None:
    def read(path: str) -> bytes:
        return files[path].encode()

    assert named_files("a/p.yaml", read) == expected
    loaded = load("a/p.yaml", read)
    assert (loaded.files, loaded.cluster.output, loaded.cluster.lint.crds) == expected


@given(policies())
def test_the_files_of_any_policy(data: dict[str, object]) -> None:
    def read(path: str) -> bytes:
        return dump(data).encode()

    loaded = load("p.yaml", read)
    assert named_files("p.yaml", read) == (loaded.files, loaded.cluster.output, loaded.cluster.lint.crds)


HEAD = "apiVersion: policykit.io/v1alpha1\nkind: Policy\nmetadata: {name: demo}\n"


@pytest.mark.parametrize(
    "text",
    [
        *("a: [", "- a\n", ""),
        *(HEAD + text for text in ("generate: {out: [a]}\n", "lint: {crds: a}\n", "extends: [none.yaml]\n")),
    ],
)
def test_of_a_policy_with_mistakes_there_are_none(text: str) -> None:
    def read(path: str) -> bytes:
        if path != "p.yaml":
            raise SourceError("cannot be read", "", path)
        return text.encode()

    assert named_files("p.yaml", read) is None


def test_a_file_that_cannot_be_read() -> None:
    def read(path: str) -> bytes:
        raise SourceError("cannot be read", "", path)

    with pytest.raises(SourceError):
        named_files("p.yaml", read)
