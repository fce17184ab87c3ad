"""The answer of one gate that pods must pass before they run."""

from __future__ import annotations

from policykit.namedtuple import NamedTuple

ACCEPTED, REFUSED, UNKNOWN = "accepted", "refused", "unknown"
"""It lets the pods pass; it holds them for certain; the files do not decide it."""


class Gate(NamedTuple):
    """One gate, and what it says of a pod set."""

    name: str
    """scheduler, priority, quota, limit-range, queue, gang, pools or topology."""
    state: str
    detail: str = ""
    """The two values that disagree, or what is not known, for display; what was found if accepted."""


def state_of(gates: tuple[Gate, ...]) -> str:
    """The state of pods that must pass all of these."""
    states = {gate.state for gate in gates}
    return next((state for state in (REFUSED, UNKNOWN) if state in states), ACCEPTED)
