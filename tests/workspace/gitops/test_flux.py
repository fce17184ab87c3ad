"""Flux Kustomizations: the same objects as Flux makes of them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from policykit.workspace.gitops.flux import flux_sources
from policykit.workspace.gitops.source_contents import Unit, contents_of
from policykit.workspace.gitops.substitution import substituted
from policykit.workspace.kustomize import build
from tests.tools import tool

BUILDS = (Path(__file__).parent / "flux_builds.jsonl").read_text(encoding="utf-8").splitlines()
"""Random repositories, each with a `spec`, the ConfigMaps of its variables, and the objects that
`github.com/fluxcd/pkg/kustomize` 1.40.0 makes of them."""
ABOUT = {"namespace": "flux-system", "name": "app"}
SOURCE = {"kind": "GitRepository", "name": "flux-system"}


def objects_of(unit: Unit, kustomize: str) -> list[dict[str, Any]]:
    if unit.root is None:
        text = Path(unit.file).read_text(encoding="utf-8")
    else:
        made = build(kustomize, [unit.root])[0]
        assert not made.failure
        text = made.text.decode()
        text = substituted(text, unit.variables) if unit.variables else text
    found = [
        one
        for data in yaml.safe_load_all(text)
        for one in (data["items"] if data["kind"] == "List" else [data])
    ]
    for one in found:
        about = one["metadata"]
        if unit.root is None and unit.namespace and one["kind"] != "Queue":
            about.setdefault("namespace", unit.namespace)
        about.get("annotations", {}).pop("config.kubernetes.io/origin", None)
        if not about.get("annotations", True):
            del about["annotations"]
    return found


def in_order(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(objects, key=lambda one: (one["kind"], one["metadata"]["name"]))


@pytest.mark.parametrize("row", BUILDS, ids=map(str, range(len(BUILDS))))
def test_the_objects_are_those_of_flux(row: str, tmp_path: Path) -> None:
    kustomize = tool("kustomize")
    stated = json.loads(row)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    cluster = [{"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": ABOUT}]
    cluster[0]["spec"] = {**stated["spec"], "interval": "5m", "prune": True, "sourceRef": SOURCE}
    for path, content in {**stated["files"], "cluster/app.yaml": cluster + stated["variables"]}.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else "\n---\n".join(map(json.dumps, content))
        file.write_text(text, encoding="utf-8")
    (source,) = flux_sources(str(tmp_path), "", "any", lambda file: True)
    contents = contents_of(source)
    assert not contents.why_not
    found = [one for unit in contents.units for one in objects_of(unit, kustomize)]
    assert in_order(found) == in_order(stated["objects"])
