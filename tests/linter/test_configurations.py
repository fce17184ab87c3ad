"""Scheduler configurations, bare or in strings: found, and placed in the file."""

from __future__ import annotations

import pytest

from policykit import api
from policykit.linter.configurations import bare, embedded_configurations, hinted
from policykit.manifests.document import manifests
from policykit.manifests.parser import parse
from policykit.targets import CONFIGURATIONS

INNER = "kind: KubeSchedulerConfiguration\nprofiles:\n- plugins: {score: {enabled: [{name: GPUAffinity}]}}\n"


def config_map(value: str) -> str:
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: scheduler}}\ndata:\n  config: {value}\n"


def block(indicator: str) -> str:
    body = f"apiVersion: kubescheduler.config.k8s.io/v1\n{INNER}"
    return config_map(f"{indicator}\n    " + body.replace("\n", "\n    "))


def found(text: str) -> list[tuple[str, int, int, str, str]]:
    report = api.lint_texts({"a.yaml": text.encode()}, select=["PK8"])
    return [(f.code, f.span.line, f.span.column, f.pointer, str(f.resource)) for f in report.findings]


PLACE = ("PK801", 9, 42, "/data/config", "ConfigMap scheduler")


@pytest.mark.parametrize("indicator", ["|", "|-", "|+"])
def test_in_a_block(indicator: str) -> None:
    assert found(block(indicator)) == [PLACE]


def test_in_quotes_on_one_line() -> None:
    body = f"apiVersion: kubescheduler.config.k8s.io/v1\n{INNER}".replace("\n", "\\n")
    ((code, line, column, pointer, _),) = found(config_map(f'"{body}"'))
    assert (code, line, pointer) == ("PK801", 5, "/data/config")
    assert column > 100


@pytest.mark.parametrize(
    "text",
    [
        config_map("KubeSchedulerConfiguration"),
        config_map('"kind: KubeSchedulerConfiguration: ["'),
        config_map("[KubeSchedulerConfiguration]"),
        config_map("null"),
        block("|").replace("kind: ConfigMap", "kind: Secret"),
        "apiVersion: v1\nkind: ConfigMap\ndata: [KubeSchedulerConfiguration]\n",
    ],
    ids=["a word", "broken", "a list", "null", "not a ConfigMap", "data is a list"],
)
def test_what_is_none(text: str) -> None:
    assert found(text) == []


def test_permissions_of_github_are_no_actions_of_volcano() -> None:
    text = "jobs:\n  review:\n    with:\n      permissions: |\n        actions: read\n"
    assert read(text) == []
    assert [name for name, _, _ in read(text.replace("read", "enqueue, alocate"))] == [
        "volcano-scheduler.conf"
    ]


VOLCANO = 'actions: "enqueue, allocate"\ntiers:\n- plugins:\n  - name: gang\n  - name: gang\n'
QUEUES = "partitions:\n- name: default\n  queues:\n  - name: root\n"


def indented(text: str, by: int) -> str:
    return "".join(f"{' ' * by}{line}\n" for line in text.splitlines())


def holders(key: str, text: str) -> dict[str, str]:
    """The text as people keep it."""
    values = f"custom:\n  {key}: |\n" + indented(text, 4)
    return {
        "bare": text,
        "a block in a ConfigMap": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yunikorn-configs}\n"
        f"data:\n  {key}: |\n" + indented(text, 4),
        "Helm values": values,
        "a HelmRelease": "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a}\n"
        "spec:\n  values:\n" + indented(values, 4),
        "values in an Application": "apiVersion: argoproj.io/v1alpha1\nkind: Application\n"
        "metadata: {name: a}\nspec:\n  source:\n    helm:\n      values: |\n" + indented(values, 8),
    }


