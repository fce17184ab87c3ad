"""Terminal colours, which never carry information that the text lacks."""

from __future__ import annotations

from collections.abc import Mapping

from policykit.model.severity import Severity

BOLD, DIM = "1", "2"
OF_SEVERITY = {Severity.ERROR: "1;31", Severity.WARNING: "1;33", Severity.INFO: "1;36"}


def paint(text: str, code: str, on: bool) -> str:
    """The text in a colour, if colours are on."""
    return f"\x1b[{code}m{text}\x1b[0m" if on and text else text


def wanted(choice: str, environment: Mapping[str, str], terminal: bool) -> bool:
    """Whether to colour: the option decides, then FORCE_COLOR, NO_COLOR and TERM, then the terminal.

    Sources: no-color.org, force-color.org.
    """
    if choice != "auto":
        return choice == "always"
    if environment.get("FORCE_COLOR"):
        return True
    if environment.get("NO_COLOR") or environment.get("TERM") == "dumb":
        return False
    return terminal
