"""A bundle: the files that join the others, and what drifted."""

from __future__ import annotations

import pytest
import yaml

from policykit.errors import PolicykitError
from policykit.generator.artifact import Artifact, Generate, Notice, Role, TargetOutput
from policykit.generator.bundle import bundle, drift, notices
from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.release import Releases, Version

CLUSTER = Cluster("maip", ())


def files(*artifacts: Artifact, notices: tuple[Notice, ...] = ()) -> dict[str, str]:
    return bundle(CLUSTER, TargetOutput(artifacts, notices))


def test_a_header_adds_no_document() -> None:
    stream = "---\nkind: A\n---\nkind: B\n"
    made = files(Artifact("a.yaml", stream, Role.NODE))["a.yaml"]
    assert list(yaml.safe_load_all(made)) == [{"kind": "A"}, {"kind": "B"}]


def test_only_manifests_stand_in_the_kustomization() -> None:
    roles = [*Role]
    made = files(*(Artifact(f"{role}/x.yaml", "kind: A\n", role) for role in roles))
    assert yaml.safe_load(made["kustomization.yaml"]) == {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "labels": [{"pairs": {"policykit.io/policy": "maip"}}],
        "resources": ["manifest/x.yaml"],
        "sortOptions": {"order": "fifo"},
    }
    for role in roles:
        assert f"- `{role}/x.yaml`" in made["README.md"]


def test_no_kustomization_of_nothing() -> None:
    made = files(Artifact("nodes/README.md", "# Nodes\n", Role.PAGE))
    assert sorted(made) == ["README.md", "nodes/README.md"]
    assert "kubectl apply -k" not in made["README.md"]
    assert "`nodes/README.md` gives the order" in made["README.md"]


def test_the_page_repeats_what_was_said() -> None:
    made = files(notices=(Notice("volcano", "two queues share a name"),))
    assert "- volcano: two queues share a name" in made["README.md"]


def test_paths_are_sorted() -> None:
    made = files(*(Artifact(path, "a: 1\n", Role.MANIFEST) for path in ("z.yaml", "a/b.yaml", "m.yaml")))
    assert list(made) == sorted(made)


@pytest.mark.parametrize(
    ("wanted", "there", "expected"),
    [
        ({}, {}, ([], [], [])),
        ({"a": "1"}, {"a": "1"}, ([], [], [])),
        ({"b": "1", "a": "1"}, {}, (["a", "b"], [], [])),
        ({"a": "1"}, {"a": "2"}, ([], ["a"], [])),
        ({}, {"a": "1"}, ([], [], ["a"])),
        ({"a": "1", "b": "2"}, {"b": "3", "c": "4"}, (["a"], ["b"], ["c"])),
    ],
    ids=["nothing", "same", "missing", "different", "orphaned", "all three"],
)
def test_drift(wanted: dict[str, str], there: dict[str, str], expected: tuple[list[str], ...]) -> None:
    assert drift(wanted, there) == expected


KNOWN = Releases("Volcano", {8: 2, 9: 1, 10: 2})
WITHOUT_RELEASE = Cluster("c", (), targets={"volcano": TargetSettings("volcano")})


def writer(*, differs: tuple[int, ...] = (), refuses: tuple[int, ...] = ()) -> Generate:
    """Files that are others for some minor releases; a page that is another for each."""

    def write(cluster: Cluster) -> TargetOutput:
        version = KNOWN.parse(cluster.targets["volcano"].version)
        if version.minor in refuses:
            raise PolicykitError(f"Volcano {version} has no queues")
        other = version.minor in differs
        files = (
            Artifact("conf.yaml", "old" if other else "new", Role.MANIFEST),
            Artifact("README.md", str(version), Role.PAGE),
        )
        said = (Notice("volcano", f"Volcano {version} cannot pack"),) if other else ()
        return TargetOutput(files, said)

    return write


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (writer(), []),
        (
            writer(differs=(8, 9)),
            [
                "the policy states no release of Volcano, so the files are written for 1.10.2; Volcano 1.8 "
                "to 1.9 need others (with 1.8.2: Volcano 1.8.2 cannot pack). Set targets.volcano.version"
            ],
        ),
        (
            writer(refuses=(8,)),
            [
                "the policy states no release of Volcano, so the files are written for 1.10.2; Volcano 1.8 "
                "needs others (with 1.8.2: Volcano 1.8.2 has no queues). Set targets.volcano.version"
            ],
        ),
    ],
)
def test_releases_that_need_other_files(write: Generate, said: list[str]) -> None:
    found = notices("volcano", write, WITHOUT_RELEASE, KNOWN, write(WITHOUT_RELEASE))
    assert [notice.message for notice in found] == said


def test_the_newest_is_the_last_patch() -> None:
    assert KNOWN.newest == Version(1, 10, 2)
