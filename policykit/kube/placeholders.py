"""Recognises values that are not final: placeholders of templates and examples, and encrypted text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_PLACEHOLDER = re.compile(
    r"\$[({A-Za-z_]|\{\{|<[^<>]+>|__[A-Za-z0-9_]+__|@[A-Z][A-Z0-9_]*@|%[A-Z][A-Z0-9_]*%|_[A-Z][A-Z0-9]*_\Z|\A\s*(?:\.{3,}|…+)\s*\Z"
    r"|\{[A-Z][A-Z0-9_]*\}|\{[a-z][a-z0-9]*(?:[-_][a-z0-9]+)+\}|\AENC\[[A-Z0-9_]+,|PLACEHOLDER|(?:REPLACE|CHANGE)[-_]?ME\b|\bYOUR[-_][A-Z]"
)
# Most runs need none of these, and to compile one takes as long as to import a module.
_CAPITALS = r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*"
_VARIABLE = r"(?<![A-Za-z0-9])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![A-Za-z0-9])"
_COMPOUND = r"[a-z0-9]+(?:[-_][a-z0-9]+)+"
_GAP = (
    r"\$\{[^{}]*\}|\$\([^()]*\)|\{\{.*?\}\}|<[^<>]+>|\$[A-Za-z_][A-Za-z0-9_]*|\{[A-Z][A-Z0-9_]*\}"
    r"|\{[a-z][a-z0-9]*(?:[-_][a-z0-9]+)+\}"
)


def is_placeholder(value: object) -> bool:
    """Whether text is to be filled in: `$(X)`, `${X}`, `$X`, `{{x}}`, `{X}`, `{x_y}`, `<x>`, `__X__`, `a_X_`,
    `@X@`, `%X%`, `...`, PLACEHOLDER_X, CHANGE_ME, YOUR_X, or encrypted by SOPS: `ENC[AES256_GCM,data:...]`.
    """
    return isinstance(value, str) and has_placeholder(value)


@lru_cache(maxsize=4096)  # the same names and images are in every file, and many rules ask
def has_placeholder(text: str) -> bool:
    """The same for what is known to be text."""
    return _PLACEHOLDER.search(text) is not None


class UnfilledNames:
    """The names of a list that have placeholders, to look up what they may become.

    `queue-${SIZE}` may be queue-2x2: what is before the first placeholder and after the last is compared.
    """

    __slots__ = ("_ends", "_lengths")

    def __init__(self, names: Iterable[str]) -> None:
        parts = [re.split(_GAP, name) for name in names if is_placeholder(name)]
        self._ends = {(each[0], each[-1]) if len(each) > 1 else ("", "") for each in parts}
        self._lengths = {(len(start), len(end)) for start, end in self._ends}

    def may_be(self, name: str) -> bool:
        """Whether one of them may be the name once it is filled in."""
        return any(
            start + end <= len(name) and (name[:start], name[len(name) - end :]) in self._ends
            for start, end in self._lengths
        )


def is_capitals(value: object) -> bool:
    """Whether a name in capitals is in the place of a number or an amount: PORT, NUM_NODES."""
    return isinstance(value, str) and re.fullmatch(_CAPITALS, value) is not None


def is_version_to_fill(version: str) -> bool:
    """Whether the version of an API is a word to be replaced, such as XVERSIONX; V1 is a mistake for v1."""
    return is_placeholder(version) or (is_capitals(version) and re.match(r"V[0-9]", version) is None)


def is_variable(value: str) -> bool:
    """Whether text is nothing but a name in capitals with an underscore: FROM_OVERLAY."""
    return re.fullmatch(_VARIABLE, value) is not None


def stands_for_field(value: object, field: object) -> bool:
    """Whether text is words with underscores of which the last is the field's own: service_name for a name,
    target_port for a targetPort."""
    if not isinstance(value, str) or not isinstance(field, str) or "-" in value or value[:1].isdigit():
        return False
    return re.fullmatch(_COMPOUND, value) is not None and field.lower().endswith(value.rpartition("_")[2])


def is_example_of_field(value: object, field: str) -> bool:
    """Whether a text is what Kubernetes' round-trip tests write into a field: deviceNameValue."""
    return value == f"{field}Value"


_NAMED = frozenset({"ID", "LABEL", "NAME", "TYPE", "VALUE"})


@lru_cache(maxsize=4096)
def stands_for_label(text: str) -> bool:
    """Whether the value of a node's label is to be filled in: a placeholder, or what is to be filled in by
    its own name, such as NODE_POOL_NAME."""
    if has_placeholder(text):
        return True
    words = text.split("_") if text.isupper() else ()
    return len(words) > 1 and words[-1] in _NAMED and all(map(str.isalnum, words))


def is_filled_in(value: str) -> bool:
    """Whether text contains a placeholder or a name in capitals to be replaced: MODEL_NAME-server."""
    return is_placeholder(value) or re.search(_VARIABLE, value) is not None


def stands_for_text(value: object) -> bool:
    """Whether a collection is a name in brackets, for text: `[ACCESS_KEY]`, `{bucket name}`, `[[size]]`."""
    if isinstance(value, list) and len(value) == 1:
        (inner,) = value
        if isinstance(inner, list):
            return len(inner) == 1 and isinstance(inner[0], str)
        return is_capitals(inner) and "_" in inner
    if isinstance(value, dict) and len(value) == 1:
        (name, nothing), *_ = value.items()
        if nothing is None and isinstance(name, str):
            return is_capitals(name) or re.fullmatch(_COMPOUND, name.replace(" ", "-")) is not None
    return False
