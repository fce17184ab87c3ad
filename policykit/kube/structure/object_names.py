"""Names of objects and namespaces that the API server rejects."""

from __future__ import annotations

import re
from typing import Any

from policykit.kube.placeholders import is_placeholder
from policykit.kube.structure.problem import BAD_VALUE, value_problem
from policykit.manifests.problem import Problem

_STANDS_FOR = re.compile(
    r"(?<![A-Za-z0-9_])[A-Z][A-Z0-9_]+(?: [A-Z][A-Z0-9_]+)*(?![A-Za-z0-9_])|_[A-Z][A-Z0-9]*_"
)
"""Parts of a name in capitals are placeholders: JOB_NAME, job_ID_."""
_TEMPLATE = re.compile(r"[^\w .:/-]", re.ASCII)
_REFUSED = re.compile(r"[^a-z0-9.-]")
_IN_LABEL = re.compile(r"[^a-z0-9-]")
_FREE_GROUPS = frozenset(
    {
        "apiregistration.k8s.io",
        "certificates.k8s.io",
        "flowcontrol.apiserver.k8s.io",
        "rbac.authorization.k8s.io",
    }
)
"""Groups with other rules for names: roles may have any name that fits into a path."""
_FREE_KINDS = frozenset({"CustomResourceDefinition", "Event", "IPAddress"})
_LABEL_KINDS = frozenset({"Namespace", "Service"})
"""Kinds of the core group whose names are DNS labels."""
_OF_FUNCTIONS = frozenset({"config.kubernetes.io/function", "config.k8s.io/function"})
_LONGEST, _LONGEST_LABEL = 253, 63
_LONGEST_OF_BATCH = {"CronJob": 52, "Job": 63}
"""Longest names of kinds that copy the name to a pod label or add a suffix for each run."""
_CHARACTERS = {"_": "an underscore", " ": "a space", ".": "a dot", "/": "a slash", ":": "a colon"}
_NAME_FORM = "names have lower-case letters, digits, '-' and '.'"
_LABEL_FORM = "{} have lower-case letters, digits and '-'"


def name_problem(name: Any, api_version: str, kind: str) -> Problem | None:
    """The problem of `metadata.name` or `generateName`; None: no certain one.

    Most names are DNS subdomains, those of Services and Namespaces DNS labels. Names that begin
    or end with punctuation may get a prefix or suffix from kustomize and are not reported.
    Source: `ValidateObjectMeta` and the strategies of the kinds (v1.36, in which the name
    of a Service may begin with a digit).
    """
    group = api_version.rpartition("/")[0]
    if group in _FREE_GROUPS or kind in _FREE_KINDS:
        return None
    if not group and kind in _LABEL_KINDS:
        return _name_problem(name, _IN_LABEL, _LONGEST_LABEL, _LABEL_FORM.format(f"names of {kind}s"))
    longest = _LONGEST_OF_BATCH.get(kind, _LONGEST) if group == "batch" else _LONGEST
    return _name_problem(name, _REFUSED, longest, _NAME_FORM)


def is_function(annotations: Any) -> bool:
    """Whether the object configures a kustomize or kpt function: it may have any name."""
    return isinstance(annotations, dict) and not _OF_FUNCTIONS.isdisjoint(annotations)


def namespace_problem(name: Any) -> Problem | None:
    """The problem of `metadata.namespace`; None: no certain one."""
    return _name_problem(name, _IN_LABEL, _LONGEST_LABEL, _LABEL_FORM.format("names of Namespaces"))


def _name_problem(name: Any, refused: re.Pattern[str], longest: int, form: str) -> Problem | None:
    if not isinstance(name, str) or is_placeholder(name) or _is_template(name):
        return None
    found = refused.search(_STANDS_FOR.sub("", name))
    if found is not None:
        what = _CHARACTERS.get(found[0]) or (
            "a capital letter" if found[0].isupper() else f"the character {found[0]}"
        )
        return value_problem(
            BAD_VALUE, f"is {name!r}, with {what}: {form}", "rename it, and update references to it"
        )
    if len(name) > longest:
        return value_problem(
            BAD_VALUE, f"has {len(name)} characters, the limit is {longest}", "give it a shorter name"
        )
    return None


def _is_template(name: str) -> bool:
    """Whether it contains template characters, as in `%s`, `{name}`, `@NAME@`, or no letter or digit.

    A lone `_` is the name of a Namespace that a kustomization's `namespace` replaces.
    """
    return not any(map(str.isalnum, name)) or any(sign.isascii() for sign in _TEMPLATE.findall(name))
