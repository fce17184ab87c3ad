"""The input of a run: files, policies that apply to them, builds, baselines and the cache."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from policykit.kube.structure.schema import NOTHING, ServedApis
from policykit.linter.baseline import Key, Locate
from policykit.linter.input_file import InputFile
from policykit.linter.registry import RuleSet, Selection
from policykit.linter.scope import NOTHING_UNREAD, AnyFact, LargeFileFacts, StoredFacts, UnreadableText
from policykit.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policykit.linter.baseline import Baselines
    from policykit.linter.engine import FileResult, Job
    from policykit.linter.finding import NotJudged
    from policykit.linter.input_file import BuiltKustomization
    from policykit.linter.rule import DeclaredPolicy, FailedBuild, GeneratedFile
    from policykit.linter.target import Targets
    from policykit.model.cluster import Cluster


class EarlierFindings(NamedTuple):
    """The findings of a revision, where it could be judged."""

    amounts: Mapping[tuple[Key, str], int] = {}
    """Number of each finding per file, relative to the root of its repository."""
    clusters: tuple[str, ...] = ()
    """Name in `amounts` of the cluster of each setting of this run."""
    locate: Locate = lambda path: path
    """Reported paths to paths relative to the root."""
    files: frozenset[str] = frozenset()
    """The files of the revision."""
    gone: frozenset[str] = frozenset()
    """Files of the revision that no longer exist, from which findings without an object may have moved."""

    whole: frozenset[str] = frozenset()
    """Files, relative to the root, of which all findings are reported."""

    def had(self, path: str) -> bool:
        """Whether the revision had the file with a reported path."""
        return self.locate(path) in self.files


class Setting(NamedTuple):
    """A policy, or none, with its selected rules, for a group of files."""

    rules: RuleSet
    selection: Selection
    cluster: Cluster | None = None
    namespace: str = "default"
    fingerprint: bytes | None = b""
    """Key of everything that rules see besides the file; None: results are not cached."""
    served: ServedApis = NOTHING
    """What the API server serves, as far as it is configured."""
    plugins: tuple[str, ...] = ()
    """Names of out-of-tree scheduler plugins, from the settings."""


class Policy(NamedTuple):
    """A policy that is itself judged in a run."""

    setting: int
    """Index of its setting in the run."""
    declared: DeclaredPolicy | None = None
    """None: only files generated from it are judged, not its own file."""
    drifted: tuple[GeneratedFile, ...] = ()
    file: str = ""
    """Its file, as reported."""

    def looked_at(self, path: str) -> bool:
        """Whether this run reports all findings about the policy file at a path.

        A base is judged with every policy that extends it, and those may be elsewhere.
        """
        return self.declared is not None and path == self.file and not self.declared.base()


class ResultCache(Protocol):
    """Cached results of files as bytes, keyed by everything they depend on. Worker processes do not decode
    them.
    """

    def key(self, job: Job, fingerprint: bytes, raw: bytes, *, facts_only: bool) -> bytes:
        """The key of a file under a setting with this fingerprint; `facts_only`: of a result without
        findings."""

    def find(self, key: bytes) -> bytes:
        """A result as bytes; empty: there is none."""

    def encode(self, results: Sequence[FileResult]) -> list[bytes]:
        """Results as bytes; empty for one that cannot be cached."""

    def decode(self, entries: Sequence[bytes], paths: Sequence[str]) -> list[FileResult | None]:
        """Decodes results of the files with these reported paths; None for a damaged one."""

    def facts(self, entry: bytes, path: str, again: Callable[[], Sequence[AnyFact]]) -> StoredFacts:
        """The facts of a result, decoded where needed; `again` gives them if they are damaged."""

    def keep(self, key: bytes, entry: bytes) -> None:
        """Stores a result for the next run."""

    def clear(self) -> bool:
        """Drops all results of earlier runs; False if there were none."""


class SharedFile(NamedTuple):
    """Another policy that applies to a file."""

    policy: str
    """Absolute path."""
    shown: str
    overlay: str = ""
    """A kustomization that uses the file only for the policy at hand, as shown to the user; empty: none."""

    @property
    def advice(self) -> str:
        """Where to write what only one policy needs."""
        return f"write it into {self.overlay}" if self.overlay else "write it into an overlay"


class FileOwners(NamedTuple):
    """Policies that judge only some documents of a file: objects in it are for other clusters."""

    documents: Mapping[int, frozenset[int]]
    """Index of each such document to the settings that judge it."""
    others: frozenset[int] = frozenset()
    """Settings that judge the other documents."""

    def judges(self, document: int, setting: int) -> bool:
        """Whether a setting judges a document."""
        return setting in self.documents.get(document, self.others)


OtherPolicy = Callable[[str, int, Callable[[], tuple[bytes, bytes]]], SharedFile | None]
"""From a file (as opened), the index of a setting, and the texts before and after a fix to another policy
that applies to the file, and under which the fix is not right; None: there is none."""


class Workspace(NamedTuple):
    """The input of a run; only `read`, `surroundings`, `unread` and `reach` access the disk."""

    input_files: tuple[InputFile, ...]
    settings: tuple[Setting, ...]
    """Policies with their settings; input files and builds refer to them by index."""
    read: Callable[[str], bytes]
    surroundings: Callable[[str], Iterable[InputFile]] = lambda scope: ()
    """All files of a scope, including those of the run."""
    unread: Callable[[str], UnreadableText] = lambda scope: NOTHING_UNREAD
    """The words of files of a scope that are not manifests but may define objects."""
    reach: Callable[[int], Iterable[InputFile]] = lambda setting: ()
    """All files that a policy applies to, including those of the run."""
    sizes: tuple[int, ...] = ()
    """Bytes of each input file, for spreading work; empty: unknown."""
    policies: tuple[Policy, ...] = ()
    """Policies whose files, or generated files, are judged."""
    without_policy: frozenset[str] = frozenset()
    """Paths of files that no policy applies to by their place."""
    bases: frozenset[str] = frozenset()
    """Paths of policies that others extend, under any name: they have no objects for a cluster."""
    builds: tuple[BuiltKustomization, ...] = ()
    """Kustomizations whose objects are linted as kustomize builds them."""
    baselines: Baselines | None = None
    """Accepted findings."""
    earlier: EarlierFindings | None = None
    """Findings of a revision, which are not reported; None: all are reported."""
    failed_builds: tuple[tuple[int, FailedBuild], ...] = ()
    """Kustomizations that cannot be built because of a mistake, each with the index of its policy."""
    not_judged: tuple[NotJudged, ...] = ()
    """What is not judged, as known before the run."""
    cache: ResultCache | None = None
    """Results of earlier runs."""
    large_file_facts: Callable[[str], LargeFileFacts] | None = None
    """Keeps the facts of a large file, by its reported path; None: they are kept as they are."""
    remembered: Callable[[Workspace], Workspace] = lambda workspace: workspace
    """The same workspace with the results of earlier runs, where they are worth loading for many files."""
    completed: Callable[[str], bool] = lambda file: False
    """Whether a kustomization may add to the objects of a file (as opened), which are then incomplete."""
    listed: Callable[[str], bool] = lambda file: False
    """Whether a kustomization lists a file (as opened): kustomize reads it."""
    has_target_namespace: Callable[[str], bool] = lambda file: False
    """Whether Flux builds a file (as opened) with a namespace for its objects."""
    other_policy: OtherPolicy = lambda file, setting, texts: None
    """A policy other than that of a setting that also applies to a file and does not suit a fix."""
    owners: Mapping[str, FileOwners] = {}
    """Reported paths of files with objects that are for other clusters than the file."""
    incomplete: frozenset[int] = frozenset()
    """Policies whose files could not all be judged, so that absent objects may exist."""


class Options(NamedTuple):
    """How a workspace is linted."""

    fixes: bool = False
    """Compute the fixes of findings."""
    today: str = ""
    """YYYY-MM-DD, to tell which suppressions have expired; empty: none has."""
    workers: int = 0
    """Number of processes; 0: chosen by the size of the input."""
    progress: Callable[[int, int], None] = lambda done, total: None
    """Called after each file with how many of how many are linted."""


DEFAULT = Options()


class Run(NamedTuple):
    """Everything the passes of a run read."""

    workspace: Workspace
    options: Options
    targets: Targets
    facts_only: bool = False
    """Findings are not wanted."""
