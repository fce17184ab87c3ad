"""The files of a run, each with its scope and settings, and the other files of their scopes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence

from policykit.errors import Failures, SourceError
from policykit.linter.input_file import KUSTOMIZATIONS, STDIN, InputFile
from policykit.linter.scope import NOTHING_UNREAD, UnreadableText
from policykit.namedtuple import NamedTuple
from policykit.workspace import filesystem
from policykit.workspace.files import (
    SUFFIXES,
    File,
    absolute_paths,
    discover,
    read,
    relative,
    repository_files,
    repository_root,
)
from policykit.workspace.linting.request import Request
from policykit.workspace.linting.settings import SettingsTable
from policykit.workspace.policies import FILE_NAME, extended_files
from policykit.workspace.safe_paths import SMALL, is_within
from policykit.workspace.scopes import (
    has_patches,
    is_assertion,
    is_of_pipelines_as_code,
    is_patch,
    kustomization,
    kustomization_namespace,
    scope_root,
)


class Files(NamedTuple):
    """The files of a run."""

    input_files: tuple[InputFile, ...]
    sizes: tuple[int, ...]
    """Bytes of each."""
    folders: tuple[str, ...] = ()
    """Absolute folders whose kustomization, if there is one, is built."""
    left_out: tuple[str, ...] = ()
    """Files that settings exclude, by the name they are opened by."""
    elsewhere: tuple[str, ...] = ()
    """Links to folders outside the boundary, which are not followed."""
    without_policy: tuple[str, ...] = ()
    """Paths of files that no policy applies to by their place, without policies."""
    bases: tuple[str, ...] = ()
    """Those of policies that others extend, under any name."""
    given: bytes | None = None
    """Standard input; None: it was not read."""


class Reader:
    """Reads files of the run, standard input and builds."""

    def __init__(
        self,
        given: bytes | None = None,
        built: Mapping[str, bytes] | None = None,
        contents: dict[str, bytes] | None = None,
    ) -> None:
        """`given`: standard input; `built`: objects of builds by the name of their input file; `contents`: of
        files that were read before, by absolute path, each given once."""
        self._given = given
        self._built = {} if built is None else built
        self._contents = {} if contents is None else contents
        self._here = os.path.join(os.getcwd(), "") if contents else ""

    def __call__(self, path: str) -> bytes:
        """The bytes of a file. Raises SourceError."""
        if path in self._built:
            return self._built[path]
        if path == STDIN:
            return self._given or b""
        if self._contents:
            raw = self._contents.pop(path if path.startswith(os.sep) else self._here + path, None)
            if raw is not None:
                return raw
        with filesystem.ToLint():
            return read(path)


class AppliedFiles(NamedTuple):
    """What policies apply to, as far as they say it."""

    files: frozenset[str] = frozenset()
    """Source files of builds, which count as they are built; links resolved."""
    scopes: Mapping[str, tuple[InputFile, ...]] = {}
    """Everything of the scopes that they have by what they say."""
    beside: Callable[[int], Sequence[InputFile]] = lambda setting: ()
    """What the policy of a setting says it applies to beside the run."""


NO_UNITS = AppliedFiles()


class _FolderBeside(NamedTuple):
    """What files of a folder that are not linted have in common."""

    path: str
    """With a separator at the end, as that of `shown`."""
    shown: str | None
    """None: it is not the beginning of its files' paths as reported."""
    namespace: str
    has_patches: bool


