"""The values that an object gives a Helm chart: a HelmRelease of Flux, an Application of Argo CD.

Only charts of a chart repository have a name by which they are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.manifests.document import Manifest
from policykit.manifests.parser import parse
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, mappings, numbered, text
from policykit.namedtuple import NamedTuple

KINDS = frozenset({"HelmRelease", "Application"})


class ChartValues(NamedTuple):
    """A chart, and the values that an object states for it."""

    chart: str
    values: Mapping[str, Any]
    path: Path
    """Where they are in the object."""
    is_text: bool
    """They are YAML in a string."""
    all_known: bool
    """Nothing else gives the chart values, so what these leave out has the chart's default."""
    parameters: tuple[str, ...] = ()
    """Dotted names of values that are stated elsewhere and override these."""
    namespace: str = ""
    """Where it is installed; empty: not stated."""


def chart_values(manifest: Manifest) -> Iterator[ChartValues]:
    """One for each chart that an object installs from a chart repository."""
    spec = mapping(manifest.data.get("spec"))
    if manifest.kind == "HelmRelease" and manifest.group == "helm.toolkit.fluxcd.io":
        yield from _of_release(spec, manifest.namespace or "")
    elif manifest.kind == "Application" and manifest.group == "argoproj.io":
        namespace = text(mapping(spec.get("destination")).get("namespace"))
        for path, source in sources(spec, ("spec",)):
            for found in _of_source(source, path):
                yield found._replace(namespace=namespace)


def sources(spec: Mapping[str, Any], base: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Those of an Application of Argo CD, each with its path. `base`: the path of the spec."""
    yield (*base, "source"), mapping(spec.get("source"))
    for number, source in numbered(spec.get("sources")):
        yield (*base, "sources", number), source


def _of_release(spec: Mapping[str, Any], namespace: str) -> Iterator[ChartValues]:
    chart = mapping(mapping(spec.get("chart")).get("spec"))
    repository = mapping(chart.get("sourceRef")).get("kind")
    name = text(chart.get("chart"))
    if not name or repository != "HelmRepository":
        return
    elsewhere = spec.get("valuesFrom") or chart.get("valuesFiles") or spec.get("postRenderers")
    installed = text(spec.get("targetNamespace")) or namespace
    yield ChartValues(
        name, mapping(spec.get("values")), ("spec", "values"), False, not elsewhere, namespace=installed
    )


def _of_source(data: Mapping[str, Any], at: Path) -> Iterator[ChartValues]:
    name = text(data.get("chart"))
    if not name:
        return
    helm = mapping(data.get("helm"))
    stated = [*mappings(helm.get("parameters")), *mappings(helm.get("fileParameters"))]
    parameters = tuple(text(each.get("name")) for each in stated)
    all_known = not helm.get("valueFiles")
    found = helm.get("valuesObject")
    if found is not None:
        path = (*at, "helm", "valuesObject")
        yield ChartValues(name, mapping(found), path, False, all_known, parameters)
        return
    values = _parsed(text(helm.get("values")))
    if values is not None:
        yield ChartValues(name, values, (*at, "helm", "values"), True, all_known, parameters)


def _parsed(values: str) -> Mapping[str, Any] | None:
    """The values in a string; None: it is not a YAML map."""
    document = next(parse(values), None)
    if document is None:
        return {}
    if document.problem or document.root is None:
        return None
    return mapping(document.root.data)
