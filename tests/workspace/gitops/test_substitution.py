"""Variables are substituted on the text of built objects, as Flux does it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.workspace.gitops.sources import Variables, merge_variables
from policykit.workspace.gitops.substitution import SubstitutionError, expanded, substituted

VALUES = {"A": "abc", "DOTS": "a.b.c", "PATH": "a/b/c", "EMPTY": "", "N": "4"}

EXPRESSIONS = [
    ("${A}", "abc"),
    ("x${A}y${N}", "xabcy4"),
    ("$A $ ${A}", "$A $ abc"),
    ("$${A}", "${A}"),
    ("$$A", "$A"),
    ("${NONE}", ""),
    ("${NONE:-no}", "no"),
    ("${NONE:=no}", "no"),
    ("${NONE=no}", "no"),
    ("${EMPTY:-no}", "no"),
    ("${A:-no}", "abc"),
    ("${NONE:-${A}-${N}}", "abc-4"),
    ("${#A}", "3"),
    ("${A:1}", "bc"),
    ("${A:1:1}", "b"),
    ("${A: -1}", "abc"),
    ("${A:9}", ""),
    ("${A^}", "Abc"),
    ("${A^^}", "ABC"),
    ("${A,,}", "abc"),
    ("${DOTS%.*}", "a.b"),
    ("${DOTS%%.*}", "a"),
    ("${DOTS#*.}", "b.c"),
    ("${DOTS##*.}", "c"),
    ("${DOTS/./-}", "a-b.c"),
    ("${DOTS//./-}", "a-b-c"),
    ("${DOTS//./}", "abc"),
    ("${PATH//\\//.}", "a.b.c"),
    ("${A/#a/x}", "xbc"),
    ("${A/%c/x}", "abx"),
]


@pytest.mark.parametrize(("text", "expected"), EXPRESSIONS, ids=[text for text, _ in EXPRESSIONS])
def test_expressions(text: str, expected: str) -> None:
    assert expanded(text, Variables(VALUES)) == expected


@pytest.mark.parametrize("text", ["${A", "${}", "${A-b}", "${A/b}", "${A:}", "${A%}", "${-}", "${A:-${B}"])
def test_what_flux_refuses(text: str) -> None:
    with pytest.raises(SubstitutionError):
        expanded(text, Variables(VALUES))


@pytest.mark.parametrize("text", ["${S}", "${S:-no}", "${#S}", "${S/a/b}", "${NONE:-${S}}"])
def test_what_is_unknown_stays(text: str) -> None:
    assert expanded(f"a{text}b", Variables(VALUES, frozenset({"S"}))) == f"a{text}b"


def test_a_default_counts_only_where_the_variable_is_absent() -> None:
    assert expanded("${X:-a}", Variables({"A": "b"})) == "a"
    assert expanded("${X:-a}", Variables({"A": "b"}, complete=False)) == "${X:-a}"
    assert expanded("${A:-${S}}", Variables({"A": "b"}, complete=False)) == "b"


OBJECT = "kind: A\nmetadata:\n  name: a\nspec:\n  replicas: ${N}\n"


def test_nothing_happens_without_variables() -> None:
    assert substituted(OBJECT, Variables()) == OBJECT
    assert substituted("a: ${N:-1}\n", Variables(complete=False)) == "a: ${N:-1}\n"


@pytest.mark.parametrize("field", ["labels", "annotations"])
def test_objects_that_do_not_want_it(field: str) -> None:
    mark = f"metadata:\n  {field}:\n    kustomize.toolkit.fluxcd.io/substitute: disabled\n"
    left = OBJECT.replace("metadata:\n", mark)
    text = f"{OBJECT}---\n{left}---\n{OBJECT}"
    changed = OBJECT.replace("${N}", "4")
    assert substituted(text, Variables(VALUES)) == f"{changed}---\n{left}---\n{changed}"


def test_later_variables_override_earlier_ones() -> None:
    first, second = Variables({"A": "1", "B": "1"}), Variables({"A": "2"}, frozenset({"B"}))
    assert merge_variables([first, second]) == Variables({"A": "2"}, frozenset({"B"}))
    assert merge_variables([second, first]) == Variables({"A": "1", "B": "1"})
    unread = Variables(complete=False)
    assert merge_variables([first, unread]) == Variables({}, frozenset({"A", "B"}), complete=False)
    assert merge_variables([unread, first]) == Variables({"A": "1", "B": "1"}, complete=False)


PIECES = st.sampled_from(
    ["${", "}", "$", "$$", "A", "N", "S", ":-", ":", "#", "%", "/", "//", "*", "[", "]", "\\", "1", "x", " "]
)


@given(st.lists(PIECES, max_size=30).map("".join))
def test_any_text_is_substituted_or_refused(text: str) -> None:
    variables = Variables({"A": "x/y.z", "N": "4"}, frozenset({"S"}))
    try:
        found = expanded(text, variables)
    except SubstitutionError:
        return
    assert len(found) <= 40 * (len(text) + 1)


@given(st.text(alphabet=st.characters(exclude_characters="$", exclude_categories=["Cs"]), max_size=60))
def test_text_without_variables_stays(text: str) -> None:
    assert expanded(text, Variables(VALUES)) == text
    assert expanded(f"{text}${{A}}{text}", Variables(VALUES)) == f"{text}abc{text}"


def test_work_is_bounded() -> None:
    long = Variables({"A": "a" * 1000, "B": "ab" * 400})
    deep = "${A:-" * 60 + "}" * 60
    for text in (deep, "${A}" * 100_000, "${A/a/" + "b" * (1 << 21) + "}"):
        with pytest.raises(SubstitutionError):
            expanded(text, long)
    assert expanded("${B##*a*a*a*a*a*a*a*a*x}", long) == "ab" * 400


UPSTREAM = {
    "A": "abc",
    "B": "a.b.c",
    "P": "a/b/c",
    "E": "",
    "N": "4",
    "_x1": "Éé",
    "STAR": "a*b",
    "Q": "x y",
}
"""The variables of the texts in `envsubst.json`."""


def test_texts_with_the_results_of_flux() -> None:
    """Random texts, with what `github.com/fluxcd/pkg/envsubst` 1.7.1 makes of them; null: it refuses them."""
    texts = json.loads((Path(__file__).parent / "envsubst.json").read_text(encoding="utf-8"))
    wrong = [(text, expected) for text, expected in texts if _made_of(text) != expected]
    assert len(texts) == 300
    assert wrong == []


def _made_of(text: str) -> str | None:
    try:
        return expanded(text, Variables(UPSTREAM))
    except SubstitutionError:
        return None
