"""Problems with values of a document, as validators report them."""

from __future__ import annotations

from policykit.manifests.patch import Patch
from policykit.manifests.path import Path
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple


class Repair(NamedTuple):
    """Changes that solve a problem."""

    description: str
    """What they do, as an order: `remove it`."""
    patches: tuple[Patch, ...]
    certain: bool = True
    """Whether the author must have meant the result."""


class Problem(NamedTuple):
    """A value that is refused, ignored or harmful."""

    path: Path
    """The wrong value; for a missing field the mapping that lacks it."""
    message: str
    """What is wrong."""
    help: str = ""
    """What to do."""
    severity: Severity | None = None
    """Where it differs from the usual one of the check."""
    key: bool = False
    """The key at `path` is wrong, not its value."""
    kind: str = ""
    """Which check found it, by a name from the validator's own list."""
    intended: Path = ()
    """Where a missing field belongs, or an unknown one probably; empty: unknown."""
    repair: Repair | None = None

    def below(self, base: Path) -> Problem:
        """The same problem of a document that contains this one at `base`."""
        repair = self.repair and self.repair._replace(
            patches=tuple(patch._replace(path=(*base, *patch.path)) for patch in self.repair.patches)
        )
        intended = (*base, *self.intended) if self.intended else ()
        return self._replace(path=(*base, *self.path), intended=intended, repair=repair)
