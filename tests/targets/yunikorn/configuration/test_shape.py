"""A placeholder anywhere in a value is found."""

from hypothesis import given
from hypothesis import strategies as st

from policykit.targets.yunikorn.configuration.shape import holds_placeholder

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
