"""The words of an object."""

import pytest

from policykit.manifests.words import words

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
