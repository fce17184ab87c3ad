"""What a run is given: its files, what governs each, and the ways to the disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from policykit.kube.structure.served import NOTHING, Served
from policykit.linter.member import Member
from policykit.linter.registry import RuleSet
from policykit.linter.selection import Selection

if TYPE_CHECKING:
    from policykit.linter.built.tree import Built
    from policykit.linter.engine import FileResult, Job
    from policykit.linter.policies import Policy
    from policykit.linter.systems import Systems
    from policykit.model.cluster import Cluster


class Setting(NamedTuple):
    """What governs a group of files: a policy or none, and the rules chosen under it."""

    rules: RuleSet
    selection: Selection
    cluster: Cluster | None = None
    namespace: str = "default"
    fingerprint: bytes | None = b""
    """Tells what rules see from what they saw in other runs; None: what a file gives is not cached."""
    served: Served = NOTHING
    """What the API server serves, as far as it is stated."""
    plugins: tuple[str, ...] = ()
    """Names of scheduler plugins outside the tree, as the settings list them."""


class ResultCache(Protocol):
    """Results of files by everything they depend on, as bytes: worker processes need not build what only
    the first one uses.
    """

    def key(self, job: Job, fingerprint: bytes, raw: bytes) -> bytes:
        """Of a file under a setting with this fingerprint."""

    def find(self, key: bytes) -> bytes:
        """A result as bytes; empty: there is none."""

    def encode(self, results: Sequence[FileResult]) -> list[bytes]:
        """Results as bytes; empty for one that is not to be kept."""

    def decode(self, entries: Sequence[bytes], paths: Sequence[str]) -> list[FileResult | None]:
        """Results again, of the files with these reported paths; None for one that is damaged."""

    def keep(self, key: bytes, entry: bytes) -> None:
        """Leaves a result to the next run."""

    def clear(self) -> bool:
        """Drops every result of earlier runs; False: there was none."""


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
    cache: ResultCache | None = None
    """What files gave in earlier runs."""
    built: tuple[Built, ...] = ()
    """Kustomizations whose objects are looked at as they are built."""

    def with_built(self) -> Run:
        """With what is built among the members, behind them."""
        made = tuple(built.member for built in self.built)
        sizes = (*self.sizes, *(len(self.read(member.file)) for member in made)) if self.sizes else ()
        return self._replace(members=(*self.members, *made), sizes=sizes, built=()) if made else self
