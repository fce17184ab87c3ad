"""What policykit writes passes its own rules, whatever the queues; placeholders settle nothing."""

from hypothesis import given, settings
from hypothesis import strategies as st

from policykit import api
from policykit.errors import PolicykitError
from policykit.model.queue import Queue
from policykit.targets.yunikorn.generate import generate
from policykit.targets.yunikorn.judged import holds_placeholder
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


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("ab.*", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("xy", max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES, st.sampled_from(["${QUEUE}", "<queue>", "{{ .queue }}", "$(QUEUE)"]))
def test_a_placeholder_is_found_wherever_it_is(data: object, placeholder: str) -> None:
    assert not holds_placeholder(data)
    assert holds_placeholder([data, {"queue": [placeholder]}])
    assert holds_placeholder({"queue": data, placeholder: data})