def read(text: str) -> list[tuple[str, int, int]]:
    """Name and place of each configuration in a file."""
    found = []
    for index, document in enumerate(parse(text)):
        assert document.root is not None
        for manifest in manifests(document.root, index):
            known = hinted(text, CONFIGURATIONS)
            if alone := bare(manifest, known):
                found.append((alone.kind, 1, 1))
            for each in embedded_configurations(manifest, text, known):
                assert each.manifest.holder == manifest
                span = each.relocate(each.manifest.span(()))
                found.append((each.manifest.kind, span.line, span.column))
    return found


@pytest.mark.parametrize(
    ("key", "text"),
    [("volcano-scheduler.conf", VOLCANO), ("queues.yaml", QUEUES)],
    ids=["volcano", "yunikorn"],
)
@pytest.mark.parametrize(
    ("holder", "place"),
    [
        ("bare", (1, 1)),
        ("a block in a ConfigMap", (6, 5)),
        ("Helm values", (3, 5)),
        ("a HelmRelease", (8, 9)),
        ("values in an Application", (10, 13)),
    ],
)
def test_wherever_it_stands(key: str, text: str, holder: str, place: tuple[int, int]) -> None:
    assert read(holders(key, text)[holder]) == [(key, *place)]


@pytest.mark.parametrize(
    ("value", "places"),
    [
        ("|\n    actions: [\n", [("PK001", 6, 14)]),
        ("|-\n    actions: allocate\n    actions: enqueue\n    tiers: []\n", [("PK002", 7, 5)]),
        ('"actions: allocate\\nactions: enqueue"\n', [("PK002", 5, 47)]),
        (">\n    actions: allocate\n\n    actions: enqueue\n", [("PK002", 8, 5)]),
    ],
    ids=["a bracket left open", "twice in a block", "twice in quotes", "twice in folded lines"],
)
def test_a_broken_text_is_told_inside(value: str, places: list[tuple[str, int, int]]) -> None:
    head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: volcano}\ndata:\n"
    text = f"{head}  volcano-scheduler.conf: {value}"
    report = api.lint_texts({"a.yaml": text.encode()}, select=["PK001", "PK002"])
    assert [(f.code, f.span.line, f.span.column) for f in report.findings] == places
    assert {f.pointer for f in report.findings} == {"/data/volcano-scheduler.conf"}


SCRIPT = "cat <<EOF\n    kind: KubeSchedulerConfiguration\n      profiles: [\n    EOF\n"
BROKEN = "---\n    # of the second scheduler\n    kind: KubeSchedulerConfiguration\n    profiles: [\n"


@pytest.mark.parametrize(
    ("body", "places"),
    [
        (BROKEN, [("PK001", 9, 15)]),
        (BROKEN.replace("[", "[{{ .Values.profile }}"), []),
        (SCRIPT, []),
    ],
    ids=["broken", "a template", "a script that writes one"],
)
def test_a_broken_text_that_states_its_kind(body: str, places: list[tuple[str, int, int]]) -> None:
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: own}}\ndata:\n  any: |\n    {body}"
    report = api.lint_texts({"a.yaml": text.encode()}, select=["PK001"])
    assert [(f.code, f.span.line, f.span.column) for f in report.findings] == places


def test_only_the_documents_of_its_kind_are_looked_at() -> None:
    pod = "---\n    apiVersion: v1\n    kind: Pod\n    metadata: {name: A_B}\n"
    body = f"kind: KubeSchedulerConfiguration\n    {pod}"
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: own}}\ndata:\n  any: |\n    {body}"
    assert api.lint_texts({"a.yaml": text.encode()}).findings == ()


@pytest.mark.parametrize(
    "text",
    [
        "partitions: 3\n",
        "partitions: [a, b]\n",
        "actions: [build, test]\njobs: {}\n",
        'actions: "build"\nsteps: []\n',
        "tiers: [gold, silver]\n",
        "apiVersion: v1\nkind: ConfigMap\ndata: {broker.properties: 'partitions: 3'}\n",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop}\ndata: {queues.yaml: 'queues: [a]'}\n",
    ],
)
def test_texts_of_others(text: str) -> None:
    assert read(text) == []
