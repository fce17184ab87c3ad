"""What only a target refuses is told with its place in the policy, in the file that said it."""

from __future__ import annotations

import pytest

from tests.cli.commands import Shell

HEAD = "apiVersion: policykit.io/v1alpha1\nkind: Policy\nmetadata: {name: demo}\ndomain: d.example\n"
OUT = "generate: {out: generated}\n"
VOLCANO = 'targets: {volcano: {version: "1.15.1"}}\n'
LOWER = "lower the first or raise deserved of queue a: Volcano rejects such a queue"

CASES = {
    "children are due more than their parent": (
        f"queues:\n  a: {{deserved: {{cpu: 4}}}}\n  b: {{parent: a, deserved: {{cpu: 5}}}}\n{VOLCANO}",
        "6:7: the children of queue a have deserved cpu 5, above deserved 4 of queue a",
        LOWER,
    ),
    "a limit above an ancestor's": (
        f"queues:\n  a: {{limit: {{cpu: 4}}}}\n  b: {{parent: a, limit: {{cpu: 5}}}}\n{VOLCANO}",
        "7:18: queue b has limit cpu 5, above limit 4 of queue a",
        LOWER.replace("deserved", "limit"),
    ),
    "an option of Volcano": (
        "preemption: {withinQueue: true}\n"
        'targets:\n  volcano: {version: "1.15.1", actions: [enqueue, allocate, backfill]}\n',
        "7:32: preemption.withinQueue is true, but targets.volcano.actions lists neither preempt nor"
        " gangpreempt",
        "add preempt to the actions and remove enqueue, or leave the actions out",
    ),
    "a property of a queue of YuniKorn": (
        "queues: {a: {weight: 2}}\n"
        "targets:\n  yunikorn: {queues: {a: {properties: {application.sort.policy: fifoo}}}}\n",
        "7:65: property application.sort.policy of queue a is 'fifoo', not fifo or fair",
        "change it under targets.yunikorn",
    ),
    "a setting of YuniKorn": (
        "targets:\n  yunikorn:\n    settings:\n      service.placeholderImag: busybox\n",
        "8:32: setting service.placeholderImag is not a setting that YuniKorn reads: did you mean"
        " service.placeholderImage?",
        "change it under targets.yunikorn",
    ),
}


@pytest.mark.parametrize(("body", "said", "hint"), list(CASES.values()), ids=list(CASES))
def test_its_place(shell: Shell, body: str, said: str, hint: str) -> None:
    shell.write({"policykit.yaml": HEAD + body + OUT})
    told = shell.run("gen")
    lines = told.err.splitlines()
    assert (told.code, told.out) == (2, "")
    assert lines[-2:] == [f"policykit: policykit.yaml:{said}", f"  help: {hint}"]
    assert not (shell.folder / "generated").exists()


def test_in_the_file_that_said_it(shell: Shell) -> None:
    body, said, _ = CASES["children are due more than their parent"]
    overlay = "extends: [../base.yaml]\nqueues: {b: {parent: a, deserved: {cpu: 6}}}\n"
    shell.write({"base.yaml": HEAD + body, "prod/policykit.yaml": HEAD + overlay + OUT})
    told = shell.run("gen", "-p", "prod/policykit.yaml", "--check")
    assert told.code == 2
    assert f"policykit: base.yaml:{said.replace('cpu 5', 'cpu 6')}\n" in told.err
