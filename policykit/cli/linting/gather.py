"""The files of a lint run: what governs each, and the scope it stands in (contract 3)."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from policykit import api
from policykit.cache.folder import NO_CACHE, Cache
from policykit.cli.policy import cluster_from, shown_as
from policykit.errors import Failures, SourceError
from policykit.linter.member import BUILT, Member
from policykit.linter.plan import Setting
from policykit.sources.boundary import SMALL
from policykit.sources.crds import custom_kinds_of
from policykit.sources.files import SUFFIXES, File, discover, excluded, read, walk
from policykit.sources.policies import nearest_policy
from policykit.sources.scopes import (
    KUSTOMIZATIONS,
    is_patch,
    kustomization,
    kustomization_namespace,
    scope_root,
)
from policykit.sources.settings import nearest_settings, pyproject_settings

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster, LintSettings

STDIN = "-"


class Gathered:
    """Members and settings of a run, as files are looked at; failures are kept, not raised."""

    def __init__(
        self,
        policy: str = "",
        select: Sequence[str] = (),
        ignore: Sequence[str] = (),
        namespace: str = "",
        *,
        timed: bool = False,
        crds: Sequence[str] = (),
        preset: str = "",
        cache: Cache = NO_CACHE,
    ) -> None:
        """`crds`: files and folders with the user's own kinds. `preset`: instead of the settings' own.
        `cache`: what earlier runs have left.

        Raises UsageError for a rule of the command line that does not exist, SourceError for
        a path without definitions.
        """
        self.members: list[Member] = []
        self.sizes: list[int] = []
        self.settings: list[Setting] = []
        self.sources: list[str] = []
        """The policy, or the settings' file, of each setting; empty: there is none."""
        self.beside: list[str] = []
        """Files that are no members, and that findings may stand in."""
        self.failures = Failures()
        self.elsewhere: list[str] = []
        """Links to folders outside the boundary: they are not followed."""
        self.without_policy = 0
        self._policy = policy
        self._select = select
        self._ignore = ignore
        self._preset = preset
        self._namespace = namespace
        self.timed = timed
        self.cache = cache
        self._custom = custom_kinds_of(crds) if crds else {}
        self._globs: list[tuple[str, ...]] = []
        self._known: dict[str, int] = {}
        self._scopes: dict[str, dict[str, Member]] = {}
        """Files of each scope by their absolute paths, once they are asked for."""
        self._absolute: dict[str, str] = {}
        """Folders of files, by the way to them as given."""
        self.folders: dict[str, None] = {}
        """Folders whose kustomization, if they have one, the run looks at as a whole."""
        self.left_out: list[str] = []
        """Files that settings leave out."""
        self.built: dict[str, bytes] = {}
        """Objects as kustomize builds them, by the names that they are opened by."""
        self.built_from: frozenset[str] = frozenset()
        """Files that those were built from, links resolved."""
        self.given: bytes | None = None
        """What came by standard input; None: it was not asked for."""
        self._setting(None, None, "")

    @property
    def excludes(self) -> bool:
        """Whether any setting leaves files out."""
        return any(self._globs)

    def gather(self, paths: Sequence[str], force_exclude: bool = False, stdin_filename: str = "") -> None:
        """Adds the files that paths mean, and standard input where `-` is among them."""
        if STDIN in paths:
            self._add_stdin(File(stdin_filename or "<stdin>", ""), force_exclude)
        named = [path for path in paths if path != STDIN]
        present = [path for path in named if os.path.lexists(path)]
        for path in named:
            if path not in present:
                self.failures.add(SourceError("no such file or folder"), path)
        scopes: dict[tuple[str, str], str] = {}
        for file in discover(present, elsewhere=self.elsewhere):
            folder = self._folder(file)
            with self.failures.told(file.path):
                scope = scopes.get((folder, file.argument))
                if scope is None:
                    scope = scope_root(file.path, file.argument, self._policy_folder(folder))
                    scopes[folder, file.argument] = scope
                self._add(file, file.path, scope, force_exclude)
            if file.argument or os.path.basename(file.path) in KUSTOMIZATIONS:
                self.folders[folder] = None
        for path in filter(None, map(kustomization, self.folders)):
            # One that is a manifest file is linted, which tells why it cannot be read.
            if not (path.endswith(SUFFIXES) and os.path.isfile(path)):
                with self.failures.told(path):
                    read(path, most=SMALL)

    def gather_text(self, path: str, *, whole: bool) -> None:
        """Adds a file that an editor holds; `whole`: together with its scope."""
        file = File(path, "")
        scope = scope_root(path, "", self._policy_folder(self._folder(file))) if whole else ""
        self._add(file, path, scope, True)

    def read(self, path: str) -> bytes:
        """The bytes of a member. Raises SourceError."""
        if path in self.built:
            return self.built[path]
        return self.given or b"" if path == STDIN else read(path)

    def surroundings(self, scope: str) -> Iterator[Member]:
        """Every manifest file of a scope; those of the run under the paths they were given by."""
        if not self._scopes:
            for member in self.members:
                self._scopes.setdefault(member.scope, {})[os.path.abspath(member.file)] = member
        members = self._scopes[scope]
        first = next(iter(members.values()))
        setting, absolute = first.setting, os.path.isabs(first.path)
        for path in walk(scope):
            folder = os.path.dirname(path)
            if path in members:
                yield members[path]
            elif self.built_from and os.path.realpath(path) in self.built_from:
                continue
            elif scope_root(path, scope, self._policy_folder(folder)) == scope:
                shown = path if absolute else os.path.relpath(path).replace(os.sep, "/")
                yield Member(shown, path, scope, setting, is_patch(path), self._stands_in(folder))

    def standing_in(self, folder: str, path: str, scope: str) -> Member:
        """A member that is no file: the objects of a folder, under what governs the folder."""
        setting = self._governing(folder, self._policy or nearest_policy(folder))
        return Member(path, path, scope, setting, False, self._stands_in(folder), BUILT)

    def _add_stdin(self, file: File, force_exclude: bool) -> None:
        if sys.stdin is None:
            self.failures.add(SourceError("standard input is closed"), file.path)
            return
        # Read here: worker processes have another standard input.
        self.given = sys.stdin.buffer.read()
        self._add(file, STDIN, "", force_exclude)

    def _add(self, file: File, opened: str, scope: str, force_exclude: bool) -> None:
        folder = self._folder(file)
        reference = self._policy or nearest_policy(folder)
        setting = self._governing(folder, reference)
        if (file.argument or force_exclude) and self._excluded(file.path, setting):
            self.left_out.append(opened)
            return
        self.without_policy += not reference
        namespace = self._stands_in(folder)
        self.members.append(Member(file.path, opened, scope, setting, is_patch(file.path, folder), namespace))
        self.sizes.append(_size(opened))

    def _folder(self, file: File) -> str:
        """Absolute; a tree has fewer folders than files."""
        here = os.path.dirname(file.path)
        if here not in self._absolute:
            self._absolute[here] = os.path.abspath(here)
        return self._absolute[here]

    def _excluded(self, path: str, setting: int) -> bool:
        """Whether the settings leave a file out; their globs start where they stand."""
        globs, below = self._globs[setting], self.settings[setting].selection.below
        return excluded(path, globs) or bool(below and excluded(below + path, globs))

    def _policy_folder(self, folder: str) -> str:
        return "" if self._policy else os.path.dirname(nearest_policy(folder))

    def _stands_in(self, folder: str) -> str:
        return self._namespace or kustomization_namespace(folder)

    def _governing(self, folder: str, reference: str) -> int:
        """Index of the setting for files in a folder; the one of a source that is wrong says nothing."""
        source = reference
        try:
            source = reference or nearest_settings(folder)
            if source in self._known:
                return self._known[source]
            cluster = cluster_from(source, self.cache) if reference else None
            return self._setting(cluster, cluster.lint if cluster else pyproject_settings(source), source)
        except Exception as error:
            self._known[source] = 0
            with self.failures.told(source):
                if not (reference and _is_base(reference)):
                    self.failures.add(error, source)
            return 0

    def _setting(self, cluster: Cluster | None, lint: LintSettings | None, source: str) -> int:
        namespace = self._namespace or "default"
        own = custom_kinds_of(_beside(source, lint.crds), source) if lint and lint.crds else {}
        setting = api.setting(
            cluster,
            lint,
            self._select,
            self._ignore,
            namespace,
            timed=self.timed,
            below=_below(source),
            custom={**own, **self._custom},
            preset=self._preset,
        )
        self.settings.append(setting)
        self.sources.append(source)
        self._globs.append(lint.exclude if lint else ())
        return self._known.setdefault(source, len(self.settings) - 1)


def _size(path: str) -> int:
    """Bytes of a file; 0: it is none, or nobody can tell."""
    try:
        state = os.stat(path)
    except OSError:
        return 0
    return state.st_size if stat.S_ISREG(state.st_mode) else 0


def _below(source: str) -> str:
    """The current folder as seen from that of a policy or settings file, `apps/`; empty: it is not below."""
    here = os.path.dirname(os.path.abspath(source)) if source else ""
    apart = os.path.relpath(os.getcwd(), here) if here else os.curdir
    outside = apart == os.curdir or apart.startswith(os.pardir) or source.startswith("profile:")
    return "" if outside else f"{apart.replace(os.sep, '/')}/"


def _beside(source: str, paths: Sequence[str]) -> list[str]:
    """Paths of a policy or settings file, which start in its folder, as they are opened."""
    return [shown_as(os.path.join(os.path.dirname(source), path)) for path in paths]


def _is_base(policy: str) -> bool:
    """Whether others extend the policy: then it need not stand by itself."""
    from policykit.sources.outputs import extended

    return extended(policy)
