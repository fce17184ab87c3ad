"""Bundled files: `profiles/` and `schemas/`.

A wheel has them inside the package, a checkout has them next to it: look inside
first, then next to it. Nothing is ever downloaded.
"""

import json
import os
from functools import cache
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))


@cache
def _root() -> str:
    for root in (os.path.join(_HERE, "_bundled"), os.path.dirname(_HERE)):
        if os.path.isdir(os.path.join(root, "profiles")):
            return root
    raise FileNotFoundError("policykit is installed without its profiles/ and schemas/")


def path(*parts: str) -> str:
    """Absolute path of a bundled file, whether it exists or not."""
    return os.path.join(_root(), *parts)


def names(*folder: str, suffix: str) -> tuple[str, ...]:
    """Names without `suffix` of the files in a bundled folder, sorted."""
    found = os.listdir(path(*folder))
    return tuple(sorted(n[: -len(suffix)] for n in found if n.endswith(suffix)))


def read(*parts: str) -> bytes:
    """Bytes of a bundled file. Raises FileNotFoundError if there is none."""
    with open(path(*parts), "rb") as file:
        return file.read()


@cache
def table(*parts: str) -> Any:
    """A bundled JSON file, read once per process. Callers must not change it."""
    return json.loads(read(*parts))
