"""The compiled extension, where policykit was built with it and nobody turned it off.

It does what functions in Python do, faster; what is rare, and every problem, it leaves to those.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from policykit.namedtuple import compile_with

VARIABLE = "POLICYKIT_EXTENSION"
"""0 turns the extension off. While policykit is installed, 1 builds it."""


def _imported() -> tuple[Any, str]:
    """The module, or why it is not used."""
    if os.environ.get(VARIABLE) == "0":
        return None, f"off: {VARIABLE}=0"
    try:
        found: Any = import_module("policykit._compiled")
    except ModuleNotFoundError:
        return None, "not built"
    except ImportError as error:
        return None, f"not usable: {error}"
    return found, f"in use, with libyaml {found.LIBYAML}"


compiled: Any
compiled, STATE = _imported()
"""The module or None, and whether it is used, or why not."""
if compiled:
    compile_with(compiled.install)
