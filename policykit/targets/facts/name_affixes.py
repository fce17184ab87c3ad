"""Facts about what kustomizations add to the names of their objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import text
from policykit.model.references import NameAffix

_FLUX = "kustomize.toolkit.fluxcd.io"
_GROUPS = frozenset({"", "kustomize.config.k8s.io", _FLUX})


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Of a kustomization, and of an object of Flux that adds to one."""
    if manifest.group not in _GROUPS:
        return
    base: Path = ("spec",) if manifest.group == _FLUX else ()
    places = {field: (*base, field) for field in ("namePrefix", "nameSuffix")}
    prefix, suffix = (text(lookup(manifest.data, path)) for path in places.values())
    if prefix or suffix:
        at = {"name": places["namePrefix" if prefix else "nameSuffix"]}
        yield Fact(NameAffix(prefix, suffix), at, as_written=True)
