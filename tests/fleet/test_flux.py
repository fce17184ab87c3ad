"""What Flux Kustomizations beside a policy apply is judged as Flux applies it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from typing import Any

import pytest

from tests.cli.commands import Result, Shell
from tests.fleet.repositories import kustomization
from tests.fleet.repositories import on_path as on_path
from tests.fleet.test_applies import TOLERANT, policy
from tests.fleet.test_units import JOB, told

REPOSITORY = "https://git.example/team/fleet"
_VARS = "{apiVersion: v1, metadata: {name: vars, namespace: flux-system}, "
CONFIG_MAP = _VARS + "kind: ConfigMap, data: {KIND: training}}"
SECRET = _VARS + "kind: Secret, stringData: {KIND: other}}"


def flux(name: str, folder: str, **spec: object) -> str:
    return json.dumps(
        {
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
            "kind": "Kustomization",
            "metadata": {"name": name, "namespace": "flux-system"},
            "spec": {
                "interval": "10m",
                "path": folder,
                "prune": True,
                "sourceRef": {"kind": "GitRepository", "name": "flux-system"},
                **spec,
            },
        }
    )


def repository(url: str = "ssh://git@git.example/team/fleet.git", **ref: str) -> str:
    return json.dumps(
        {
            "apiVersion": "source.toolkit.fluxcd.io/v1",
            "kind": "GitRepository",
            "metadata": {"name": "flux-system", "namespace": "flux-system"},
            "spec": {"url": url, "ref": ref or {"branch": "main"}},
        }
    )


def fleet(spec: Mapping[str, Any], job: str = JOB, **kustomization_: Any) -> dict[str, str]:
    """A cluster whose Flux applies `apps/gw`, which has a kustomization unless `kustomization_` is empty."""
    files = {
        "clusters/prod/policykit.yaml": policy("prod"),
        "clusters/prod/flux-system/gotk-sync.yaml": repository() + "\n---\n" + flux("own", "./clusters/prod"),
        "clusters/prod/apps.yaml": flux("apps", "./apps/gw", **spec),
        "apps/gw/job.yaml": job,
    }
    if kustomization_:
        files["apps/gw/kustomization.yaml"] = kustomization(**kustomization_)
    return files


def lint(shell: Shell, files: dict[str, str], *words: str) -> Result:
    subprocess.run(["git", "init", "-q"], cwd=shell.folder, check=True)
    subprocess.run(["git", "remote", "add", "origin", REPOSITORY], cwd=shell.folder, check=False)
    shell.write(dict(files))
    return shell.run("lint", "--no-cache", "--select", "PK101,PK401", *words)


def judged(shell: Shell, files: dict[str, str], *words: str) -> list[tuple[Any, ...]]:
    """Place and clusters of each finding."""
    return [
        (place, clusters) for place, _, _, clusters in told(lint(shell, files, "--format", "json", *words))
    ]


PATCH: dict[str, Any] = {
    "target": {"kind": "Job"},
    "patch": json.dumps(
        [
            {
                "op": "add",
                "path": "/spec/template/spec/tolerations",
                "value": [{"operator": "Exists"}],
            }
        ]
    ),
}
HERE = [("apps/gw/job.yaml:6", ("prod",))]
TOLERATIONS = [("apps/gw/job.yaml:8", ("prod",))]
PLAIN: dict[str, Any] = {"resources": ["job.yaml"]}
FROM = [{"kind": "ConfigMap", "name": "vars"}]
COMPONENT = json.dumps(
    {"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component", "patches": [PATCH]}
)


@pytest.mark.parametrize("path", [".", "apps", "apps/gw/job.yaml"])
@pytest.mark.parametrize(
    "fields", [{}, PLAIN, {**PLAIN, "namePrefix": "a-"}], ids=["folder", "plain", "built"]
)
@pytest.mark.parametrize(
    ("spec", "job", "expected"),
    [
        ({}, JOB, HERE),
        ({"patches": [PATCH]}, JOB, []),
        ({"components": ["../../parts/tolerant"]}, JOB, []),
        ({"postBuild": {"substitute": {"KIND": "training"}}}, TOLERANT, []),
        ({"postBuild": {"substitute": {"KIND": "other"}}}, TOLERANT, TOLERATIONS),
        ({"postBuild": {"substituteFrom": FROM}}, TOLERANT, []),
        ({"postBuild": {"substituteFrom": FROM, "substitute": {"KIND": "other"}}}, TOLERANT, TOLERATIONS),
        ({"postBuild": {"substituteFrom": [{"kind": "Secret", "name": "vars"}]}}, TOLERANT, []),
        ({"targetNamespace": "gw", "commonMetadata": {"labels": {"a": "b"}}}, JOB, HERE),
    ],
    ids=["as is", "patches", "components", "known", "wrong", "from", "over", "secret", "metadata"],
)
def test_what_flux_applies(
    shell: Shell,
    path: str,
    fields: dict[str, Any],
    spec: dict[str, Any],
    job: str,
    expected: list[tuple[Any, ...]],
) -> None:
    files = fleet(spec, job, **fields)
    files |= {
        "clusters/prod/vars.yaml": CONFIG_MAP,
        "clusters/prod/secret.yaml": SECRET,
        "parts/tolerant/kustomization.yaml": COMPONENT,
    }
    assert judged(shell, files, path) == expected


def test_a_patch_of_flux_is_the_place_of_what_it_breaks(shell: Shell) -> None:
    broken = {**PATCH, "patch": PATCH["patch"].replace("Exists", "Equal")}
    result = lint(shell, fleet({"patches": [broken]}, **PLAIN), "--format", "concise", ".")
    assert "clusters/prod/apps.yaml:1:" in result.out


GENERATED = {"name": "vars", "literals": ["KIND='training'"], "options": {"disableNameSuffixHash": True}}
OTHER = CONFIG_MAP.replace("training", "other")
DEFAULT = TOLERANT.replace("${KIND}", "${KIND:-other}")
ALWAYS = {"substituteStrategy": "Always"}


@pytest.mark.parametrize(
    ("post", "files", "job", "expected"),
    [
        ({"substituteFrom": FROM}, {"clusters/test/vars.yaml": OTHER}, TOLERANT, []),
        ({"substituteFrom": FROM}, {"shared/vars.yaml": OTHER}, TOLERANT, TOLERATIONS),
        (
            {"substituteFrom": FROM},
            {"clusters/prod/kustomization.yaml": json.dumps({"configMapGenerator": [GENERATED]})},
            TOLERANT.replace("${KIND}", "${KIND/training/other}"),
            TOLERATIONS,
        ),
        (
            {"substituteFrom": FROM},
            {"vars/kustomization.yaml": json.dumps({"configMapGenerator": [GENERATED | {"options": {}}]})},
            DEFAULT,
            [],
        ),
        (
            {"substituteFrom": FROM},
            {"vars/kustomization.yaml": json.dumps({"configMapGenerator": [GENERATED | {"envs": ["a"]}]})},
            TOLERANT.replace("${KIND}", "${OTHER}"),
            [],
        ),
        (ALWAYS, {}, DEFAULT, TOLERATIONS),
        (ALWAYS, {}, DEFAULT.replace("other", "training"), []),
    ],
    ids=["another cluster's", "anybody's", "generated", "hashed", "files", "always", "always right"],
)
def test_variables_of_flux(
    shell: Shell, post: dict[str, Any], files: dict[str, str], job: str, expected: list[tuple[Any, ...]]
) -> None:
    added = {"clusters/test/policykit.yaml": policy("test"), **files}
    assert judged(shell, {**fleet({"postBuild": post}, job, **PLAIN), **added}, "apps") == expected


def test_variables_next_to_the_policy_of_a_kustomization_elsewhere(shell: Shell) -> None:
    """The Kustomization is applied by one next to the policy."""
    files = fleet({}, TOLERANT, **PLAIN)
    files["clusters/prod/apps.yaml"] = flux("apps", "./parts")
    files["parts/apps.yaml"] = flux("gw", "./apps/gw", postBuild={"substituteFrom": FROM})
    files |= {"clusters/prod/vars.yaml": OTHER, "clusters/test/vars.yaml": CONFIG_MAP}
    files["clusters/test/policykit.yaml"] = policy("test")
    assert judged(shell, files, "apps") == TOLERATIONS


def test_what_flux_leaves_alone_is_judged(shell: Shell) -> None:
    ignore = [{"paths": ["/spec/parallelism"]}]
    assert judged(shell, fleet({"ignore": ignore}, **PLAIN), "apps") == HERE


NOT_JUDGED = [
    ({"sourceRef": {"kind": "OCIRepository", "name": "a"}}, {}, "its source is OCIRepository a"),
    (
        {"sourceRef": {"kind": "GitRepository", "name": "a"}},
        {},
        "its source GitRepository a is not defined here",
    ),
    (
        {},
        {"clusters/prod/flux-system/gotk-sync.yaml": repository("https://other.example/a")},
        "is another repository",
    ),
    ({"path": "./none"}, {}, "its path ./none is not a folder"),
    ({"path": "../.."}, {}, "its path is outside of the repository"),
    ({"frobnicate": 1}, {}, "its field frobnicate is not known here"),
    ({"postBuild": {"frobnicate": 1}}, {}, "its field postBuild.frobnicate is not known here"),
]


@pytest.mark.parametrize(("spec", "files", "reason"), NOT_JUDGED, ids=[case[2] for case in NOT_JUDGED])
def test_what_cannot_be_judged_is_told_with_its_reason(
    shell: Shell, spec: dict[str, Any], files: dict[str, str], reason: str
) -> None:
    result = lint(shell, {**fleet(spec, **PLAIN), **files}, "--show-files", ".")
    assert reason in result.err


def generator(*copies: dict[str, Any], **source: str) -> str:
    """An ArtifactGenerator of the artifact `apps`."""
    repository_ = {"alias": "repo", "kind": "GitRepository", "name": "flux-system", **source}
    return json.dumps(
        {
            "apiVersion": "source.extensions.fluxcd.io/v1beta1",
            "kind": "ArtifactGenerator",
            "metadata": {"name": "parts", "namespace": "flux-system"},
            "spec": {"sources": [repository_], "artifacts": [{"name": "apps", "copy": list(copies)}]},
        }
    )


def copied(source: str, target: str, **more: object) -> dict[str, Any]:
    return {"from": source, "to": target, **more}


ARTIFACTS: list[tuple[str, str, str, str]] = [
    ("a folder", generator(copied("@repo/apps/gw/**", "@artifact/")), "./", ""),
    ("a folder below", generator(copied("@repo/apps/**", "@artifact/")), "gw", ""),
    ("the repository", generator(copied("@repo/**", "@artifact/all")), "/all/apps/gw", ""),
    (
        "one of two",
        generator(copied("@repo/apps/gw/**", "@artifact/gw/"), copied("@repo/parts/**", "@artifact/parts/")),
        "./gw",
        "",
    ),
    (
        "both of two",
        generator(copied("@repo/apps/gw/**", "@artifact/gw/"), copied("@repo/parts/**", "@artifact/parts/")),
        "./",
        "its path is not a single folder of the source of ExternalArtifact apps",
    ),
    (
        "what is left out",
        generator(copied("@repo/apps/gw/**", "@artifact/", exclude=["*.md"])),
        "./",
        "its source ExternalArtifact apps is copied from more than whole folders",
    ),
    (
        "another source",
        generator(copied("@repo/apps/gw/**", "@artifact/"), kind="OCIRepository"),
        "./",
        "its source is OCIRepository flux-system, not a GitRepository",
    ),
    (
        "out of the repository",
        generator(copied("@repo/../../**", "@artifact/")),
        "./",
        "its path is outside of the repository",
    ),
    (
        "no generator",
        "",
        "./",
        "its source ExternalArtifact apps is made by no ArtifactGenerator of the repository",
    ),
]


@pytest.mark.parametrize(
    ("text", "path", "why"), [case[1:] for case in ARTIFACTS], ids=[case[0] for case in ARTIFACTS]
)
def test_artifacts_that_are_made_of_folders_are_judged_as_these(
    shell: Shell, text: str, path: str, why: str
) -> None:
    files = fleet({"sourceRef": {"kind": "ExternalArtifact", "name": "apps"}, "path": path}, **PLAIN)
    files |= {"clusters/prod/parts.yaml": text} if text else {}
    result = lint(shell, {**files, "parts/a.txt": ""}, "--show-files", "--format", "concise", ".")
    if why:
        assert why in result.err
    else:
        assert "not judged" not in result.err
    assert ("as kustomize builds it" in result.out or "PK101" in result.out) == (not why)


def test_a_pinned_revision_is_judged_as_the_work_tree_is(shell: Shell) -> None:
    sync = {"clusters/prod/flux-system/gotk-sync.yaml": repository(tag="v1.2")}
    result = lint(shell, {**fleet({}, **PLAIN), **sync}, "--show-files", "apps")
    assert "PK101" in result.out
    assert "it applies tag v1.2, judged as the work tree is" in result.err


BINDING = """\
apiVersion: v1
kind: ServiceAccount
metadata: {name: operator}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: operator}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: ServiceAccount, name: operator}]
"""


@pytest.mark.parametrize("spec", [{}, {"targetNamespace": "team"}], ids=["none", "a namespace"])
@pytest.mark.parametrize(
    "made",
    [{}, PLAIN, {"resources": ["job.yaml"], "commonLabels": {"a": "b"}}],
    ids=["a folder", "a plain kustomization", "a build"],
)
def test_flux_gives_accounts_a_namespace(shell: Shell, spec: dict[str, str], made: dict[str, Any]) -> None:
    """Without a policy nothing is built as Flux builds it, yet the API server takes what it makes."""
    files = fleet(spec, BINDING, **made)
    del files["clusters/prod/policykit.yaml"]
    found = "in none" in lint(shell, files, "--select", "PK004", ".").out
    assert found is not bool(spec)


def test_a_kubeconfig_leads_to_another_cluster(shell: Shell) -> None:
    remote = {"kubeConfig": {"secretRef": {"name": "edge-kubeconfig"}}}
    files = {**fleet(remote, **PLAIN), "clusters/edge/policykit.yaml": policy("edge")}
    assert judged(shell, files) == [("apps/gw/job.yaml:6", ("edge",))]


def test_a_generator_reads_nothing_outside(shell: Shell) -> None:
    """Kustomize runs without its load restrictor, so all that it would read is checked before."""
    secret = shell.folder.parent / f"{shell.folder.name}-secret"
    secret.write_text("hidden")
    generator = {
        "apiVersion": "builtin",
        "kind": "ConfigMapGenerator",
        "metadata": {"name": "stolen"},
        "files": [f"../../../{secret.name}"],
    }
    files = fleet({}, resources=["job.yaml"], generators=["generator.yaml"])
    files["apps/gw/generator.yaml"] = json.dumps(generator)
    result = lint(shell, files, "--show-files", ".")
    assert "outside of the repository" in result.err
    assert "hidden" not in result.out + result.err


def test_the_kustomization_of_the_folder_changes_what_components_add(shell: Shell) -> None:
    """Flux writes components into it: its patches, names and namespace apply to them."""
    patch = PATCH["patch"]
    files = fleet({"components": ["../../parts/gw"]}, JOB)
    files |= {
        "apps/gw/kustomization.yaml": kustomization(
            namePrefix="a-", patches=[{"target": {"kind": "Job"}, "patch": patch}]
        ),
        "parts/gw/kustomization.yaml": kustomization(
            apiVersion="kustomize.config.k8s.io/v1alpha1", kind="Component", resources=["job.yaml"]
        ),
        "parts/gw/job.yaml": files.pop("apps/gw/job.yaml"),
    }
    assert judged(shell, files, ".") == []
    files["apps/gw/kustomization.yaml"] = kustomization(namePrefix="a-")
    assert judged(shell, files, ".") == [("parts/gw/job.yaml:6", ("prod",))]


def test_what_flux_leaves_out_is_not_applied(shell: Shell) -> None:
    files = fleet({}, JOB)
    assert judged(shell, files, ".") == HERE
    # The policy above it does not judge it either: it says what it applies.
    assert judged(shell, {**files, "apps/.sourceignore": "gw/job.yaml\n"}, ".") == []


def variable(value: str) -> dict[str, Any]:
    """A patch that gives Flux Kustomizations a variable."""
    added = [{"op": "add", "path": "/spec/postBuild", "value": {"substitute": {"KIND": value}}}]
    return {"target": {"kind": "Kustomization"}, "patch": json.dumps(added)}


@pytest.mark.parametrize("path", [".", "base", "base/gw/job.yaml"])
@pytest.mark.parametrize("folder", [None, kustomization(resources=["gw.yaml"], namespace="apps")])
@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"patches": [variable("training")]}, []),
        ({"patches": [variable("other")]}, [("base/gw/job.yaml:8", ("prod",))]),
        ({"patches": [variable("$${KIND}")], "postBuild": {"substitute": {"KIND": "training"}}}, []),
    ],
    ids=["right", "wrong", "of the cluster"],
)
def test_what_a_kustomization_applies_may_be_kustomizations(
    shell: Shell, path: str, folder: str | None, spec: dict[str, Any], expected: list[tuple[Any, ...]]
) -> None:
    files = {
        "clusters/prod/policykit.yaml": policy("prod"),
        "clusters/prod/flux-system/gotk-sync.yaml": repository() + "\n---\n" + flux("own", "./clusters/prod"),
        "clusters/prod/apps.yaml": flux("apps", "./apps", **spec),
        "apps/gw.yaml": flux("gw", "./base/gw"),
        "base/gw/job.yaml": TOLERANT,
    }
    assert (
        judged(shell, {**files, **({"apps/kustomization.yaml": folder} if folder else {})}, path) == expected
    )


def test_a_policy_names_the_source_that_is_defined_elsewhere(shell: Shell) -> None:
    files = fleet({"sourceRef": {"kind": "GitRepository", "name": "ours"}}, resources=["job.yaml"])
    assert (
        "Kustomization flux-system/apps: its source GitRepository ours is not defined"
        in lint(shell, files).err
    )
    said = {**json.loads(policy("prod")), "applies": {"repositories": ["ours"]}}
    assert judged(shell, {**files, "clusters/prod/policykit.yaml": json.dumps(said)}, "apps") == HERE


def test_kustomizations_that_apply_each_other_end(shell: Shell) -> None:
    added = {
        "target": {"kind": "Kustomization"},
        "patch": '[{"op": "add", "path": "/spec/images", "value": []}]',
    }
    files = {
        "clusters/prod/policykit.yaml": policy("prod"),
        "clusters/prod/gotk-sync.yaml": repository(),
        "clusters/prod/a.yaml": flux("a", "./b", namePrefix="a-", patches=[added]),
        "b/b.yaml": flux("b", "./clusters/prod", namePrefix="b-"),
        "b/job.yaml": JOB,
    }
    assert judged(shell, files) == [("b/job.yaml:6", ("prod",))]
