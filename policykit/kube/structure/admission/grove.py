"""Grove: cliques that start after others."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.structure.admission.checks import Data, name_of, refused, words
from policykit.kube.structure.problem import INCONSISTENT
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping, numbered
from policykit.model.severity import Severity
from policykit.nearest import some

_TEMPLATE: Path = ("spec", "template")
_EXPLICIT = "CliqueStartupTypeExplicit"


def pod_clique_set(data: Data) -> Iterator[Problem]:
    """Source: `validateCliqueDependencies` of Grove, which asks only where the order is explicit."""
    template = mapping(lookup(data, _TEMPLATE))
    cliques = list(numbered(template.get("cliques")))
    there = [name_of(clique) for _, clique in cliques]
    if not all(there):
        return
    explicit = template.get("cliqueStartupType") == _EXPLICIT
    for position, clique in cliques:
        at: Path = (*_TEMPLATE, "cliques", position, "spec", "startsAfter")
        for number, name in words(lookup(clique, ("spec", "startsAfter"))):
            if name not in there or name == name_of(clique):
                what = f"is {name}, " + ("no clique here" if name not in there else "the clique itself")
                yield refused(
                    (*at, number),
                    what,
                    f"the cliques are {some(sorted(there))}",
                    None if explicit else Severity.WARNING,
                    kind=INCONSISTENT,
                )
