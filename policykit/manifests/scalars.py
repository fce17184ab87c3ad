"""What a plain scalar means to Kubernetes.

kubectl and the API machinery read YAML with sigs.k8s.io/yaml (YAML 1.1 as go-yaml v2
understands it): `yes` and `on` are booleans, `0777` is octal, `12:30` is text.
"""

import re

WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
}
WORD_STARTS = "~nNyYtTfFoO"
NUMBER_STARTS = "0123456789+-."
NOT_TEXT = frozenset({"", *WORD_STARTS, *NUMBER_STARTS})
"""Beginnings of the plain scalars that may be something else than text."""
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_INT = re.compile(r"([-+]?)(?:(0[xX][0-9a-fA-F]+)|(0[bB][01]+)|(0[oO]?[0-7]+)|(0|[1-9][0-9]*))\Z")
_SPECIAL = {
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}

_LONGEST = 400
"""Characters beyond which digits are text: no field holds such a number."""

Scalar = str | int | float | bool | None


def resolve(text: str) -> Scalar:
    """Value of a plain (unquoted, untagged) scalar."""
    first = text[:1]
    if first and first in NUMBER_STARTS:
        return _number(text)
    if not first or first in WORD_STARTS:
        return WORDS.get(text, text)
    return text


def tagged(tag: str, text: str) -> Scalar:
    """Value of a scalar with an explicit tag; tags policykit does not know leave it text."""
    if tag in ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float", "tag:yaml.org,2002:bool"):
        return resolve(text)
    return None if tag == "tag:yaml.org,2002:null" else text


def _number(text: str) -> Scalar:
    if len(text) > _LONGEST:
        return text
    plain = text.replace("_", "")
    if match := _INT.match(plain):
        sign, hexadecimal, binary, octal, decimal = match.groups()
        if decimal:
            value = int(decimal)
        elif hexadecimal:
            value = int(hexadecimal, 16)
        elif binary:
            value = int(binary, 2)
        else:
            value = int(octal.lstrip("0oO") or "0", 8)
        return -value if sign == "-" else value
    if _FLOAT.match(plain):
        return float(plain)
    return _SPECIAL.get(text, text)
