"""Makes templates of charts deterministic: random values and dates become constants."""

from __future__ import annotations

import re
from collections.abc import Iterator

_KEY_PAIR = 'dict "Cert" "certificate" "Key" "key"'
_CONSTANTS = {
    "randAlphaNum": 'printf "%08d"',
    "randAlpha": 'printf "%08d"',
    "randNumeric": 'printf "%08d"',
    "randAscii": 'printf "%08d"',
    "randBytes": 'printf "%08d"',
    "randInt": "max",
    "shuffle": 'printf "%s"',
    "uuidv4": '"00000000-0000-4000-8000-000000000000"',
    "now": '(toDate "2006-01-02" "2020-01-01")',
    "ago": 'printf "%v"',
    "genPrivateKey": 'printf "key of type %s"',
    "genCA": _KEY_PAIR,
    "genCAWithKey": _KEY_PAIR,
    "genSelfSignedCert": _KEY_PAIR,
    "genSelfSignedCertWithKey": _KEY_PAIR,
    "genSignedCert": _KEY_PAIR,
    "genSignedCertWithKey": _KEY_PAIR,
    "htpasswd": 'printf "%s:%s"',
    "bcrypt": 'printf "%s"',
    "encryptAES": 'printf "%s%s"',
}
"""Template functions whose results vary, and what replaces them. They take the same arguments, also through
a pipe."""
_WORDS = re.compile(
    r'"(?:[^"\\]|\\.)*"|`[^`]*`|(?<![\w.$])('
    + "|".join(sorted(_CONSTANTS, key=len, reverse=True))
    + r")(?!\w)",
    re.DOTALL,
)


def steady(text: str) -> str:
    """A template, or text that may be used as one, without such functions. Lines keep their numbers."""
    if "{{" not in text or not any(word in text for word in _CONSTANTS):
        return text
    return "".join(_parts(text))


def _parts(text: str) -> Iterator[str]:
    done = 0
    while (start := text.find("{{", done)) >= 0 and (end := text.find("}}", start)) >= 0:
        yield text[done:start]
        yield _WORDS.sub(_constant, text[start:end])
        done = end
    yield text[done:]


def _constant(match: re.Match[str]) -> str:
    return _CONSTANTS[match[1]] if match[1] else match[0]
