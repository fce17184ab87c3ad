"""The compiled extension, where policykit was built with it and nobody turned it off.

Its modules do what functions in Python do, faster; what is rare, and every problem, they leave to those.
"""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType
from typing import Any

VARIABLE = "POLICYKIT_EXTENSION"
"""0 turns the extension off. While policykit is installed, 1 builds it."""


def _imported() -> tuple[ModuleType | None, ModuleType | None, str]:
    """The modules, or why they are not used."""
    if os.environ.get(VARIABLE) == "0":
        return None, None, f"off: {VARIABLE}=0"
    try:
        tree, words = (import_module(f"policykit.manifests.{name}") for name in ("_tree", "_words"))
    except ModuleNotFoundError:
        return None, None, "not built"
    except ImportError as error:
        return None, None, f"not usable: {error}"
    return tree, words, f"in use, with libyaml {tree.LIBYAML}"


tree: Any
words: Any
tree, words, STATE = _imported()
"""Two modules or None, and whether the extension is used, or why not."""
