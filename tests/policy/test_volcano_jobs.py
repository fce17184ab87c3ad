"""Options of Volcano Jobs: compiled to typed values, and mistakes told where they stand."""

from __future__ import annotations

import pytest

from policykit.targets.volcano.options import JobOptions, TaskTopology, VolcanoOptions
from tests.policy.memory import HEAD, load_body, mistakes

STATED = """\
workloads: {training: {}}
targets:
  volcano:
    version: "1.12.4"
    delivery: helm-values
    jobs:
"""


def test_what_is_stated() -> None:
    stated = """\
      training:
        plugins: {svc: [], pytorch: [--master=master]}
        taskTopology: {affinity: [[ps, worker]], antiAffinity: [[ps]], order: [ps, worker]}
"""
    assert load_body(STATED + stated).cluster.targets["volcano"].options == VolcanoOptions(
        jobs={
            "training": JobOptions(
                {"svc": (), "pytorch": ("--master=master",)},
                TaskTopology((("ps", "worker"),), (("ps",),), ("ps", "worker")),
            )
        }
    )


def test_nothing_stated_of_a_kind() -> None:
    assert load_body(STATED + "      training: {}\n").cluster.targets["volcano"].options == VolcanoOptions()


NO_LABEL = "must begin and end with a lower-case letter or digit, with only those and '-' between"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("trainin: {}", "11:7 there is no workload kind 'trainin'"),
        ("training: {plugins: {svcs: []}}", "11:28 Volcano has no job plugin svcs"),
        (
            "training: {plugins: {ray: []}}",
            "11:28 Volcano 1.12.4 has no job plugin ray (added in 1.13)",
        ),
        (
            "training: {plugins: {mpi: [--port=a]}}",
            "11:34 argument --port of job plugin mpi is 'a', not a whole number",
        ),
        ('training: {taskTopology: {affinity: [["a,b"]]}}', f"11:45 task 'a,b' {NO_LABEL}"),
        ('training: {taskTopology: {order: ["a;b"]}}', f"11:41 task 'a;b' {NO_LABEL}"),
    ],
    ids=["kind", "plugin", "release", "argument", "group", "order"],
)
def test_mistakes(body: str, said: str) -> None:
    assert mistakes({"policykit.yaml": f"{HEAD}{STATED}      {body}\n"}) == (f"policykit.yaml:{said}",)
