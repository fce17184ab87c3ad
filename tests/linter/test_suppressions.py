"""Comments and annotations that silence findings, and what they cover."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit import api
from policykit.linter.finding import Report
from policykit.linter.input_file import InputFile
from policykit.linter.suppressions import Directive, is_day, of_annotation, of_comment, without
from policykit.linter.workspace import Options, Workspace
from policykit.manifests.edit import read

TEMPLATE = """\
{first}apiVersion: batch/v1
kind: Job
metadata:
  name: train
{annotation}spec:{spec}
  parallelism: 2
  completions: 1{shape}
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: registry.example/train:1
          resources:{resources}
{above}            requests:
              cpu: 1
              nvidia.com/gpu: 1{card}
"""


def findings(**parts: str) -> list[str]:
    names = ("first", "annotation", "spec", "shape", "resources", "above", "card")
    text = TEMPLATE.format(**{name: parts.get(name, "") for name in names})
    report = api.lint_texts({"job.yaml": text.encode()}, select=["PK2"])
    assert report.suppressed == 2 - len(report.findings)
    return [f.code for f in report.findings]


def test_without_any() -> None:
    assert findings() == ["PK210", "PK201"]


@pytest.mark.parametrize(
    ("parts", "remain"),
    [
        ({"card": "  # policykit: ignore[PK201] -- webhook adds it"}, ["PK210"]),
        ({"card": "  # policykit: ignore[card-request-limit-mismatch]"}, ["PK210"]),
        ({"card": "  # policykit: ignore[PK2] -- both"}, ["PK210"]),
        ({"card": "  # policykit: ignore[PK210] -- another rule"}, ["PK210", "PK201"]),
        ({"card": "  # policykit: ignore[] -- no rule named"}, ["PK210", "PK201"]),
        ({"card": "  # policykit: ignore -- no rule named"}, ["PK210", "PK201"]),
        ({"resources": "  # policykit: ignore[PK201] -- the whole node"}, ["PK210"]),
        ({"spec": "  # policykit: ignore[PK201, PK210] -- the whole spec"}, []),
        ({"above": "            # policykit: ignore[PK201] -- the node below\n"}, ["PK210"]),
        ({"first": "# policykit: ignore[PK201,PK210] -- the document\n"}, []),
        ({"annotation": "  annotations:\n    policykit.io/ignore: PK201, job-shape -- known\n"}, []),
        ({"annotation": "  annotations:\n    policykit.io/ignore: PK201 -- known\n"}, ["PK210"]),
        ({"annotation": '  annotations:\n    note: "x # policykit: ignore[PK201]"\n'}, ["PK210", "PK201"]),
    ],
)
def test_what_a_suppression_covers(parts: dict[str, str], remain: list[str]) -> None:
    assert findings(**parts) == remain


def test_a_comment_covers_its_own_document_only() -> None:
    text = TEMPLATE.format(
        first="# policykit: ignore[PK2] -- first only\n",
        annotation="",
        spec="",
        shape="",
        resources="",
        above="",
        card="",
    )
    other = TEMPLATE.format(first="", annotation="", spec="", shape="", resources="", above="", card="")
    report = api.lint_texts({"jobs.yaml": f"{text}---\n{other}".encode()}, select=["PK2"])
    assert [(f.code, f.document) for f in report.findings] == [("PK210", 1), ("PK201", 1)]


def test_text_of_several_lines_holds_no_comment() -> None:
    note = "  annotations:\n    note: |\n      # policykit: ignore[PK201, PK210]\n"
    assert findings(annotation=note) == ["PK210", "PK201"]


def dated(today: str, until: str) -> Report:
    text = TEMPLATE.format_map(
        {**EMPTY, "card": f"  # policykit: ignore[PK201] until {until} -- the webhook"}
    )
    return api.lint_texts({"job.yaml": text.encode()}, select=["PK201", "PK9"], today=today)


EMPTY = dict.fromkeys(("first", "annotation", "spec", "shape", "resources", "above", "card"), "")


@pytest.mark.parametrize(
    ("today", "until", "codes", "hidden"),
    [
        ("2026-06-30", "2026-06-30", [], 1),
        ("2026-07-01", "2026-06-30", ["PK201", "PK904"], 0),
        ("2026-07-01", "June", ["PK904"], 1),
        ("", "2026-06-30", [], 1),
    ],
    ids=["its last day", "the day after", "no day at all", "nobody says which day it is"],
)
def test_the_end_of_a_suppression(today: str, until: str, codes: list[str], hidden: int) -> None:
    report = dated(today, until)
    assert (sorted(f.code for f in report.findings), report.suppressed) == (codes, hidden)


GROUP = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata:
  name: g
  annotations:
    policykit.io/ignore: PK306, PK008 -- its pods are made later
spec:
  minMember: 1
"""


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_what_hides_findings_about_scopes_is_used(workers: int) -> None:
    texts = {f"{n}.yaml": GROUP.replace("name: g", f"name: g{n}").encode() for n in range(8)}
    members = tuple(InputFile(path, path, "scope", 0) for path in texts)
    settings = (api.setting(select=["PK3", "PK9"]),)
    workspace = Workspace(members, settings, texts.__getitem__, lambda _: members)
    report = api.lint(workspace, Options(workers=workers))
    assert [(f.path, f.message.split(" ")[0]) for f in report.findings] == [(path, "PK008") for path in texts]
    assert report.suppressed == 8