class ScopeFiles:
    """All files of the scopes and policies of a run, also those that are not linted."""

    def __init__(
        self, request: Request, table: SettingsTable, files: Files, units: AppliedFiles = NO_UNITS
    ) -> None:
        self._request = request
        self._table = table
        self._input_files = files.input_files
        self._built_from = units.files
        self._scopes: dict[str, dict[str, InputFile]] = {}
        self._stated = units.scopes
        self._beside = units.beside
        self._folders: dict[tuple[str, bool], _FolderBeside] = {}

    def of_scope(self, scope: str) -> Iterator[InputFile]:
        """Every manifest file of a scope; those of the run with their paths as given."""
        if scope in self._stated:
            yield from self._stated[scope]
            return
        if not self._scopes:
            files = absolute_paths(input_file.file for input_file in self._input_files)
            for input_file, file in zip(self._input_files, files, strict=True):
                self._scopes.setdefault(input_file.scope, {})[file] = input_file
        input_files = self._scopes.get(scope, {})
        first = next(iter(input_files.values()), InputFile(scope, "", scope, 0))
        inside: dict[str, bool] = {}
        for path in repository_files(scope):
            if path in input_files:
                yield input_files[path]
            elif self._built_from and filesystem.realpath(path) in self._built_from:
                continue
            else:
                folder, name = os.path.split(path)
                if folder not in inside:
                    inside[folder] = scope_root(path, scope, self._table.policy_folder(folder)) == scope
                if inside[folder]:
                    yield self._member(folder, name, scope, first.setting, first.path)

    def unread(self, scope: str) -> UnreadableText:
        """The words of files of a scope that are not manifests but may define objects."""
        from policykit.workspace.unread_files import words_below

        return words_below(scope) if filesystem.isdir(scope) else NOTHING_UNREAD

    def of_policy(self, setting: int) -> Iterator[InputFile]:
        """Everything outside the run that a policy says it applies to, or applies to by its place."""
        yield from self._beside(setting)
        source = self._table.sources[setting]
        folder = os.path.dirname(os.path.abspath(source))
        if self._request.policies or not source or self._is_covered(folder):
            return
        known = {os.path.abspath(input_file.file) for input_file in self._input_files}
        own = (input_file for input_file in self._input_files if input_file.setting == setting)
        # A policy may reach the run only through builds.
        first = next(own, self._input_files[0])
        scopes: dict[str, str | None] = {}
        for path in repository_files(folder):
            if path in known or not path.endswith(SUFFIXES):
                continue
            here, name = os.path.split(path)
            if here not in scopes:
                applies = self._table.policy(here) == source
                scopes[here] = scope_root(path, "", self._table.policy_folder(here)) if applies else None
            scope = scopes[here]
            if scope is not None:
                yield self._member(here, name, scope, setting, first.path)

    def _is_covered(self, folder: str) -> bool:
        """Whether a folder argument includes everything below a folder."""
        return any(
            filesystem.isdir(path) and is_within(folder, os.path.abspath(path))
            for path in self._request.named
        )

    def _member(self, folder: str, name: str, scope: str, setting: int, like: str) -> InputFile:
        """`like`: the path of an input file; the new path is absolute if that one is."""
        absolute = os.path.isabs(like)
        known = self._folders.get((folder, absolute))
        if known is None:
            known = self._folders[folder, absolute] = self._folder(folder, name, absolute)
        path = known.path + name
        shown = relative(path) if known.shown is None else known.shown + name
        patch = is_patch(path, folder) if known.has_patches else is_assertion(name)
        return InputFile(shown, path, scope, setting, patch, known.namespace)

    def _folder(self, folder: str, name: str, absolute: bool) -> _FolderBeside:
        """What files beside `name` in a folder have in common."""
        path = os.path.join(folder, name)
        shown = path if absolute else relative(path)
        return _FolderBeside(
            path.removesuffix(name),
            shown.removesuffix(name) if shown.endswith(name) else None,
            self._request.namespace or kustomization_namespace(folder),
            has_patches(folder),
        )


def files_of(request: Request, table: SettingsTable, failures: Failures) -> Files:
    """The files that the arguments name, and standard input if `-` is one of them."""
    finder = _Finder(request, table)
    if STDIN in request.paths:
        finder.add_stdin(failures)
    for path in request.named:
        if not filesystem.lexists(path):
            failures.add(SourceError("no such file or folder"), path)
    present = [path for path in request.named if filesystem.lexists(path)]
    for file in discover(present, elsewhere=finder.elsewhere):
        with failures.collect(file.path):
            finder.add_file(file)
    for path in filter(None, map(kustomization, finder.folders)):
        # A manifest file is linted, which reports why it cannot be read.
        if not (path.endswith(SUFFIXES) and filesystem.isfile(path)):
            with failures.collect(path):
                read(path, most=SMALL)
    return finder.files()


