"""What policykit writes passes its own rules, whatever the queues."""

from hypothesis import given, settings
from hypothesis import strategies as st

from policykit import api
from policykit.errors import PolicykitError
from policykit.model.queue import Queue
from policykit.targets.yunikorn.generate import generate
from tests.targets.yunikorn.clusters import cluster, trees

EFFECTS = {"PK711"}
"""What a policy may really ask for: priorities without guarantees."""


@given(trees(), st.sampled_from(["1.7", "1.8", "1.9"]), st.sampled_from(["manifest", "helm-values"]))
@settings(max_examples=60, deadline=None)
def test_what_is_generated_has_no_findings(queues: tuple[Queue, ...], version: str, delivery: str) -> None:
    made = cluster(*queues, version=version, delivery=delivery)
    try:
        artifacts = generate(made).artifacts
    except PolicykitError:
        return
    texts = {each.path: each.text.encode() for each in artifacts if each.path.endswith(".yaml")}
    found = [f for f in api.lint_texts(texts, made).findings if f.code.startswith("PK7")]
    assert [f for f in found if f.code not in EFFECTS] == []
