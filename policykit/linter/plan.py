"""What a run is given: its files, what governs each, and the ways to the disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from policykit.kube.structure.served import NOTHING, Served
from policykit.linter.member import Member
from policykit.linter.registry import RuleSet
from policykit.linter.selection import Selection

if TYPE_CHECKING:
    from policykit.linter.built.tree import Built
    from policykit.linter.memory import Memory
    from policykit.linter.policies import Policy
    from policykit.linter.systems import Systems
    from policykit.model.cluster import Cluster


class Setting(NamedTuple):
    """What governs a group of files: a policy or none, and the rules chosen under it."""

    rules: RuleSet
    selection: Selection
    cluster: Cluster | None = None
    namespace: str = "default"
    mark: bytes | None = b""
    """Tells what rules see from what they saw in other runs; None: what a file gives must not be kept."""
    served: Served = NOTHING
    """What the API server serves, as far as it is stated."""
    plugins: tuple[str, ...] = ()
    """Names of scheduler plugins outside the tree, as the settings list them."""


class Run(NamedTuple):
    """Everything a run needs; `read` and `surroundings` are the only ways to the disk."""

    members: tuple[Member, ...]
    settings: tuple[Setting, ...]
    systems: Systems
    read: Callable[[str], bytes]
    surroundings: Callable[[str], Iterable[Member]]
    """All files of a scope, those of the run among them."""
    sizes: tuple[int, ...] = ()
    """Bytes of each member, for spreading work; empty: unknown."""
    fixes: bool = False
    """Compute the fixes of findings."""
    today: str = ""
    """YYYY-MM-DD, what suppressions with an end are held against; empty: none has ended."""
    policies: tuple[Policy, ...] = ()
    """Those whose files, or what they generate, are among the members."""
    memory: Memory | None = None
    """What files gave in earlier runs; None: nothing is remembered."""
    built: tuple[Built, ...] = ()
    """Kustomizations whose objects are looked at as they are built."""

    def with_built(self) -> Run:
        """With what is built among the members, behind them."""
        made = tuple(built.member for built in self.built)
        sizes = (*self.sizes, *(len(self.read(member.file)) for member in made)) if self.sizes else ()
        return self._replace(members=(*self.members, *made), sizes=sizes, built=()) if made else self
