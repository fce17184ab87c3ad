"""YAML as policykit writes it: it says what was meant, and yamllint has nothing to say."""

from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from yamllint import linter  # it ships no types
from yamllint.config import YamlLintConfig  # it ships no types

from policykit.manifests.document import manifests
from policykit.manifests.parser import parse
from policykit.manifests.writer import dump, dump_all, scalar

YAMLLINT = YamlLintConfig("extends: default")

CHARACTERS = st.characters(codec="utf-8")
TEXT = st.text(CHARACTERS, max_size=200)
NUMBER_LIKE = st.text("0123456789_.:+-eExXobaf", max_size=12)
SPOKEN = st.lists(st.text("ab-'#:\"", min_size=1, max_size=12), max_size=40).map(" ".join)
KEYS = st.text(CHARACTERS, max_size=30)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXT, NUMBER_LIKE, SPOKEN
)
DATA = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)

WORD = st.text("abc019-._/=: #'\"", max_size=60)
LINES = st.text("ab: #'\"-", min_size=1, max_size=40).map(str.strip).filter(bool)
PARAGRAPHS = st.lists(LINES, max_size=6).map("\n".join)
"""What a block can hold; what it cannot is quoted, and then as long as it is."""
PLEASANT = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), WORD, SPOKEN, PARAGRAPHS),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(WORD.map(lambda w: w[:12]), inner, max_size=4)
    ),
    max_leaves=12,
)


def complaints(text: str) -> list[str]:
    return [str(problem) for problem in linter.run(text, YAMLLINT)]


@given(DATA)
@example("...")
@example({"...": "..."})
@example("0b_")
@example("9" * 500)
@example(1e16)
@example(-5e-324)
@example({"a": "\n\n b\n"})
@example({"a": "x\n\n\n"})
@example(["y " * 60 + "z"])
def test_reads_back_equal(data: Any) -> None:
    assert yaml.safe_load(dump(data)) == data


@given(st.lists(DATA, min_size=1, max_size=3))
def test_a_stream_reads_back_equal(documents: list[Any]) -> None:
    assert list(yaml.safe_load_all(dump_all(documents))) == documents


@given(
    st.dictionaries(KEYS.filter(lambda key: key not in ("<<", "=")), TEXT | NUMBER_LIKE | SPOKEN, min_size=1)
)
def test_policykit_reads_its_own_text(data: dict[str, str]) -> None:
    (document,) = parse(dump(data))
    assert document.root is not None
    (manifest,) = manifests(document.root, 0)
    assert manifest.data == data


@given(DATA)
def test_same_data_same_bytes(data: Any) -> None:
    once = dump(data)
    assert dump(data) == once
    assert dump(yaml.safe_load(once)) == once


@given(
    st.lists(
        st.dictionaries(WORD.map(lambda w: w[:12]), PLEASANT, min_size=1, max_size=4), min_size=1, max_size=3
    )
)
@example([{"a": "x  \ny"}])
@example([{"a": "x\n\n\n\ny"}])
@example([{"a": ["", "b" * 100, "c " * 70 + "d"]}])
@example([{"value": "maip.mxsf.io/node.usage=training," * 4}])
@example([{"yes": "on", "no": None}])
def test_yamllint_is_content(documents: list[dict[str, Any]]) -> None:
    assert complaints(dump_all(documents)) == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("NVIDIA-H20", "NVIDIA-H20"),
        ("key=value:NoSchedule", "key=value:NoSchedule"),
        ("two words", "two words"),
        ("1Gi", "1Gi"),
        ("10.0.0.1", "10.0.0.1"),
        ("", '""'),
        ("yes", '"yes"'),
        ("null", '"null"'),
        ("1.36", '"1.36"'),
        ("0777", '"0777"'),
        ("1e3", '"1e3"'),
        ("12:30", '"12:30"'),
        ("2026-01-31", '"2026-01-31"'),
        ("1_000", '"1_000"'),
        ("- a", '"- a"'),
        ("a: b", '"a: b"'),
        ("a #b", '"a #b"'),
        ("ends:", '"ends:"'),
        ("*all", '"*all"'),
        ("混部", '"混部"'),
        ("bell\a", '"bell\\u0007"'),
        (True, "true"),
        (None, "null"),
        (100, "100"),
        (0.5, "0.5"),
        (1e16, "1.0e+16"),
        (float("inf"), ".inf"),
        (float("-inf"), "-.inf"),
        (float("nan"), ".nan"),
    ],
    ids=repr,
)
def test_scalars(value: object, text: str) -> None:
    assert scalar(value) == text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"a": {"b": [1, {"c": 2, "d": []}]}}, "a:\n  b:\n    - 1\n    - c: 2\n      d: []\n"),
        ([[1, 2], {}], "- - 1\n  - 2\n- {}\n"),
        ({"conf": "a: 1\nb: 2\n"}, "conf: |\n  a: 1\n  b: 2\n"),
        ({"conf": "a: 1\nb: 2"}, "conf: |-\n  a: 1\n  b: 2\n"),
        ({"conf": " a\nb\n"}, 'conf: " a\\nb\\n"\n'),
        (["a\nb\n"], "- |\n  a\n  b\n"),
        ({"key": "x" * 90}, f"key:\n  {'x' * 90}\n"),
        ({"key": "word " * 20 + "end"}, f"key: >-\n  {('word ' * 15).strip()}\n  {'word ' * 5}end\n"),
        ((), "[]\n"),
        ("text", "text\n"),
    ],
    ids=[
        "nested",
        "list in list",
        "block",
        "block without end",
        "block that begins with a space",
        "block in list",
        "long word",
        "long sentence",
        "empty",
        "scalar",
    ],
)
def test_layout(data: Any, text: str) -> None:
    assert dump(data) == text


def test_long_text_that_needs_quotes_is_decided_at_once() -> None:
    """Where the pattern goes back over the text, this does not end."""
    text = "a" * 2_000_000
    assert scalar(f"{text}'") == f'"{text}\'"'
