"""Random queues, tenants and names that a policy may have."""

from typing import Any

from hypothesis import strategies as st

from policykit.model.queue import PoolAffinity, Queue, Submitters, Tenant

NAMES = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,10}[a-z0-9])?", fullmatch=True)
RESOURCES = st.sampled_from(
    [
        "cpu",
        "memory",
        "pods",
        "hugepages-2Mi",
        "nvidia.com/gpu",
        "koordinator.sh/gpu",
        "koordinator.sh/gpu-core",
    ]
)
AMOUNTS = st.dictionaries(RESOURCES, st.integers(0, 2**45) | st.integers(0, 64))


@st.composite
def queue_trees(draw: Any) -> tuple[Queue, ...]:
    """Queues whose parents are among them, without circles, in any order."""
    names = draw(st.lists(NAMES, unique=True, max_size=7))
    queues = []
    for position, name in enumerate(names):
        limit = draw(AMOUNTS)
        guarantee, deserved = draw(AMOUNTS), draw(AMOUNTS)
        deserved = {r: min(n, limit.get(r, n)) for r, n in deserved.items()}
        guarantee = {r: min(n, limit.get(r, n), deserved.get(r, n)) for r, n in guarantee.items()}
        queues.append(
            Queue(
                name,
                draw(st.sampled_from(("", *names[:position]))),
                draw(st.integers(1, 65535)),
                guarantee,
                deserved,
                limit,
                draw(st.none() | st.integers(0, 9)),
                draw(st.booleans()),
                draw(st.none() | st.just(Submitters(("ann",)))),
                draw(st.none() | st.just(PoolAffinity(("train",)))),
            )
        )
    return tuple(draw(st.permutations(queues)))


def tenants(queues: tuple[Queue, ...]) -> st.SearchStrategy[tuple[Tenant, ...]]:
    """Tenants of some queues; namespaces may be named twice."""
    names = st.sampled_from(("", *(queue.name for queue in queues)))
    one = st.builds(Tenant, NAMES, st.lists(NAMES, max_size=3).map(tuple), names)
    return st.lists(one, max_size=4, unique_by=lambda tenant: tenant.name).map(tuple)
