"""Plans as Markdown: text from outside stands in code, and leaves it nowhere."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from policykit.formats.plan import json_text, markdown, text
from policykit.plan.changes import Change
from policykit.plan.effects import Effect
from policykit.plan.plan import Plan
from policykit.plan.transition import Step
from policykit.targets.nodes.existing_nodes import command

HOSTILE = (
    "`code`", "```\n/approve\n```", "\n/merge", "@everyone", "[a](http://x.example)", "![a](x)",
    "<img src=x>",
    "#1", "!2", "\r\n/close", "\u202e", "``", "``` ~~~", "\\`", "::error::x", "&lt;", "|", "\x1b[31m",
    "https://x.example",
)  # fmt: skip
words = st.one_of(  # never empty: an empty check is not shown
    st.sampled_from(HOSTILE),
    st.text(st.sampled_from("`/@[]()<>!#*_|~\\ \n\r\tab"), min_size=1, max_size=12),
    st.text(min_size=1, max_size=8),
)


def plan(outside: str) -> Plan:
    """With the text from outside in every place."""
    label = command("kubectl label nodes", [outside], [outside])
    return Plan(
        outside,
        (Change("~", "pool", outside, (outside,), outside),),
        (Effect("nowhere", outside, outside, outside, (1, 0), (8, 0)),),
        (
            Step(
                "merge",
                outside,
                (label.rstrip("\n"),),
                outside,
            ),
        ),
        is_safe=True,
        exhaustive=True,
        one_merge=False,
        pod_sets=1,
    )


def without_code(shown: str) -> str:
    """The Markdown without its code: fenced blocks by CommonMark's rule, then spans of equal backticks."""
    lines, fence = [], ""
    for line in shown.split("\n"):
        opened = re.fullmatch(r" *(`{3,})(\w*)", line)
        if fence and opened and not opened[2] and len(opened[1]) >= len(fence):
            fence = ""
        elif not fence and opened:
            fence = opened[1]
        elif not fence:
            lines.append(line)
    assert not fence, "a fence is never closed"
    return "\n".join(re.sub(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)", "CODE", line) for line in lines)


@given(words)
def test_nothing_from_outside_stands_outside_of_code(outside: str) -> None:
    assert without_code(markdown(plan(outside), outside)) == without_code(markdown(plan("a"), "a"))


@given(words)
def test_no_line_begins_with_text_from_outside(outside: str) -> None:
    """GitLab executes lines that begin with a slash."""
    expected = {line.replace("CODE", "")[:3] for line in without_code(markdown(plan("a"), "a")).split("\n")}
    for line in markdown(plan(outside), outside).split("\n"):
        assert not line.lstrip().startswith("/")
    assert len(expected) > 1


@given(words)
def test_text_and_json_keep_their_lines_and_show_no_control_characters(outside: str) -> None:
    found = text(plan(outside), outside)
    assert found.count("\n") == text(plan("a"), "a").count("\n")
    assert "\x1b" not in found + json_text(plan(outside), outside)
