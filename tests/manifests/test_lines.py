"""Lines that no YAML has: what they are called, and where."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.manifests.lines import non_yaml

LEFT_OUT = "marks omitted text, which YAML cannot express"
SLASHES = "`//` does not begin a comment in YAML"
BLANK = "is used for indentation; YAML allows only spaces there"


@pytest.mark.parametrize(
    ("line", "column", "width", "message"),
    [
        ("  ...", 2, 3, f"`...` {LEFT_OUT}"),
        ("- .....", 0, 7, f"`- .....` {LEFT_OUT}"),
        ("\u2026", 0, 1, f"`\u2026` {LEFT_OUT}"),
        ("  <...>  ", 2, 5, f"`<...>` {LEFT_OUT}"),
        ("  // both", 2, 7, SLASHES),
        ("//both: sizes", 0, 13, SLASHES),
        ("  size:   // both: sizes", 10, 14, SLASHES),
        ("size: 'a' // both", 10, 7, SLASHES),
        ("  \xa0a: b", 2, 1, f"a no-break space (U+00A0) {BLANK}"),
        ("  -\xa0a: b", 3, 1, f"a no-break space (U+00A0) {BLANK}"),
        ("\u3000a: b", 0, 1, f"a full-width space (U+3000) {BLANK}"),
        ("  - size\uff1a4", 8, 1, "a full-width colon (U+FF1A) is used where YAML needs `:`"),
        ("cat > a.yaml <<-'END'", 0, 21, "this is a shell command, not YAML"),
        ("$ kubectl apply -f - << EOF", 0, 27, "this is a shell command, not YAML"),
    ],
)
def test_foreign(line: str, column: int, width: int, message: str) -> None:
    found = non_yaml(line)
    assert found is not None
    assert (found.column, found.width, found.message) == (column, width, message)


@pytest.mark.parametrize(
    "line",
    [
        "a: b",
        "a: ...",
        "- a..",
        "image: //registry/app",
        "url: https://example.com // x",
        "a: \xa0b",
        "note: size\uff1a4",
        "'size\uff1a4'",
        "run: cat <<EOF",
        "cat a.yaml",
        "",
    ],
)
def test_not_foreign(line: str) -> None:
    assert non_yaml(line) is None


def test_the_end_of_a_here_document_is_named() -> None:
    found = non_yaml("kubectl apply -f - <<END")
    assert found is not None
    assert found.help == "keep only what is between it and END"


@given(st.text(alphabet=" -.\u2026<>/:'\"\xa0\u3000\uff1aaE\t", max_size=20))
def test_the_place_is_in_the_line(line: str) -> None:
    found = non_yaml(line)
    assert found is None or 0 <= found.column < found.column + found.width <= len(line)
