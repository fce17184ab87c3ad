"""The answer of one pool to one pod set."""

from __future__ import annotations

from typing import NamedTuple

from policykit.model.pool import Pool
from policykit.model.taint import Taint


class Landing(NamedTuple):
    """The verdict for one pool."""

    pool: Pool
    verdict: str
    """preferred, accepted, refused or undecidable."""
    reason: str = ""
    """unschedulable, untolerated-taint, selector, affinity, resources, or unknown-label
    where undecidable; empty when accepted."""
    detail: str = ""
    """The two values that disagree, in words."""
    taint: Taint | None = None
    """The taint that refuses, where that is the reason."""
    score: int = 0
    """Sum of the weights of the pod's preferred terms that this pool matches."""

    @property
    def accepts(self) -> bool:
        return self.verdict in ("preferred", "accepted")
