"""Pod sets of real manifests, as read from the manifest and the facts by a person."""

from __future__ import annotations

from pathlib import Path

import pytest

from policykit.kube import podsets
from policykit.kube.podsets import PodSet
from policykit.manifests.document import manifests
from policykit.manifests.parser import parse
from tests.shared import SHARED

_ROWS = [
    tuple(line.split("\t"))
    for line in Path(__file__).with_name("expected.tsv").read_text(encoding="utf-8").splitlines()[1:]
]


def _written(pod_set: PodSet) -> str:
    """`task[0]@spec.tasks[0].template=2`; `?` where the number is unknown."""
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in pod_set.path)
    replicas = "?" if pod_set.replicas is None else pod_set.replicas
    return f"{pod_set.name}@{path.lstrip('.')}={replicas}"


@pytest.mark.skipif(SHARED is None, reason="the shared corpus is not beside the checkout")
@pytest.mark.parametrize(
    ("file", "document", "kind", "purpose", "expected"), _ROWS, ids=[f"{row[0]}:{row[1]}" for row in _ROWS]
)
def test_pod_sets_of_a_real_manifest(
    file: str, document: str, kind: str, purpose: str, expected: str
) -> None:
    assert SHARED is not None
    parsed = list(parse((SHARED / "corpus" / file).read_text(encoding="utf-8")))[int(document)]
    assert parsed.root is not None
    (manifest,) = manifests(parsed.root, int(document))
    found = podsets.pod_sets(manifest.data)
    assert manifest.kind == kind
    assert " ".join(map(_written, found)) == ("" if expected == "-" else expected)
    assert {pod_set.purpose for pod_set in found} <= {purpose}


def test_every_kind_of_the_corpus_has_a_row() -> None:
    if SHARED is None:
        pytest.skip("the shared corpus is not beside the checkout")
    seen = set()
    for file in sorted((SHARED / "corpus" / "workloads").glob("*.yaml")):
        for index, parsed in enumerate(parse(file.read_text(encoding="utf-8"))):
            if parsed.root is None:
                continue
            for manifest in manifests(parsed.root, index):
                if podsets.known(manifest.api_version, manifest.kind):
                    seen.add(manifest.kind)
    assert seen <= {row[2] for row in _ROWS}