COMMENTS = st.sampled_from(
    [
        "  # policykit: ignore[PK201, PK112] -- why",
        " # policykit: ignore[PK117]",
        "# policykit: ignore[PK903]",
    ]
)
LINES = st.lists(st.tuples(st.integers(0, 14), COMMENTS, st.booleans()), max_size=6)
TEXT = TEMPLATE.format_map(EMPTY)


@settings(max_examples=40, deadline=None)
@given(LINES, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_fixed_comments_leave_the_data_and_nothing_unused(
    added: list[tuple[int, str, bool]], ending: str, closed: bool
) -> None:
    lines = TEXT.split("\n")[:-1]
    for line, comment, alone in sorted(added, reverse=True):
        if alone:
            lines.insert(line, comment)
        elif "#" not in lines[line]:
            lines[line] += " " + comment
    raw = (ending.join(lines) + (ending if closed else "")).encode()
    result = api.fix_texts({"job.yaml": raw}, select=["PK903"])
    after = result.after.get("job.yaml", raw)
    assert [f.code for f in result.report.findings if f.code == "PK903" and f.fix] == []
    assert [node and node.data for node in read(after.decode())] == [
        node and node.data for node in read(TEXT)
    ]
    assert result.dropped == ()
    left = [line.split("#")[0].rstrip() for line in after.decode().split("\n")]
    assert [line for line in left if line] == TEXT.rstrip("\n").split("\n")


WORDS = st.lists(st.sampled_from(["PK101", "PK2", "missing-toleration", "x"]), max_size=5)
SEPARATORS = st.sampled_from([",", ", ", " ", " , ", "\t"])


@pytest.mark.parametrize(
    ("rest", "directive"),
    [
        ("", Directive(("PK1",))),
        (" -- why", Directive(("PK1",), None, "why")),
        ("--why", Directive(("PK1",), None, "why")),
        (" -- until it works", Directive(("PK1",), None, "until it works")),
        (" until 2030-01-31", Directive(("PK1",), "2030-01-31")),
        ("  until  2030-01-31  --  why -- indeed ", Directive(("PK1",), "2030-01-31", "why -- indeed")),
        (" until", Directive(("PK1",), "")),
        (" until -- why", Directive(("PK1",), "", "why")),
        (" until the end of May", Directive(("PK1",), "the end of May")),
        (" untilled", Directive()),
        (" because", Directive()),
        (" since until 2030-01-31", Directive()),
    ],
)
def test_of_comment(rest: str, directive: Directive) -> None:
    assert of_comment("PK1", rest) == directive


@pytest.mark.parametrize(
    ("text", "directive"),
    [
        ("PK101", Directive(("PK101",))),
        (
            "PK101, PK103 until 2030-01-31 -- until then",
            Directive(("PK101", "PK103"), "2030-01-31", "until then"),
        ),
        ("PK101\nPK103 until\n2030-01-31", Directive(("PK101", "PK103"), "2030-01-31")),
        ("until 2030-01-31", Directive((), "2030-01-31")),
        (" , ", Directive()),
    ],
)
def test_of_annotation(text: str, directive: Directive) -> None:
    assert of_annotation(text) == directive


@pytest.mark.parametrize(
    ("until", "today", "expired"),
    [
        ("2030-01-31", "2030-01-31", False),
        ("2030-01-31", "2030-02-01", True),
        ("2030-01-31", "", False),
        ("2030-02-30", "2031-01-01", False),
        ("", "2031-01-01", False),
        (None, "2031-01-01", False),
    ],
)
def test_expired(until: str | None, today: str, expired: bool) -> None:
    assert Directive(("PK1",), until).expired(today) is expired


@pytest.mark.parametrize("text", ["2028-02-29", "0001-01-01", "9999-12-31"])
def test_days(text: str) -> None:
    assert is_day(text)


@pytest.mark.parametrize(
    "text", ["2027-02-29", "2027-13-01", "27-01-01", "20270101", "2027-1-1", "٢٠٢٧-01-01"]
)
def test_no_days(text: str) -> None:
    assert not is_day(text)


@pytest.mark.parametrize(
    ("names", "gone", "left"),
    [
        ("PK1,PK2, PK3", ["PK2"], "PK1, PK3"),
        ("PK1,PK2, PK3", ["PK1"], "PK2, PK3"),
        (" PK1 , PK2 ", ["PK2"], " PK1 "),
        ("PK1 PK1 PK2", ["PK1"], "PK2"),
        ("PK1", ["PK1"], ""),
        ("PK1", ["PK2"], "PK1"),
        ("", ["PK1"], ""),
    ],
)
def test_without(names: str, gone: list[str], left: str) -> None:
    assert without(names, gone) == left


@given(WORDS, SEPARATORS, st.sets(st.sampled_from(["PK101", "PK2", "x"])))
def test_without_leaves_exactly_the_others(words: list[str], separator: str, gone: set[str]) -> None:
    left = without(separator.join(words), gone)
    assert [word for word in re.split(r"[,\s]+", left) if word] == [
        word for word in words if word not in gone
    ]


@given(st.text())
def test_any_text(text: str) -> None:
    assert isinstance(of_annotation(text).expired("2030-01-01"), bool)
    assert isinstance(of_comment(text, text).expired("2030-01-01"), bool)
