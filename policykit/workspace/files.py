"""Finding and reading the files of command-line paths; `.gitignore` is honoured."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from policykit.errors import SourceError
from policykit.namedtuple import NamedTuple
from policykit.nearest import nearest
from policykit.workspace import filesystem, safe_paths
from policykit.workspace.command_state import cached, editor_text
from policykit.workspace.filesystem import ancestors

if TYPE_CHECKING:
    from policykit.workspace.gitignore import Gitignore

SUFFIXES = (".yaml", ".yml", ".json")
BASELINE = ".policykit-baseline.json"
"""Name of the file that lists accepted findings."""
_MOST_FILES = 200_000
_SCRIPTS = (".sh", ".tf", "Makefile", "Taskfile.yaml", "Taskfile.yml", "justfile")
NEVER = frozenset({".git", ".hg", ".svn", ".venv", "node_modules", "__pycache__", BASELINE})
"""Names of folders and files that no walk looks at."""


class _Ignores(NamedTuple):
    """A `.gitignore`."""

    base: str
    """Its folder, absolute, with a separator at the end."""
    patterns: Gitignore


class File(NamedTuple):
    """A file to lint."""

    path: str
    """As reported: the argument, or for a folder argument the path below it, with `/`."""
    argument: str
    """The folder argument it was found under, else empty."""


def discover(
    paths: Sequence[str],
    exclude: Sequence[str] = (),
    force_exclude: bool = False,
    elsewhere: list[str] | None = None,
) -> list[File]:
    """The files that command-line paths select, sorted, without duplicates.

    Folders are walked. Files named directly are included whatever their suffix, and even if excluded
    unless `force_exclude`. Links to folders that are not followed are appended to `elsewhere`.
    Raises SourceError for a path that does not exist.
    """
    found: dict[str, File] = {}
    for path in paths:
        if filesystem.isdir(path):
            safe_paths.add_argument(path)
            plain = os.path.normpath(path) == path
            for name in walk(path, exclude, elsewhere):
                found.setdefault(name if plain else os.path.normpath(name), File(_display(name), path))
        elif filesystem.lexists(path):
            if not (force_exclude and excluded(_display(path), exclude)):
                found.setdefault(os.path.normpath(path), File(_display(path), ""))
        else:
            raise SourceError("no such file or folder", "check the path", path)
    return sorted(found.values())


def walk(folder: str, exclude: Sequence[str] = (), elsewhere: list[str] | None = None) -> Iterator[str]:
    """Manifest files below a folder in a stable order; loops of symbolic links are followed once.

    A folder or `.gitignore` that cannot be read is yielded itself: reading it reports the error.
    Links to folders outside the boundary are not followed; they are appended to `elsewhere`.
    """
    if safe_paths.leads_out(folder, folder):
        yield folder
        return
    seen = {safe_paths.real_folder(folder)}
    above, unreadable = _ignored_above(folder)
    yield from unreadable
    pending = [] if _is_below_ignored(folder, above) else [(folder, above)]
    while pending:
        here, rules = pending.pop()
        folders = []
        try:
            rules = (*rules, *_ignore_file(here))
        except SourceError as error:
            yield error.place
        absolute = os.path.join(os.path.abspath(here), "") if rules else ""
        try:
            entries = filesystem.entries(here)
        except OSError:
            yield here
            continue
        for entry in entries:
            path = entry.path if here != "." else entry.name
            is_folder = filesystem.isdir(path) if entry.is_symlink() else entry.is_dir()
            if (
                entry.name in NEVER
                or (is_folder and _is_of_go(entry.name, path, here))
                or (rules and _ignored(absolute + entry.name, is_folder, rules))
                or (exclude and excluded(_display(path), exclude))
            ):
                continue
            if is_folder and not safe_paths.names_git(entry.name):
                real = safe_paths.real_folder(path)
                if entry.is_symlink() and safe_paths.leads_out(path, folder):
                    if elsewhere is not None:
                        elsewhere.append(_display(path))
                elif real not in seen:
                    seen.add(real)
                    folders.append((path, rules))
            elif (
                not is_folder
                and entry.name.endswith(SUFFIXES)
                and (filesystem.isfile(path) if entry.is_symlink() else entry.is_file())
            ):
                yield path
        pending.extend(reversed(folders))


def _is_of_go(name: str, path: str, parent: str) -> bool:
    """Whether a folder has the modules that a Go program needs: others' files, which nobody applies.

    Sources: `go mod vendor`, dep, and the cache of modules, where each has its version in its name.
    """
    if name != "vendor":
        return "@v" in name and name.rpartition("@v")[2][:1].isdigit()
    return filesystem.isfile(os.path.join(path, "modules.txt")) or filesystem.isfile(
        os.path.join(parent, "Gopkg.lock")
    )


def excluded(path: str, globs: Iterable[str]) -> bool:
    """Whether a reported path matches an exclude glob, or is below a match."""
    from fnmatch import fnmatchcase

    return any(
        fnmatchcase(path, glob)
        or fnmatchcase(path, f"{glob.rstrip('/')}/*")
        or fnmatchcase(path, f"*/{glob}")
        for glob in globs
    )


def read(path: str, by: str = "", most: int = safe_paths.LARGE) -> bytes:
    """The bytes of a file, as in the editor if it is open there. Raises SourceError if it cannot be read.

    `by`: the file that names it, if any; `most`: maximum size in bytes.
    """
    text = editor_text(path)
    if "\0" in path:
        raise SourceError("a path cannot contain a NUL character", "name a file", path)
    if text is None:
        return safe_paths.read(path, by, most)
    if by:
        safe_paths.readable(path, by)
    return text


def real_paths(paths: Iterable[str]) -> Iterator[str]:
    """Paths with their links resolved. Many files are in few folders: each folder is resolved once."""
    folders: dict[str, str] = {}
    for path in paths:
        folder, name = os.path.split(path)
        if folder not in folders:
            folders[folder] = os.path.join(filesystem.realpath(folder), "")
        real = folders[folder] + name
        yield filesystem.realpath(path) if name in ("", ".", "..") or filesystem.islink(real) else real


def absolute_paths(paths: Iterable[str]) -> Iterator[str]:
    """Absolute paths of files, without resolving links; the same for each folder is done once."""
    folders: dict[str, str] = {}
    for path in paths:
        folder, sign, name = path.rpartition(os.sep)
        if folder not in folders:
            folders[folder] = os.path.join(os.path.abspath(f"{folder}{sign}"), "")
        yield folders[folder] + name if name not in ("", ".", "..") else os.path.abspath(path)


def is_there(path: str) -> bool:
    """Whether a path exists on disk and is not a folder, or is a new file in an editor."""
    return (filesystem.lexists(path) and not filesystem.isdir(path)) or editor_text(path) is not None


@cached
def repository_files(root: str) -> tuple[str, ...]:
    """Every manifest file of a repository, or of a folder in it, in a stable order."""
    return tuple(walk(root))


@cached
def files_below(folder: str) -> tuple[str, ...]:
    """Paths of all files below a folder, relative to it, sorted. Links to folders are not followed."""
    found: list[str] = []
    for here, folders, names in filesystem.walk(folder):
        folders[:] = sorted(name for name in folders if name not in NEVER and not safe_paths.names_git(name))
        found += (os.path.relpath(os.path.join(here, name), folder).replace(os.sep, "/") for name in names)
        if len(found) > _MOST_FILES:
            break
    return tuple(sorted(found[:_MOST_FILES]))


@cached
def repository_root(folder: str) -> str | None:
    """The nearest parent folder with `.git`; None outside a repository."""
    for here in ancestors(folder):
        if filesystem.exists(os.path.join(here, ".git")):
            return here
    return None


def upwards(folder: str) -> Iterator[str]:
    """The folder itself, absolute, then its parents up to the repository's root, if it has one."""
    limit = repository_root(folder)
    for here in ancestors(folder):
        yield here
        if here == limit:
            return


