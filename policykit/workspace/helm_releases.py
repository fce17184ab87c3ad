"""HelmReleases of Flux as sources, if their chart is a folder of the repository."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from policykit.manifests.document import Manifest, manifests
from policykit.manifests.parser import parse
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping
from policykit.manifests.writer import dump
from policykit.workspace import boundary
from policykit.workspace.files import repository_root
from policykit.workspace.flux import FluxObject, source_fault
from policykit.workspace.sources import Form, HelmOptions, Source, Statement

_GROUP = "helm.toolkit.fluxcd.io"
_CHART: Path = ("spec", "chart", "spec", "chart")
_LONGEST_NAME = 53
_NOTHING = frozenset(
    {"interval", "timeout", "suspend", "dependsOn", "test", "rollback", "uninstall", "driftDetection"}
    | {"maxHistory", "serviceAccountName", "persistentClient", "storageNamespace", "upgrade"}
)
"""Fields that do not change what is rendered."""
_READ = frozenset({"chart", "releaseName", "targetNamespace", "values", "install"})
_CHART_READ = frozenset(
    {"chart", "sourceRef", "valuesFiles", "version", "interval", "reconcileStrategy", "verify"}
    | {"ignoreMissingValuesFiles"}
)


def helm_releases(text: bytes, file: str, *, built: bool) -> Iterator[Source]:
    """The charts that HelmReleases of a file deploy; `built`: among the objects that it says to build."""
    if _GROUP.encode() not in text:
        return
    for number, parsed in enumerate(parse(text.decode("utf-8", errors="replace"))):
        for each in manifests(parsed.root, number) if parsed.root else ():
            if each.kind == "HelmRelease" and each.group == _GROUP:
                yield _source(each, file, built=built)


def _source(manifest: Manifest, file: str, *, built: bool) -> Source:
    name = f"HelmRelease {manifest.namespace or 'default'}/{manifest.name}"
    at = (*manifest.base, *_CHART)
    line = manifest.span(_CHART).line
    stated = Statement(file, resource=name) if built else Statement(file, line, manifest.document, at, name)
    root = os.path.realpath(repository_root(os.path.dirname(file)) or os.path.dirname(file))
    spec = mapping(manifest.data.get("spec"))
    chart = mapping(mapping(spec.get("chart")).get("spec"))
    why_not = _fault(spec, chart)
    notices: tuple[str, ...] = ()
    if not why_not:
        why_not, notices = source_fault(FluxObject(file, manifest), chart, root)
    place = _place(root, chart.get("chart"))
    if not why_not and not (boundary.contains(root, place) and os.path.isdir(place)):
        why_not = f"its chart {chart.get('chart')} is not a folder of the repository"
    if why_not:
        return Source("", Form.CHART, stated, why_not=why_not)
    return Source(
        place,
        Form.CHART,
        stated,
        helm=_options(manifest, spec, chart, root),
        notices=notices,
        own_values=not chart.get("valuesFiles"),
    )


def _fault(spec: Mapping[str, Any], chart: Mapping[str, Any]) -> str:
    unknown = sorted(str(field) for field in spec if field not in _READ | _NOTHING and spec[field])
    unknown += sorted(str(field) for field in chart if field not in _CHART_READ and chart[field])
    return f"its field {unknown[0]} is not applied here" if unknown else ""


def _options(manifest: Manifest, spec: Mapping[str, Any], chart: Mapping[str, Any], root: str) -> HelmOptions:
    target = spec.get("targetNamespace")
    name = f"{target}-{manifest.name}" if isinstance(target, str) and target else manifest.name
    release = spec.get("releaseName")
    files = chart.get("valuesFiles")
    places = [_place(root, each) for each in files] if isinstance(files, list) else []
    if chart.get("ignoreMissingValuesFiles"):
        places = [place for place in places if os.path.lexists(place)]
    values = spec.get("values")
    return HelmOptions(
        release if isinstance(release, str) and release else name[:_LONGEST_NAME],
        target if isinstance(target, str) and target else manifest.namespace or "default",
        tuple(places),
        (dump(values),) if isinstance(values, dict) and values else (),
        include_crds=mapping(spec.get("install")).get("crds") != "Skip",
    )


def _place(root: str, path: object) -> str:
    return os.path.realpath(os.path.join(root, str(path).replace("\0", "").lstrip("/")))