def file_of(path: str, request: Request, table: SettingsTable, *, whole: bool) -> Files:
    """A file that is open in an editor; `whole`: together with its scope."""
    finder = _Finder(request._replace(force_exclude=True), table)
    folder = os.path.dirname(os.path.abspath(path))
    scope = scope_root(path, "", table.policy_folder(folder)) if whole else ""
    finder.add(File(path, ""), path, scope, *os.path.split(path))
    return finder.files()


class _Folder(NamedTuple):
    """What files of a folder have in common: a tree has fewer folders than files."""

    absolute: str
    setting: int
    has_policy: bool
    """Whether a policy applies to them by their place."""
    namespace: str
    inlined: bool


class _Finder:
    """Collects the files of a run."""

    def __init__(self, request: Request, table: SettingsTable) -> None:
        self._request = request
        self._table = table
        self._input_files: list[InputFile] = []
        self._sizes: list[int] = []
        self._left_out: list[str] = []
        self._without_policy: list[str] = []
        self._given: bytes | None = None
        self._scopes: dict[tuple[str, str], str] = {}
        self._folders: dict[str, _Folder] = {}
        self.folders: dict[str, None] = {}
        self.elsewhere: list[str] = []

    def files(self) -> Files:
        bases = self._bases() if self._without_policy else frozenset()
        return Files(
            tuple(self._input_files),
            tuple(self._sizes),
            tuple(self.folders),
            tuple(self._left_out),
            tuple(self.elsewhere),
            tuple(path for path in self._without_policy if path not in bases),
            tuple(bases),
            self._given,
        )

    def _bases(self) -> frozenset[str]:
        """Files without a policy that policies extend."""
        roots = {root for each in self._folders.values() if (root := repository_root(each.absolute))}
        extended = frozenset(file for root in roots for file in extended_files(root))
        if not extended:
            return frozenset()
        return frozenset(path for path in self._without_policy if os.path.abspath(path) in extended)

    def add_stdin(self, failures: Failures) -> None:
        file = File(self._request.stdin_filename or "<stdin>", "")
        if sys.stdin is None:
            failures.add(SourceError("standard input is closed"), file.path)
            return
        # Read here: worker processes have another standard input.
        self._given = sys.stdin.buffer.read()
        self.add(file, STDIN, "", *os.path.split(file.path))

    def add_file(self, file: File) -> None:
        above, slash, name = file.path.rpartition("/")
        folder = above or slash
        absolute = self._folder(folder).absolute
        if file.argument or name in KUSTOMIZATIONS:
            self.folders[absolute] = None
        scope = self._scopes.get((absolute, file.argument))
        if scope is None:
            scope = scope_root(file.path, file.argument, self._table.policy_folder(absolute))
            self._scopes[absolute, file.argument] = scope
        self.add(file, file.path, scope, folder, name)

    def add(self, file: File, opened: str, scope: str, folder: str, name: str) -> None:
        """`opened`: the name that it is opened by; `folder` and `name`: the parts of its path."""
        here = self._folder(folder)
        forced = file.argument or self._request.force_exclude
        if forced and self._table.excluded(file.path, here.setting):
            self._left_out.append(opened)
            return
        if not here.has_policy and name != FILE_NAME:
            self._without_policy.append(file.path)
        patch = is_patch(file.path, here.absolute)
        input_file = InputFile(file.path, opened, scope, here.setting, patch, here.namespace)
        self._input_files.append(input_file._replace(inlined=True) if here.inlined else input_file)
        self._sizes.append(filesystem.size(opened))

    def _folder(self, folder: str) -> _Folder:
        found = self._folders.get(folder)
        if found is None:
            absolute = os.path.abspath(folder)
            setting, has_policy = self._table.of(absolute), bool(self._table.policy(absolute))
            namespace = self._request.namespace or kustomization_namespace(absolute)
            inlined = is_of_pipelines_as_code(absolute)
            found = self._folders[folder] = _Folder(absolute, setting, has_policy, namespace, inlined)
        return found
