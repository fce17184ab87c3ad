"""What a run works on: its files, the policies that govern them, builds, baselines and the cache."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from policykit.kube.structure.versions import NOTHING, ServedApis
from policykit.linter.registry import RuleSet
from policykit.linter.selection import Selection

if TYPE_CHECKING:
    from policykit.linter.baseline import Baselines
    from policykit.linter.builds.kustomization import Built
    from policykit.linter.engine import FileResult, Job
    from policykit.linter.finding import Finding
    from policykit.linter.subjects import DeclaredPolicy, GeneratedFile
    from policykit.linter.target import Systems
    from policykit.model.cluster import Cluster


READ = "read"
"""Of a file only how it is written: its objects are looked at as they are built."""
BUILT = "built"
"""Objects as they are built; how they are written is told of the files they come from."""


class Member(NamedTuple):
    """A file of the run."""

    path: str
    """As reported."""
    file: str
    """As opened."""
    scope: str
    """Files of one scope see each other in cross-document rules; empty: no scope at all."""
    setting: int
    """Index into the run's settings."""
    partial: bool = False
    """A kustomization lists it as a patch, or completes its objects in a way that was not built."""
    namespace: str = ""
    """Where its objects without a namespace stand; empty: where the setting says."""
    look: str = ""
    """READ or BUILT, where it is not looked at as a whole."""

    @property
    def is_built(self) -> bool:
        """Whether it stands for the objects of a build."""
        return self.look == BUILT


class Setting(NamedTuple):
    """What governs a group of files: a policy or none, and the rules chosen under it."""

    rules: RuleSet
    selection: Selection
    cluster: Cluster | None = None
    namespace: str = "default"
    fingerprint: bytes | None = b""
    """Tells what rules see from what they saw in other runs; None: what a file gives is not cached."""
    served: ServedApis = NOTHING
    """What the API server serves, as far as it is stated."""
    plugins: tuple[str, ...] = ()
    """Names of scheduler plugins outside the tree, as the settings list them."""


class Policy(NamedTuple):
    """A policy that a run looks at, not only with."""

    setting: int
    """Index into the run's settings: what it governs itself by."""
    declared: DeclaredPolicy | None = None
    """None: its file is not looked at, only what was generated from it."""
    drifted: tuple[GeneratedFile, ...] = ()
    file: str = ""
    """Its file, as reported."""

    def looked_at(self, path: str) -> bool:
        """Whether all that can be said of the policy file of that path is said in this run.

        What a base says is judged with every policy that extends it, and those may be elsewhere.
        """
        return self.declared is not None and path == self.file and not self.declared.base()


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


class Workspace(NamedTuple):
    """What a run works on, built once; `read`, `surroundings` and `reach` are the only ways to the disk."""

    members: tuple[Member, ...]
    settings: tuple[Setting, ...]
    """Policies with their settings; members and builds name theirs by its index."""
    read: Callable[[str], bytes]
    surroundings: Callable[[str], Iterable[Member]] = lambda scope: ()
    """All files of a scope, those of the run among them."""
    reach: Callable[[int], Iterable[Member]] = lambda setting: ()
    """All files that a policy applies to, those of the run among them."""
    sizes: tuple[int, ...] = ()
    """Bytes of each member, for spreading work; empty: unknown."""
    policies: tuple[Policy, ...] = ()
    """Those whose files, or what they generate, are among the members."""
    builds: tuple[Built, ...] = ()
    """Kustomizations whose objects are judged as they are built."""
    baselines: Baselines | None = None
    """Findings that are accepted as they are; None: none is."""
    changes: Mapping[str, frozenset[int]] | None = None
    """Findings are told only of these documents of these files, and of files that are not named;
    None: of all.
    """
    cache: ResultCache | None = None
    """What files gave in earlier runs."""
    completed: Callable[[str], bool] = lambda file: False
    """Whether a kustomization may add to the objects of a file (as opened): alone they are incomplete."""
    other_policy: Callable[[str, int], str] = lambda file, setting: ""
    """Another policy that applies to a file (as opened) than the one of a setting; empty: there is none."""
    incomplete: frozenset[int] = frozenset()
    """Policies that apply to more than could be judged: what is absent may be there."""

    def is_changed(self, finding: Finding) -> bool:
        """Whether a finding is told as far as changes go: new files and standard input are new as a whole."""
        documents = None if self.changes is None else self.changes.get(finding.path)
        return documents is None or finding.document in documents


class Options(NamedTuple):
    """How a workspace is judged."""

    fixes: bool = False
    """Each finding comes with its fix, where there is one."""
    today: str = ""
    """YYYY-MM-DD, what suppressions with an end are held against; empty: none has ended."""
    workers: int = 0
    """Processes; 0: as many as pay."""


DEFAULT = Options()


class Run(NamedTuple):
    """Everything the passes of a run read."""

    workspace: Workspace
    options: Options
    systems: Systems
