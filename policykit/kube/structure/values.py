"""Validates single values: types, enums, bounds, quantities, labels, and names of objects."""

from __future__ import annotations

import re
from typing import Any

from policykit.kube.names import label_key_problem, label_value_problem
from policykit.kube.placeholders import is_capitals, is_filled_in, is_placeholder, is_variable
from policykit.kube.structure.problem import (
    BAD_VALUE,
    INVALID_LABEL,
    INVALID_QUANTITY,
    WRONG_TYPE,
    conversion_hint,
    described,
    expected,
    quoted,
    value_problem,
)
from policykit.kube.structure.schema import Schema
from policykit.manifests.problem import Problem
from policykit.model.quantity import parse
from policykit.nearest import nearest

_MODES = 0o777
"""The largest file mode; no other field has this bound."""
_QUOTE = "put the value in quotes"


def scalar_problem(value: Any, schema: Schema) -> Problem | None:
    """The problem of a scalar; None: it is valid. The scalar itself is never None (null)."""
    if "x-kubernetes-quantity" in schema:
        return _quantity(value, schema)
    if "x-kubernetes-label" in schema:
        return label_problem(value, schema["x-kubernetes-label"])
    types = schema.get("type")
    if types is not None and not _has_type(value, types):
        if is_placeholder(value) or (types == "integer" and is_capitals(value)):
            return None
        return value_problem(
            WRONG_TYPE, f"must be {expected(types)}, but is {described(value)}", conversion_hint(types, value)
        )
    if isinstance(value, str):
        return _text(value, schema)
    if "minimum" in schema and value < schema["minimum"]:
        return value_problem(BAD_VALUE, f"is {value}, the minimum is {schema['minimum']}")
    if "maximum" in schema and value > schema["maximum"]:
        octal = schema["maximum"] == _MODES and set(str(value)) <= set("01234567")
        advice = f"modes are octal: write 0{value}" if octal else ""
        return value_problem(BAD_VALUE, f"is {value}, the maximum is {schema['maximum']}", advice)
    return None


# Patterns that are texts are compiled when they are needed: that takes as long as to import a module.
_SUBSTITUTED = r"\$\{[A-Za-z_][^{}]*\}"
"""Nothing but a variable, with or without a default: `${replicas}`, `${replicas:=2}`."""


def unsubstituted(value: Any, schema: Schema) -> Problem | None:
    """The problem of a variable in place of a number, where nothing replaces it; None: it is none."""
    types = schema.get("type")
    if (
        types not in ("integer", "number")
        or not isinstance(value, str)
        or not re.fullmatch(_SUBSTITUTED, value)
    ):
        return None
    return value_problem(
        WRONG_TYPE,
        f"must be {expected(types)}, but is {described(value)}, which an Argo CD Application leaves as it is",
        "write the number, or set it with a patch in the overlay of this cluster; if a plugin of Argo CD "
        "replaces it, name the plugin in the Application",
    )


def label_problem(value: Any, what: str = "value") -> Problem | None:
    """The problem of a label or taint value, or of a `key`, or of the key of an `annotation`; None: it is
    valid."""
    if isinstance(value, (bool, int, float)):
        advice = _QUOTE if value >= 0 else f"{_LABELS[what]} begins and ends with a letter or digit"
        return value_problem(
            INVALID_LABEL, f"is {described(value)}, but {_LABELS[what]} must be a string", advice
        )
    if not isinstance(value, str):
        return value_problem(WRONG_TYPE, f"must be a string, but is {described(value)}")
    if not value or is_placeholder(value):
        return None
    if what == "value":
        problem = label_value_problem(value)
    else:  # the API server asks for the key of an annotation in lower case
        problem = label_key_problem(value if what == "key" else value.lower())
    return (
        value_problem(INVALID_LABEL, f"is {quoted(value)}; as {_LABELS[what]} it {problem}")
        if problem
        else None
    )


_LABELS = {"key": "a label key", "value": "a label value", "annotation": "the key of an annotation"}


def _has_type(value: Any, types: str | list[str]) -> bool:
    if isinstance(types, list):
        return any(_has_type(value, one) for one in types)
    kind = type(value)
    if types == "string":
        return kind is str
    if types == "integer":
        return kind is int or (kind is float and value.is_integer())
    if types == "number":
        return kind is int or kind is float
    return types == "boolean" and kind is bool


def _text(value: str, schema: Schema) -> Problem | None:
    if "enum" in schema and value not in schema["enum"]:
        if is_placeholder(value) or _stands_for_one_of(value, schema["enum"]):
            return None
        return _not_listed(value, schema["enum"])
    if len(value) < schema.get("minLength", 0):
        return value_problem(BAD_VALUE, "is empty")
    if len(value) > schema.get("maxLength", len(value)):
        limit = schema["maxLength"]
        return value_problem(BAD_VALUE, f"has {len(value)} characters, the maximum is {limit}")
    if "x-linear-pattern" in schema and _misses(value, schema["x-linear-pattern"]):
        form = schema["x-linear-pattern"]
        return value_problem(BAD_VALUE, f"is {quoted(value)}, which is not of the form {form}")
    if "pattern" in schema and not re.search(schema["pattern"], value) and not is_filled_in(value):
        if "x-kubernetes-int-or-string" in schema and is_capitals(value):
            return None
        form = _FORMS.get(schema["pattern"].removeprefix("^$|"), f"is not of the form {schema['pattern']}")
        advice = "remove the quotes" if "x-kubernetes-int-or-string" in schema and value.isdigit() else ""
        return value_problem(BAD_VALUE, f"is {quoted(value)}, which {form}", advice)
    return None


