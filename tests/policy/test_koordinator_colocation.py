"""targets.koordinator.colocation: what it compiles to, and what is refused."""

from typing import Any

import pytest

from policykit.errors import PolicyError
from policykit.targets.koordinator.options import KoordinatorOptions, PodClass, of
from tests.clusters import policy

BASE: dict[str, Any] = {
    "priorities": {"low": {"value": 5100}, "high": {"value": 100000}},
    "queues": {"q": {}},
    "tenants": {"a": {"namespaces": ["a-dev"]}, "empty": {"queue": "q"}},
    "workloads": {"batch": {"scheduler": "koord-scheduler"}, "own": {"priorityClass": "low"}},
    "pools": {"web": {"nodes": 1}},
}


def compiled(stated: dict[str, Any]) -> KoordinatorOptions:
    target = {"version": "1.8.0", "colocation": {"workloads": stated}}
    return of(policy({**BASE, "targets": {"koordinator": target}}).targets["koordinator"])


@pytest.mark.parametrize(
    ("stated", "found"),
    [
        ({"batch": {}}, {"batch": PodClass("prod", "LS")}),
        ({"batch": {"priority": "free"}}, {"batch": PodClass("free", "BE")}),
        (
            {"batch": {"priority": "mid", "qos": "BE", "order": 3, "tenants": ["a"], "namespaces": ["x"]}},
            {"batch": PodClass("mid", "BE", 3, ("a",), ("x",))},
        ),
        ({"own": {"priority": "batch"}}, {"own": PodClass("batch", "BE")}),
    ],
    ids=["by itself", "free", "everything", "a class of its own in the band"],
)
def test_what_is_stated(stated: dict[str, Any], found: dict[str, PodClass]) -> None:
    assert compiled(stated) == KoordinatorOptions(classes=found)


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({"batch": {"priority": "batch", "qos": "LSR"}}, "LSR cannot be combined with priority batch"),
        ({"batch": {"priority": "prod", "qos": "BE"}}, "QoS class BE cannot be combined with priority prod"),
        ({"batsh": {}}, "unknown workload kind 'batsh'"),
        ({"batch": {"tenants": ["b"]}}, "unknown tenant 'b'"),
        ({"batch": {"tenants": ["empty"]}}, "tenant empty owns no namespace"),
        ({"batch": {"namespaces": ["A"]}}, "namespace 'A'"),
        (
            {"own": {"priority": "prod"}},
            "kind own has priorityClass low with value 5100, outside the range of prod: 9000 to 9999",
        ),
    ],
    ids=["LSR", "BE as prod", "no kind", "no tenant", "no namespace", "no name", "another band"],
)
def test_what_is_refused(stated: dict[str, Any], said: str) -> None:
    with pytest.raises(PolicyError) as raised:
        compiled(stated)
    assert said in str(raised.value)
