import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.model.queue import Submitters
from policykit.targets.yunikorn.configuration import acl

USERS = st.lists(st.from_regex(r"[a-z_][a-z0-9_.@-]{0,5}", fullmatch=True), max_size=3).map(tuple)
GROUPS = st.lists(st.from_regex(r"[a-z_][a-z0-9_-]{0,5}", fullmatch=True), max_size=3).map(tuple)


@given(st.builds(Submitters, USERS, GROUPS))
def test_what_is_written_reads_back(people: Submitters) -> None:
    assert acl.read(acl.write(people)) == people
    assert not acl.invalid_names(people)


@pytest.mark.parametrize(
    ("people", "text"),
    [
        (Submitters(), ""),
        (Submitters(("*",)), "*"),
        (Submitters(("ann", "*"), ("dev",)), "*"),
        (Submitters(("ann", "bob"), ("dev", "ops")), "ann,bob dev,ops"),
        (Submitters((), ("dev",)), " dev"),
    ],
    ids=["nobody", "everybody", "everybody-and-more", "both", "groups"],
)
def test_written(people: Submitters, text: str) -> None:
    assert acl.write(people) == text


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("bob  dev", None),
        ("bob dev ", None),
        (" * ", None),
        ("* dev", Submitters(("*",))),
        ("bob *", Submitters(("*",))),
        ("bob,* dev", Submitters(("bob", "*"), ("dev",))),
        ("bob, sue", Submitters(("bob",), ("sue",))),
    ],
    ids=[
        "two-spaces",
        "space-at-end",
        "spaces-around",
        "user-star",
        "group-star",
        "star-in-a-list",
        "comma-space",
    ],
)
def test_read_as_yunikorn_does(text: str, people: Submitters | None) -> None:
    assert acl.read(text) == people


def test_names_that_an_access_list_drops() -> None:
    people = Submitters(("ann$", "system:serviceaccount:a:b", "1x", "*"), ("dev", "a.b"))
    assert acl.invalid_names(people) == ("system:serviceaccount:a:b", "1x", "a.b")