def _display(path: str) -> str:
    path = path.replace(os.sep, "/")
    while path.startswith("./"):
        path = path[2:]
    return path


def is_ignored(path: str) -> bool:
    """Whether the `.gitignore` files above a path that does not exist would ignore it."""
    absolute = os.path.abspath(path)
    folder = os.path.dirname(absolute)
    while not filesystem.isdir(folder):
        folder = os.path.dirname(folder)
    rules = _ignored_above(folder)[0]
    with suppress(SourceError):  # reported when the folder is walked
        rules = (*rules, *_ignore_file(folder))
    return _ignored(absolute, False, rules) or _is_below_ignored(os.path.dirname(absolute), rules)


def is_found(path: str, folder: str) -> bool:
    """Whether `walk` yields an existing file for a folder above it: not if the path has a link."""
    real, above = filesystem.realpath(path), filesystem.realpath(folder)
    below = os.path.relpath(real, above)
    return (
        path.endswith(SUFFIXES)
        and not os.path.isabs(path)
        and safe_paths.is_within(real, above)
        and os.path.normpath(os.path.join(os.getcwd(), path)) == real
        and NEVER.isdisjoint(below.split(os.sep))
        and not safe_paths.names_git(below)
        and not is_ignored(path)
        and filesystem.isfile(path)
    )


_OF_FLUX = frozenset({"flux-system", "gotk-components.yaml", "gotk-sync.yaml"})


