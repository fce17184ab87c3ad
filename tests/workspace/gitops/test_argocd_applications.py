"""Applications and ApplicationSets as sources of clusters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.workspace.gitops.argocd_application_sets import filled
from policykit.workspace.gitops.argocd_applications import ReadApplication, applications_of
from policykit.workspace.gitops.sources import (
    FolderOptions,
    HelmOptions,
    Repository,
    Source,
    SourceLocation,
    SourceType,
    TargetCluster,
    UnreadableError,
)
from policykit.workspace.remotes import normalised

URL = "https://git.example.com/fleet/apps.git"
STATED = SourceLocation("/apps.yaml", 3)
DEV = TargetCluster("/dev/policykit.yaml", "dev", "https://dev.example", {"env": "dev", "gpu": "true"})
PROD = TargetCluster("/prod/policykit.yaml", "prod", "", {"env": "prod"}, {"a/zone": "b"})


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    for name in ("apps/gw", "apps/web", "apps/old", "base", "charts/llm"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "base/kustomization.yaml").write_text("resources: []\n")
    (tmp_path / "charts/llm/Chart.yaml").write_text("name: llm\n")
    for name in ("values.yaml", "charts/llm/prod.yaml"):
        (tmp_path / name).write_text("a: 1\n")
    return Repository(
        str(tmp_path),
        frozenset({normalised(URL)}),
        (DEV, PROD),
        lambda: ("apps", "apps/gw", "apps/old", "apps/web", "base"),
        lambda: ("clusters/a/config.json", "clusters/b/config.json"),
        lambda path: {"cluster": {"name": path.split("/")[1]}, "tier": 1},
    )


def application(source: dict[str, Any], **destination: str) -> dict[str, Any]:
    spec = {"source": {"repoURL": URL, **source}, "destination": destination}
    return {"kind": "Application", "metadata": {"name": "gw"}, "spec": spec}


def application_set(
    *generators: Any, go: bool = False, path: str, name: str = "x", **spec: Any
) -> dict[str, Any]:
    template = {
        "metadata": {"name": "gw"},
        "spec": {"source": {"repoURL": URL, "path": path}, "destination": {"name": name}},
    }
    made = {"generators": list(generators), "goTemplate": go, "template": template, **spec}
    return {"kind": "ApplicationSet", "metadata": {"name": "set"}, "spec": made}


def read(repository: Repository, data: dict[str, Any]) -> tuple[ReadApplication, ...]:
    return applications_of(data, STATED, repository)


def only(repository: Repository, data: dict[str, Any]) -> Source:
    ((source,),) = (each.sources for each in read(repository, data))
    return source


@pytest.mark.parametrize(
    "url",
    [
        "git@git.example.com:fleet/apps.git",
        "ssh://git@git.example.com:22/fleet/apps",
        "https://me:token@GIT.example.com/fleet/apps/",
        "https://git.example.com:443/fleet/Apps.git",
    ],
)
def test_urls_of_one_repository_are_equal(url: str) -> None:
    assert normalised(url) == normalised(URL)


@given(st.text())
def test_a_normalised_url_stays_as_it_is(url: str) -> None:
    assert isinstance(normalised(normalised(url)), str)


FORMS = [
    ({"path": "base"}, SourceType.KUSTOMIZATION),
    ({"path": "apps/gw"}, SourceType.ARGO_CD_FOLDER),
    ({"path": "charts/llm"}, SourceType.CHART),
    ({"path": "base", "directory": {"recurse": True}}, SourceType.ARGO_CD_FOLDER),
]


@pytest.mark.parametrize(("source", "form"), FORMS)
def test_the_form_of_a_folder(repository: Repository, source: dict[str, Any], form: SourceType) -> None:
    found = only(repository, application(source))
    assert (found.form, found.why_not) == (form, "")


@pytest.mark.parametrize(
    ("destination", "cluster"),
    [
        ({"name": "dev"}, DEV),
        ({"server": "https://dev.example"}, DEV),
        ({"name": "prod"}, PROD),
        ({"name": "in-cluster"}, None),
        ({"server": "https://kubernetes.default.svc"}, None),
        ({"name": "other"}, None),
        ({}, None),
    ],
)
def test_the_cluster_of_a_destination(
    repository: Repository, destination: dict[str, str], cluster: TargetCluster | None
) -> None:
    (found,) = read(repository, application({"path": "base"}, **destination))
    assert found.cluster == cluster


def test_options_of_a_chart(repository: Repository) -> None:
    helm = {
        "releaseName": "rel",
        "valueFiles": ["prod.yaml", "/values.yaml", "$own/values.yaml", "gone.yaml"],
        "ignoreMissingValueFiles": True,
        "valuesObject": {"b": 2},
        "values": "b: 1",
        "parameters": [
            {"name": "c", "value": "a,b"},
            {"name": "d", "value": "1", "forceString": True},
            {"name": "e", "value": "{a,b}"},
        ],
        "fileParameters": [{"name": "f", "path": "files/f.txt"}],
        "skipCrds": True,
        "kubeVersion": "1.31",
        "apiVersions": ["v1"],
    }
    data = application({}, namespace="ns")
    data["spec"]["sources"] = [
        {"repoURL": URL, "path": "charts/llm", "helm": helm},
        {"repoURL": URL, "ref": "own"},
    ]
    root = repository.root
    assert only(repository, data).helm == HelmOptions(
        "rel",
        "ns",
        (f"{root}/charts/llm/prod.yaml", f"{root}/values.yaml", f"{root}/values.yaml"),
        ("b: 2\n",),
        (("c", "a\\,b"), ("e", "{a,b}")),
        (("d", "1"),),
        (("f", f"{root}/charts/llm/files/f.txt"),),
        kubernetes_version="1.31",
        api_versions=("v1",),
    )


def test_what_kustomize_is_told(repository: Repository) -> None:
    said = {
        "namePrefix": "a-",
        "images": ["web=registry.example:5000/web:1", "db:2", "x=y@sha256:1"],
        "commonLabels": {"team": "a"},
        "components": ["../apps/gw"],
    }
    assert only(repository, application({"path": "base", "kustomize": said})).added == {
        "namePrefix": "a-",
        "images": [
            {"name": "web", "newName": "registry.example:5000/web", "newTag": "1"},
            {"name": "db", "newTag": "2"},
            {"name": "x", "newName": "y", "digest": "sha256:1"},
        ],
        "labels": [{"pairs": {"team": "a"}, "includeSelectors": True, "includeTemplates": False}],
        "components": [f"{repository.root}/apps/gw"],
    }


def test_a_folder_is_read_as_it_says(repository: Repository) -> None:
    said = {"recurse": True, "include": "*.yaml", "exclude": "{a,b}.yaml"}
    found = only(repository, application({"path": "apps", "directory": said}))
    assert found.folder == FolderOptions(True, "*.yaml", "{a,b}.yaml")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (
            {"path": "base", "repoURL": "https://elsewhere.example/a"},
            "its source https://elsewhere.example/a is not",
        ),
        ({"chart": "volcano", "repoURL": "https://charts.example"}, "its chart volcano is from"),
        ({"path": "gone"}, "its source has no folder gone"),
        ({"path": "../outside"}, "its path ../outside is outside of the repository"),
        ({"path": "base", "plugin": {"name": "x"}}, "its objects come from a plugin"),
        ({"path": "base", "directory": {"jsonnet": {"tlas": [{"name": "a"}]}}}, "its directory has jsonnet"),
        ({"path": "base", "drySource": {"a": 1}}, "its source has drySource"),
        ({"path": "base", "helm": {"x": 1}}, "its helm has x"),
        ({"path": "charts/llm", "helm": {"valueFiles": ["https://a/b.yaml"]}}, "are not in the repository"),
        ({"path": "charts/llm", "helm": {"valueFiles": ["$own/b.yaml"]}}, "are not in this repository"),
        ({"path": "charts/llm", "helm": {"valueFiles": ["gone.yaml"]}}, "do not exist"),
        ({"path": "base", "kustomize": {"x": 1}}, "its kustomize has x"),
        ({"path": "base", "kustomize": {"components": ["../../.."]}}, "components is outside"),
        ({"path": ".git"}, "is outside of the repository"),
        ({"path": "base", "kustomize": {"patches": [{"path": "a.yaml"}]}}, "has a patch in a file"),
        ({"path": "base", "kustomize": {"a": 1}, "helm": {"values": "a"}}, "which Argo CD refuses"),
    ],
)
def test_what_is_not_read_says_why(repository: Repository, source: dict[str, Any], reason: str) -> None:
    assert reason in only(repository, application(source)).why_not


def test_another_revision_says_so(repository: Repository) -> None:
    found = only(repository, application({"path": "base", "targetRevision": "v1.2"}))
    assert found.notices == ("its revision v1.2 is judged from the work tree",)
    assert not only(repository, application({"path": "base", "targetRevision": "HEAD"})).notices


CLUSTERS = {"clusters": {"selector": {"matchLabels": {"gpu": "true"}}}}
FOLDERS = {
    "git": {"repoURL": URL, "directories": [{"path": "apps/*"}, {"path": "apps/old", "exclude": True}]}
}
FILES = {"git": {"repoURL": URL, "files": [{"path": "clusters/*/config.json"}]}}
SETS: list[tuple[str, list[Any], bool, str, str, list[tuple[str, str]]]] = [
    ("a list", [{"list": {"elements": [{"app": "gw"}, {"app": "web"}]}}], False, "apps/{{app}}", "dev",
     [("apps/gw", "dev"), ("apps/web", "dev")]),
    ("a list, Go", [{"list": {"elements": [{"app": {"n": "gw"}}]}}], True, "apps/{{ .app.n }}", "dev",
     [("apps/gw", "dev")]),
    ("clusters", [{"clusters": {}}], False, "base", "{{name}}", [("base", "dev"), ("base", "prod")]),
    ("chosen clusters", [CLUSTERS], True, "base", "{{.name}}", [("base", "dev")]),
    ("labels", [{"clusters": {"values": {"d": "gw"}}}], False, "apps/{{values.d}}", "{{metadata.labels.env}}",
     [("apps/gw", "dev"), ("apps/gw", "prod")]),
    ("index", [{"clusters": {}}], True, "base", '{{ index .metadata.labels "env" }}',
     [("base", "dev"), ("base", "prod")]),
    ("folders", [FOLDERS], False, "{{path}}", "dev", [("apps/gw", "dev"), ("apps/web", "dev")]),
    ("folders, Go", [FOLDERS], True, "apps/{{ index .path.segments 1 }}", "dev",
     [("apps/gw", "dev"), ("apps/web", "dev")]),
    ("files", [FILES], False, "base", "{{cluster.name}}", [("base", ""), ("base", "")]),
    ("a matrix", [{"matrix": {"generators": [CLUSTERS, FOLDERS]}}], False, "{{path}}", "{{name}}",
     [("apps/gw", "dev"), ("apps/web", "dev")]),
    ("a matrix that refers to itself",
     [{"matrix": {"generators": [{"list": {"elements": [{"a": "web"}]}},
                                 {"git": {"repoURL": URL, "directories": [{"path": "apps/{{a}}"}]}}]}}],
     False, "apps/{{path.basename}}", "prod", [("apps/web", "prod")]),
    ("a merge",
     [{"merge": {"mergeKeys": ["name"],
                 "generators": [{"clusters": {"values": {"app": "gw"}}},
                                {"list": {"elements": [{"name": "prod", "values.app": "web"},
                                                       {"name": "nobody", "values.app": "old"}]}}]}}],
     False, "apps/{{values.app}}", "{{name}}", [("apps/gw", "dev"), ("apps/web", "prod")]),
    ("a merge, Go",
     [{"merge": {"mergeKeys": ["metadata.labels.env"],
                 "generators": [{"clusters": {"values": {"app": "gw"}}},
                                {"list": {"elements": [{"metadata": {"labels": {"env": "dev"}},
                                                        "values": {"app": "web"}}]}}]}}],
     True, "apps/{{ .values.app }}", "{{ .name }}", [("apps/web", "dev"), ("apps/gw", "prod")]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("generators", "go", "path", "name", "expected"),
    [case[1:] for case in SETS],
    ids=[case[0] for case in SETS],
)
def test_application_sets(
    repository: Repository,
    generators: list[Any],
    go: bool,
    path: str,
    name: str,
    expected: list[tuple[str, str]],
) -> None:
    found = read(repository, application_set(*generators, go=go, path=path, name=name))
    assert [
        (each.sources[0].path.removeprefix(f"{repository.root}/"), each.cluster.name if each.cluster else "")
        for each in found
    ] == expected
    assert not any(source.why_not for each in found for source in each.sources)


TWICE = {"list": {"elements": [{"name": "dev"}, {"name": "dev"}]}}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (application_set({"pullRequest": {}}, path="base"), "its generator pullRequest needs what"),
        (application_set({"clusters": {}, "list": {}}, path="base"), "its generator has clusters, list"),
        (
            application_set({"list": {"elementsYaml": "x"}}, path="base"),
            "its generator list has elementsYaml",
        ),
        (application_set({"clusters": {}}, go=True, path="{{ .name | upper }}"), "whose value is unknown"),
        (
            application_set({"clusters": {}}, go=True, path="{{ if .name }}a{{ end }}"),
            "whose value is unknown",
        ),
        (application_set({"clusters": {}}, path="{{nobody}}"), "its template has {{nobody}}"),
        (
            application_set({"clusters": {}}, path="base", templatePatch="x"),
            "templatePatch without goTemplate",
        ),
        (application_set({"clusters": {}}, go=True, path="base", templatePatch="x"), "templatePatch is not"),
        (
            application_set(
                {"clusters": {}}, go=True, path="base", templatePatch="{{- if .name }}a: 1{{ end }}"
            ),
            "whose value is unknown",
        ),
        (application_set({"git": {"repoURL": "https://a/b", "files": []}}, path="base"), "is not this"),
        (application_set({"merge": {"generators": []}}, path="base"), "merge does not have two generators"),
        (
            application_set({"merge": {"generators": [TWICE, TWICE], "mergeKeys": ["name"]}}, path="base"),
            "two Applications with the same mergeKeys",
        ),
    ],
)
def test_sets_that_are_not_read_say_why(repository: Repository, data: dict[str, Any], reason: str) -> None:
    assert reason in only(repository, data).why_not


def test_a_template_patch_is_merged(repository: Repository) -> None:
    patch = "spec:\n  source: {path: '{{ .path }}', helm: null}\n  destination: {namespace: '{{ .name }}'}\n"
    elements = [{"name": "dev", "path": "apps/gw"}]
    data = application_set({"list": {"elements": elements}}, go=True, path="base", templatePatch=patch)
    source = only(repository, data)
    assert (source.path, source.namespace) == (f"{repository.root}/apps/gw", "dev")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["/val*.yaml"], ["values.yaml"]),
        (["*.yaml", "/charts/**"], ["charts/llm/Chart.yaml", "charts/llm/prod.yaml"]),
        (["*.yaml", "prod.yaml"], ["charts/llm/Chart.yaml", "charts/llm/prod.yaml"]),
        (["/**/prod.yaml", "Chart.yaml", "*.yaml"], ["charts/llm/prod.yaml", "charts/llm/Chart.yaml"]),
    ],
)
def test_patterns_of_value_files(repository: Repository, files: list[str], expected: list[str]) -> None:
    known = ("values.yaml", "charts/llm/Chart.yaml", "charts/llm/prod.yaml")
    data = application({"path": "charts/llm", "helm": {"valueFiles": files}})
    options = only(repository._replace(files=lambda: known), data).helm
    assert options is not None
    assert [file.removeprefix(f"{repository.root}/") for file in options.value_files] == expected


FIELDS = [
    "generators",
    "git",
    "list",
    "clusters",
    "matrix",
    "elements",
    "template",
    "spec",
    "source",
    "sources",
    "path",
    "repoURL",
    "helm",
    "kustomize",
    "directory",
    "destination",
    "name",
    "server",
    "selector",
    "directories",
    "files",
    "values",
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=8), inside, max_size=3),
    max_leaves=10,
)


@given(VALUES, st.booleans())
def test_what_has_no_expression_stays_as_it_is(template: Any, go: bool) -> None:
    if "{{" not in str(template):
        assert filled(template, {"a": "b"}, go=go) == template


@given(st.dictionaries(st.from_regex(r"[a-z]{1,5}", fullmatch=True), st.text(max_size=9), min_size=1))
def test_each_value_takes_the_place_of_its_name(parameters: dict[str, str]) -> None:
    for name, value in parameters.items():
        if "{{" not in value:
            assert filled(f"<{{{{{name}}}}}>", parameters, go=False) == f"<{value}>"
            assert filled(f"<{{{{ .{name} }}}}>", parameters, go=True) == f"<{value}>"


@given(
    st.recursive(
        st.none()
        | st.text(max_size=9)
        | st.sampled_from(["{{name}}", "{{ .a }}", "base", URL, "https://", True]),
        lambda inside: (
            st.lists(inside, max_size=3)
            | st.dictionaries(
                st.sampled_from(FIELDS),
                inside,
                max_size=4,
            )
        ),
        max_leaves=15,
    ),
    st.sampled_from(["Application", "ApplicationSet"]),
)
def test_anything_can_be_read(spec: Any, kind: str) -> None:
    nowhere = Repository("/nowhere", frozenset({normalised(URL)}), (DEV,))
    for each in applications_of({"kind": kind, "spec": spec}, STATED, nowhere):
        assert all(source.why_not for source in each.sources)


def test_the_reason_is_an_error_of_its_own() -> None:
    with pytest.raises(UnreadableError, match="whose value is unknown"):
        filled("{{a.b}}", {"a": "text"}, go=False)
