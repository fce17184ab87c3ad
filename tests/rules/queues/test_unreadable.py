"""A queue that nothing defines may stand in a document that nobody can read."""

import pytest

from policykit import api

TEXT = """\
apiVersion: v1
kind: Pod
metadata: {{name: train, annotations: {{scheduling.volcano.sh/queue-name: {queue}}}}}
spec: {{schedulerName: volcano, containers: [{{name: main, image: "train:1"}}]}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {{name: other}}
---
kind: Queue
  spec: {{}}
metadata: {{name: {broken}}}
"""


@pytest.mark.parametrize(
    ("queue", "broken", "found"),
    [("team", "team", []), ("team.a", "team.a", []), ("team.a", "team.b", ["PK401"])],
    ids=["there", "with-a-dot", "another"],
)
def test_a_queue_of_a_broken_document_is_not_missing(queue: str, broken: str, found: list[str]) -> None:
    text = TEXT.format(queue=queue, broken=broken)
    report = api.lint_texts({"a.yaml": text.encode()})
    assert [each.code for each in report.findings if each.code == "PK401"] == found