def relative(path: str) -> str:
    """A path relative to the current folder, with `/`, for messages."""
    folder, name = os.path.split(path)
    if name in ("", os.curdir, os.pardir):
        return os.path.relpath(path).replace(os.sep, "/")
    shown = _relative(folder, os.getcwd())
    if shown.startswith(os.pardir):
        return os.path.relpath(path).replace(os.sep, "/")  # it may be the current folder, or one above
    return name if shown == os.curdir else f"{shown}/{name}"


@cached
def _relative(folder: str, here: str) -> str:
    """A folder from the current one, `here`: there are fewer folders than files."""
    return os.path.relpath(folder or os.curdir, here).replace(os.sep, "/")


def shown_path(path: str) -> str:
    """A path relative to the current folder if it is inside it, as `git apply` expects, else unchanged."""
    inside = relative(path)
    return os.path.normpath(path).replace(os.sep, "/") if inside.startswith(os.pardir) else inside


def is_fetched(path: str) -> bool:
    """Whether a missing path will probably be created: by a script, if it is in a missing folder such as
    `upstream/` whose name is not similar to one next to it, by `flux bootstrap`, or by the generators of a
    Kubebuilder project."""
    folder, missing = os.path.split(os.path.abspath(path))
    if missing in _OF_FLUX or _is_of_kubebuilder(folder, missing):
        return True
    if filesystem.isdir(folder):
        return False
    while not filesystem.isdir(folder):
        folder, missing = os.path.split(folder)
    try:
        beside = sorted(
            name for name in filesystem.names(folder) if filesystem.isdir(os.path.join(folder, name))
        )
    except OSError:
        return True  # a folder that cannot be read tells nothing
    return not nearest(missing, beside)


def _is_of_kubebuilder(folder: str, name: str) -> bool:
    """Whether controller-gen or operator-sdk writes the file before a build."""
    parts = folder.split(os.sep)
    if parts[-2:] in (["config", "webhook"], ["config", "rbac"]):
        return name in ("manifests.yaml", "role.yaml")
    if parts[-3:] == ["config", "crd", "bases"]:
        return True
    return parts[-3:] == ["config", "manifests", "bases"] and name.endswith(".clusterserviceversion.yaml")


def script_of(path: str) -> str:
    """A script in the folder of a missing file, or in one above in its repository, that names the file;
    empty: there is none."""
    import re

    name = re.compile(rb"(?<![\w.-])%s(?![\w.-])" % re.escape(os.path.basename(path).encode()))
    limit = safe_paths.root_of(path)
    for folder in ancestors(os.path.dirname(os.path.abspath(path))):
        if not safe_paths.contains(limit, filesystem.realpath(folder)):
            return ""
        for script in _scripts(folder):
            text = _raw(script)
            if name.search(text) and (script.endswith(_SCRIPTS) or text.startswith(b"#!")):
                return os.path.basename(script)
    return ""


@cached
def _scripts(folder: str) -> tuple[str, ...]:
    with suppress(OSError):
        names = sorted(
            name for name in filesystem.names(folder) if name.endswith(_SCRIPTS) or "." not in name
        )
        return tuple(path for name in names if filesystem.isfile(path := os.path.join(folder, name)))
    return ()


@cached
def _raw(path: str) -> bytes:
    with suppress(SourceError):
        return read(path)
    return b""


def _ignored_above(folder: str) -> tuple[tuple[_Ignores, ...], list[str]]:
    """Rules of the `.gitignore` files between the repository's root and the folder, and the files that
    cannot be read."""
    root = repository_root(folder)
    rules: list[_Ignores] = []
    unreadable = []
    for here in reversed([*upwards(folder)][1:] if root else []):
        try:
            rules += _ignore_file(here)
        except SourceError as error:
            unreadable.append(error.place)
    return tuple(rules), unreadable


def _ignore_file(folder: str) -> tuple[_Ignores, ...]:
    path = os.path.join(folder, ".gitignore")
    if not is_there(path):
        return ()
    from policykit.workspace.gitignore import Gitignore

    patterns = Gitignore(read(path, most=safe_paths.SMALL))
    return (_Ignores(os.path.join(os.path.abspath(folder), ""), patterns),)


def _is_below_ignored(folder: str, rules: Sequence[_Ignores]) -> bool:
    """Whether a folder or one of its parents is ignored, so that no pattern can re-include its files."""
    return any(
        _ignored(here, True, [rule for rule in rules if here.startswith(rule.base)])
        for here in ancestors(folder)
    )


def _ignored(path: str, is_folder: bool, rules: Sequence[_Ignores]) -> bool:
    """Whether an absolute path is ignored: the nearest `.gitignore` with a matching pattern decides."""
    for base, patterns in reversed(rules):
        answer = patterns.verdict(path[len(base) :].replace(os.sep, "/"), is_folder)
        if answer is not None:
            return answer
    return False
