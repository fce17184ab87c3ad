"""Labels of the pod itself by which its affinity and its spread constraints select others.

The API server adds a label that `matchLabelKeys` names, with its value, to the labelSelector beside it.
Source: `ValidateMatchLabelKeysAndMismatchLabelKeys`, and `applyLabelKeysToLabelSelector` of the pod strategy
(v1.36). Where the pod has no such label, its key is left out, and nothing is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit.kube.affinity import PREFERRED, REQUIRED
from policykit.kube.structure.admission.checks import Data, refused, words
from policykit.kube.structure.problem import INCONSISTENT
from policykit.manifests.path import Path
from policykit.manifests.problem import Problem
from policykit.manifests.shape import numbered

_SPREAD = "topologySpreadConstraints"
_MATCH, _MISMATCH = "matchLabelKeys", "mismatchLabelKeys"


def label_keys(spec: Data, labels: object, path: Path) -> Iterator[Problem]:
    """`path`: of the pod's spec."""
    own = labels if isinstance(labels, dict) else {}
    for place, term in _terms(spec, path):
        stated = [field for field in (_MATCH, _MISMATCH) if term.get(field)]
        if stated and term.get("labelSelector") is None:
            yield refused(
                (*place, stated[0]),
                "is set without a labelSelector: the API server refuses the pods",
                "add a labelSelector, or take the keys out",
                key=True,
                kind=INCONSISTENT,
            )
        elif _MATCH in stated:
            yield from _twice(term, own, place)


def _twice(term: Data, own: Mapping[str, Any], place: Path) -> Iterator[Problem]:
    selected = _keys(term.get("labelSelector"))
    other = [key for _, key in words(term.get(_MISMATCH))]
    for at, key in words(term.get(_MATCH)):
        second = _MISMATCH if key in other else "labelSelector" if key in own and key in selected else ""
        if second:
            yield refused(
                (*place, _MATCH, at),
                f"is {key}, which {second} has too: the API server refuses the pods",
                f"take {key} out of one of the two",
            )


def _terms(spec: Data, path: Path) -> Iterator[tuple[Path, Data]]:
    """Terms of required and preferred affinity to pods, and spread constraints."""
    affinity = spec.get("affinity")
    written = affinity if isinstance(affinity, dict) else {}
    for field in ("podAffinity", "podAntiAffinity"):
        found = written.get(field)
        both = found if isinstance(found, dict) else {}
        base = (*path, "affinity", field)
        for at, term in numbered(both.get(REQUIRED)):
            yield (*base, REQUIRED, at), term
        for at, weighted in numbered(both.get(PREFERRED)):
            inner = weighted.get("podAffinityTerm")
            if isinstance(inner, dict):
                yield (*base, PREFERRED, at, "podAffinityTerm"), inner
    for at, constraint in numbered(spec.get(_SPREAD)):
        yield (*path, _SPREAD, at), constraint


def _keys(selector: object) -> Sequence[str]:
    if not isinstance(selector, dict):
        return ()
    matched = selector.get("matchLabels")
    listed = [one.get("key") for _, one in numbered(selector.get("matchExpressions"))]
    return [key for key in (*(matched if isinstance(matched, dict) else ()), *listed) if isinstance(key, str)]
