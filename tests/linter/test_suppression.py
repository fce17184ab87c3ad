"""Comments and annotations that silence findings, and what they cover."""

import pytest

from policykit import api

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
              nvidia.com/gpu: 1{card}
"""


def findings(**parts: str) -> list[str]:
    names = ("first", "annotation", "spec", "shape", "resources", "above", "card")
    text = TEMPLATE.format(**{name: parts.get(name, "") for name in names})
    report = api.lint_texts({"job.yaml": text.encode()})
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
    report = api.lint_texts({"jobs.yaml": f"{text}---\n{other}".encode()})
    assert [(f.code, f.document) for f in report.findings] == [("PK210", 1), ("PK201", 1)]


def test_text_of_several_lines_holds_no_comment() -> None:
    note = "  annotations:\n    note: |\n      # policykit: ignore[PK201, PK210]\n"
    assert findings(annotation=note) == ["PK210", "PK201"]
