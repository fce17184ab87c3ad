"""Objects of a file: where their fields stand, and the words they are written with."""

import pytest

from policykit.manifests.document import Manifest, manifests, words
from policykit.manifests.node import Span
from policykit.manifests.parser import parse
from policykit.manifests.path import Path, dotted, lookup, pointer

TEXT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web, "n": 1}
spec:
  template:
    spec:
      containers:
        - name: main
          image: "nginx:1"
          resources:
            limits: {nvidia.com/gpu: 1}
      tolerations: []
      nodeSelector:
  text: |
    long
"""


def objects(text: str) -> list[Manifest]:
    return [m for at, p in enumerate(parse(text)) if p.root for m in manifests(p.root, at)]


@pytest.mark.parametrize(
    ("path", "key", "span"),
    [
        (("kind",), False, Span(2, 7, 2, 17)),
        (("kind",), True, Span(2, 1, 2, 5)),
        (("metadata",), False, Span(3, 1, 3, 9)),
        (("metadata", "name"), False, Span(4, 9, 4, 12)),
        (("metadata", "labels", "app"), False, Span(5, 17, 5, 20)),
        (("spec", "template", "spec", "containers", 0), False, Span(10, 11, 10, 15)),
        (("spec", "template", "spec", "containers", 0, "image"), False, Span(11, 18, 11, 27)),
        (("spec", "template", "spec", "containers", 0, "resources"), False, Span(12, 11, 12, 20)),
        (
            ("spec", "template", "spec", "containers", 0, "resources", "limits", "nvidia.com/gpu"),
            True,
            Span(13, 22, 13, 36),
        ),
        (("spec", "template", "spec", "tolerations"), False, Span(14, 7, 14, 18)),
        (("spec", "template", "spec", "nodeSelector"), False, Span(15, 7, 15, 19)),
        (("spec", "template", "spec", "affinity", "nodeAffinity"), False, Span(8, 5, 8, 9)),
        (("spec", "template", "spec", "containers", 5, "x"), False, Span(9, 7, 9, 17)),
        (("nowhere",), False, Span(1, 1, 1, 11)),
        (("spec", "text"), False, Span(16, 9, 16, 10)),
    ],
    ids=lambda value: (
        pointer(value) if isinstance(value, tuple) and not isinstance(value, Span) else str(value)
    ),
)
def test_span(path: Path, key: bool, span: Span) -> None:
    (manifest,) = objects(TEXT)
    assert manifest.span(path, key=key) == span


def test_what_a_manifest_says_of_itself() -> None:
    (manifest,) = objects(TEXT)
    assert (manifest.group, manifest.kind, manifest.name, manifest.namespace) == (
        "apps",
        "Deployment",
        "web",
        "",
    )
    assert manifest.labels == {"app": "web"}


def test_items_of_lists_are_objects_of_their_own() -> None:
    text = """\
kind: List
apiVersion: v1
items:
- {kind: Pod, apiVersion: v1}
- kind: ConfigMapList
  items:
  - {kind: ConfigMap, apiVersion: v1}
"""
    found = objects(text)
    assert [(m.kind, m.base) for m in found] == [
        ("Pod", ("items", 0)),
        ("ConfigMap", ("items", 1, "items", 0)),
    ]
    assert found[1].span(("kind",)) == Span(7, 12, 7, 21)


@pytest.mark.parametrize(
    "text", ["", "[]", "text", "8", "kind: {}\nmetadata: []\n", "kind: List\nitems: {}\n"]
)
def test_wrong_shapes_are_read_as_empty(text: str) -> None:
    for manifest in objects(text):
        assert (manifest.name, manifest.namespace, manifest.labels, manifest.annotations) == ("", "", {}, {})


@pytest.mark.parametrize(
    ("path", "as_pointer", "as_text"),
    [
        ((), "", "(document)"),
        (("a", 0, "b"), "/a/0/b", "a[0].b"),
        (("metadata", "labels", "x/y~z"), "/metadata/labels/x~1y~0z", "metadata.labels['x/y~z']"),
    ],
)
def test_path_as_text(path: Path, as_pointer: str, as_text: str) -> None:
    assert pointer(path) == as_pointer
    assert dotted(path) == as_text


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("a", 1, "b"), 5),
        (("a", 9), None),
        (("a", "x"), None),
        ((), {"a": [0, {"b": 5}]}),
        (("a", 1, "b", "c"), None),
    ],
)
def test_lookup(path: Path, value: object) -> None:
    assert lookup({"a": [0, {"b": 5}]}, path) == value


@pytest.mark.parametrize(
    ("path", "written"),
    [
        (("version",), "1.10"),
        (("flags", 0), "yes"),
        (("flags", 1), ""),
        (("flags", 2), "0x1F"),
        (("nothing",), "~"),
        (("text",), ""),
        (("alias",), ""),
        (("tagged",), ""),
        (("flags",), ""),
        (("flags", 7), ""),
        (("text", "x"), ""),
        (("absent",), ""),
    ],
)
def test_how_a_value_is_written(path: Path, written: str) -> None:
    text = (
        "version: 1.10 # of it\nflags: [yes, 'no', 0x1F]\nnothing: ~\ntext: abc\n"
        "anchored: &v true\nalias: *v\ntagged: !!int 5\n"
    )
    root = next(iter(parse(text))).root
    assert root is not None
    assert Manifest(root.data, root, 0).written(path) == written


OBJECT = {
    "kind": "Pod",
    "metadata": {"annotations": {"volcano.sh/queue-name": "team"}},
    "spec": {"containers": [{"name": "main", "ports": [80, None, True]}, "odd"]},
}


def test_keys_and_texts_of_any_depth() -> None:
    found = words(OBJECT)
    assert found.keys == {
        *("kind", "metadata", "annotations", "volcano.sh/queue-name", "spec", "containers", "name", "ports")
    }
    assert found.texts == {"Pod", "team", "main", "odd"}


@pytest.mark.parametrize(
    ("beginnings", "expected"),
    [(("volcano.sh/",), True), (("queue", "vol"), True), (("queue",), False), ((), False)],
)
def test_a_key_begins_with(beginnings: tuple[str, ...], expected: bool) -> None:
    assert words(OBJECT).begin(beginnings) is expected


@pytest.mark.parametrize(("ends", "expected"), [(("queue-name",), True), (("volcano.sh/",), False)])
def test_a_key_ends_with(ends: tuple[str, ...], expected: bool) -> None:
    assert words(OBJECT).end(ends) is expected


@pytest.mark.parametrize("data", [None, 3, "", [], {1: "a"}], ids=repr)
def test_other_shapes_have_no_keys(data: object) -> None:
    assert words(data).keys == frozenset()
