import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.model.queue import Queue, Submitters
from policykit.targets.yunikorn.configuration import access_lists
from tests.targets.yunikorn.clusters import trees

ANN, BOB = Submitters(("ann",)), Submitters(("bob",))

USERS = st.lists(st.from_regex(r"[a-z_][a-z0-9_.@-]{0,5}", fullmatch=True), max_size=3).map(tuple)
GROUPS = st.lists(st.from_regex(r"[a-z_][a-z0-9_-]{0,5}", fullmatch=True), max_size=3).map(tuple)


@given(st.builds(Submitters, USERS, GROUPS))
def test_what_is_written_reads_back(people: Submitters) -> None:
    assert access_lists.read(access_lists.write(people)) == people
    assert not access_lists.invalid_names(people)


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
    assert access_lists.write(people) == text


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
    assert access_lists.read(text) == people


def test_names_that_an_access_list_drops() -> None:
    people = Submitters(("ann$", "system:serviceaccount:a:b", "1x", "*"), ("dev", "a.b"))
    assert access_lists.invalid_names(people) == ("system:serviceaccount:a:b", "1x", "a.b")


@pytest.mark.parametrize(
    ("queues", "lists"),
    [
        ([Queue("a"), Queue("b", "a")], {"": access_lists.ALL}),
        ([Queue("a", submit=ANN), Queue("b")], {"a": ANN, "b": access_lists.ALL}),
        ([Queue("a", submit=ANN), Queue("b", "a"), Queue("c", "a", submit=BOB)], {"b": ANN, "c": BOB}),
        (
            [Queue("a", submit=ANN), Queue("b", "a", submit=Submitters(("ann", "bob")))],
            {"a": ANN, "b": Submitters(("ann", "bob"))},
        ),
        (
            [Queue("a", submit=ANN), Queue("b", "a", submit=access_lists.ALL)],
            {"a": ANN, "b": access_lists.ALL},
        ),
        ([Queue("a", submit=Submitters())], {}),
        (
            [
                Queue("a", submit=Submitters()),
                Queue("b", "a", submit=ANN),
                Queue("c", "b", submit=Submitters()),
            ],
            {},
        ),
    ],
    ids=[
        "nothing-said",
        "one-closed",
        "narrower-below",
        "wider-below",
        "open-below",
        "nobody",
        "nobody-below",
    ],
)
def test_lists_of_a_tree(queues: list[Queue], lists: dict[str, Submitters]) -> None:
    assert access_lists.submit_lists(queues) == lists


def wanted(queue: Queue, queues: dict[str, Queue]) -> Submitters:
    """Whom the policy lets in."""
    if queue.submit is not None:
        return queue.submit
    return wanted(queues[queue.parent], queues) if queue.parent else access_lists.ALL


@given(trees())
def test_leaves_let_in_whom_the_policy_says(queues: tuple[Queue, ...]) -> None:
    lists, known = access_lists.submit_lists(queues), {queue.name: queue for queue in queues}
    for queue in queues:
        if any(other.parent == queue.name for other in queues):
            continue
        names = [queue.name]
        while names[-1]:
            names.append(known[names[-1]].parent)
        granted = [lists[name] for name in names if name in lists]
        expected = wanted(queue, known)
        users = {user for each in granted for user in each.users}
        groups = {group for each in granted for group in each.groups}
        if access_lists.EVERYBODY in expected.users:
            assert access_lists.EVERYBODY in users
        else:
            assert (users, groups) == (set(expected.users), set(expected.groups))