def _misses(value: str, form: str) -> bool:
    from policykit.patterns import pattern

    given = pattern(form)
    return given is not None and given.search(value) is False and not is_filled_in(value)


_DNS = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_FORMS = {
    f"^{_DNS}$": "may have only lower-case letters, digits and '-', and no '-' at either end",
    f"^{_DNS}(\\.{_DNS})*$": "may have only lower-case letters, digits, '-' and '.', "
    "and no '-' or '.' at either end",
    "^(?!.*--)(?=.*[a-z])[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?$": "may have at most 15 lower-case letters, "
    "digits and '-', a letter among them, no '-' at either end and no two in a row",
    "^(metadata\\.(name|namespace|uid|((labels|annotations)(\\['.+'\\])?))"
    "|spec\\.(host|nodeName|serviceAccountName)|status\\.(hostIPs?|podIPs?))$": "is not one of "
    "metadata.name, metadata.namespace, metadata.uid, metadata.labels['key'], metadata.annotations['key'], "
    "spec.nodeName, spec.serviceAccountName, status.hostIP, status.podIP",
    "^(limits|requests)\\.(cpu|memory|ephemeral-storage|hugepages-.+)$": "is neither limits nor requests "
    "of cpu, memory, ephemeral-storage or huge pages, like limits.memory",
    "^[^=]*$": "must not contain '='",
    "^\\s*((CRON_)?TZ=\\S+\\s+)?(@(yearly|annually|monthly|weekly|daily|midnight|hourly|every .+)"
    "|\\S+(\\s+\\S+){4})\\s*$": (
        "must have five fields: minute, hour, day of the month, month, day of the week"
    ),
    "^[-._A-Za-z0-9]+$": "may have only letters, digits, '-', '_' and '.'",
    "^[0-9]+%$": "is neither a number without quotes nor a percentage like 25%",
    "^(Pod|Container|PersistentVolumeClaim|.+/.+)$": "is not one of Pod, Container, PersistentVolumeClaim",
}
"""Patterns in words, as the requirement not met; a leading `^$|` allows empty text."""


def _stands_for_one_of(value: str, allowed: list[str]) -> bool:
    """FROM_OVERLAY: a name in capitals, where no allowed word is written so, nor would be without signs."""
    if not is_variable(value) or any(map(is_variable, allowed)):
        return False
    return value.replace("_", "").lower() not in {word.lower() for word in allowed}


def _not_listed(value: str, allowed: list[str]) -> Problem:
    words = [word for word in allowed if word]
    guess = next((word for word in words if word.lower() == value.strip().lower()), "")
    if not guess:
        guess = nearest(value, tuple(words), 0.75)
    advice = f"did you mean {guess}?" if guess else ""
    return value_problem(BAD_VALUE, f"is {quoted(value)}, which is not one of {', '.join(words)}", advice)


def _quantity(value: Any, schema: Schema) -> Problem | None:
    if is_placeholder(value) or (is_capitals(value) and "_" in value):
        return None
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return value_problem(WRONG_TYPE, f"must be a quantity, but is {described(value)}")
    if not _has_type(value, schema["type"]):
        advice = "put the value in quotes"
        return value_problem(WRONG_TYPE, f"must be a whole number or text, but is {described(value)}", advice)
    quantity = parse(value)
    if quantity is None:
        return value_problem(
            INVALID_QUANTITY, f"is {quoted(value)}, which is not a quantity", _quantity_advice(value)
        )
    if quantity.nanos < 0 and schema.get("minimum") == 0:
        return value_problem(BAD_VALUE, f"is {quoted(value)}, but an amount must not be negative")
    return None


_SUFFIXES = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "m", "k", "M", "G", "T", "P", "E")
_GENERAL = "a quantity is a number and at most one of m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei: 500m, 16Gi"
_AMOUNT = r"\s*([+-]?[0-9]+(?:\.[0-9]*)?)\s*([A-Za-z核]+)\s*\Z"
_CORES = frozenset({"c", "core", "cores", "cpu", "cpus", "vcpu", "vcpus", "核"})
"""Words after a number of cores, which needs no unit."""


def _quantity_advice(value: Any) -> str:
    """The probable correct spelling."""
    match = re.match(_AMOUNT, value) if isinstance(value, str) else None
    if match is None:
        return _GENERAL
    number, unit = match.groups()
    if unit in _SUFFIXES:
        return f"write {number}{unit}"
    if unit.lower() in _CORES:
        return f"write {number}"
    stem = unit.lower().removesuffix("b")
    meant = [suffix for suffix in _SUFFIXES if suffix.lower() == stem and suffix != "m"]
    binary = [suffix for suffix in _SUFFIXES if suffix.lower() == stem + "i"]
    guesses = [f"{number}{suffix}" for suffix in binary + meant]
    return f"write {' or '.join(guesses)}" if guesses else _GENERAL


_STANDS_FOR = r"(?<![A-Za-z0-9_])[A-Z][A-Z0-9_]+(?: [A-Z][A-Z0-9_]+)*(?![A-Za-z0-9_])|_[A-Z][A-Z0-9]*_"
"""Parts of a name in capitals are placeholders: JOB_NAME, job_ID_."""
_FILLED = r"(?i)\b(?:filled|injected|overridden|provided|replaced|set) (?:at|by|in)\b"
"""A sentence in place of a name, for whoever fills it in: Filled By The Operator."""
_TEMPLATE = r"[^\w .:/-]"
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
    found = refused.search(re.sub(_STANDS_FOR, "", name))
    if found is not None and not re.search(_FILLED, name):
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
    return not any(map(str.isalnum, name)) or any(
        sign.isascii() for sign in re.findall(_TEMPLATE, name, re.ASCII)
    )
