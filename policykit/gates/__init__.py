"""What holds pods besides the pools: scheduler, priority, quotas, queue, gang and topology."""

from __future__ import annotations

from policykit.namedtuple import NamedTuple

ACCEPTED, REFUSED, UNKNOWN = "accepted", "refused", "unknown"
"""It lets the pods pass; it holds them for certain; the files do not decide it."""


class Gate(NamedTuple):
    """One gate, and what it says of a pod set."""

    name: str
    """What it is, for display after "by the": queue, scheduling gate, quota."""
    state: str
    detail: str = ""
    """The two values that disagree, or what is not known, for display; what was found if accepted."""


def state_of(gates: tuple[Gate, ...]) -> str:
    """The state of pods that must pass all of these."""
    states = {gate.state for gate in gates}
    return next((state for state in (REFUSED, UNKNOWN) if state in states), ACCEPTED)
