"""Ingresses: rules that one dash too many makes two."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from policykit.kube.structure.admission.checks import Data, name_of, refused
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import numbered
from policykit.model.severity import Severity

_RULES: Path = ("spec", "rules")


def ingress(data: Data) -> Iterator[Problem]:
    """A rule without paths leads to the default backend, and one without a host is for all of them."""
    for (position, rule), (_, following) in pairwise(numbered(lookup(data, _RULES))):
        host = name_of(rule, "host")
        if host and rule.keys() == {"host"} and following.keys() == {"http"}:
            what = f"is {host} without paths, and the next rule has paths for every host"
            advice = "delete the dash before http, so that both are one rule"
            yield refused((*_RULES, position, "host"), what, advice, Severity.WARNING)
