"""A yes of the quick check means that the walk that explains finds nothing."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.kube.structure import validator
from policykit.kube.structure.quick_check import QuickChecks, is_well_named
from policykit.kube.structure.schema import FOREIGN, NOTHING, ServedApis, shape_of
from policykit.manifests.document import Manifest, manifests
from policykit.manifests.parser import parse
from tests.shared import ROOT, SHARED

_ODD_SCALARS = (None, True, 0, -1, 5, 1.5, 2.0, 10**60, "", "a", "A_B", "-1", "5m", "1Gi", "${X}", "...")
_ODD_COLLECTIONS: tuple[Any, ...] = (
    [],
    {},
    [None],
    ["a"],
    {"a": 1},
    {"a": "b"},
    {"...": 1},
    {"name": "x"},
    {"$patch": "delete"},
    [{"name": None}],
)
ODD = st.sampled_from((*_ODD_SCALARS, *_ODD_COLLECTIONS))


def _objects(folder: Path) -> Iterator[Manifest]:
    for file in sorted(folder.rglob("*.yaml")):
        for parsed in parse(file.read_text(encoding="utf-8", errors="replace")):
            if parsed.root is not None and not parsed.problem:
                yield from manifests(parsed.root, 0)


SEEDS = list(_objects(ROOT / "tests" / "seeds"))


def _says_yes(data: dict[str, Any], api_version: str, kind: str, served: ServedApis = NOTHING) -> bool:
    shape = shape_of(api_version, kind, served.custom)
    named = shape is None or is_well_named(data.get("metadata"))
    return named and QuickChecks(served.releases).passes(data, shape or FOREIGN)


def _is_explained(data: dict[str, Any], api_version: str, kind: str, served: ServedApis = NOTHING) -> bool:
    shape = shape_of(api_version, kind, served.custom)
    return bool(validator._explain(data, api_version, kind, shape, served))


@pytest.mark.skipif(SHARED is None, reason="there is no shared folder beside the checkout")
def test_real_objects_that_pass_have_no_problem() -> None:
    assert SHARED
    passed = 0
    for each in _objects(SHARED):
        if _says_yes(each.data, each.api_version, each.kind):
            passed += 1
            assert not _is_explained(each.data, each.api_version, each.kind), (each.kind, each.name)
    assert passed > 300


@given(st.data(), st.sampled_from(["", "1.28", "1.36"]))
def test_objects_with_one_odd_value_that_pass_have_no_problem(draw: st.DataObject, release: str) -> None:
    manifest = draw.draw(st.sampled_from(SEEDS))
    data = copy.deepcopy(manifest.data)
    held: Any = data
    while True:
        step = draw.draw(st.sampled_from(sorted(held) if isinstance(held, dict) else range(len(held))))
        if isinstance(held[step], dict | list) and held[step] and draw.draw(st.booleans()):
            held = held[step]
            continue
        held[step] = draw.draw(ODD)
        break
    served = ServedApis({"kubernetes": release} if release else {})
    if _says_yes(data, manifest.api_version, manifest.kind, served):
        assert not _is_explained(data, manifest.api_version, manifest.kind, served)


@pytest.mark.parametrize("release", ["1.30", "1.36"])
def test_fields_are_allowed_by_the_release(release: str) -> None:
    """Pod-level resources exist since 1.32."""
    spec = {"containers": [{"name": "a", "image": "b:1"}], "resources": {"limits": {"cpu": 1}}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec}
    served = ServedApis({"kubernetes": release})
    assert _says_yes(pod, "v1", "Pod", served) is not _is_explained(pod, "v1", "Pod", served)
