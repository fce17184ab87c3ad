"""The paths that a run may read and write: no name or link in a repository leads out of its boundary.

The boundary of a path is the repository of the file that names it: the nearest folder above that
file with `.git`. Without a repository it is the folder argument of the command line above the file,
else the file's own folder. A path that the command line names, or that is found by its place, is
bounded in the same way: a link in a repository never leads out of it. Only `--allow-path`
widens this. Files in `.git` are read or written only if the command line names them.

Paths are normalised as text: `a/link/../b` is `a/b`. They are compared with their links resolved. Hard
links cannot be distinguished from files; git creates none."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable

from policykit.errors import SourceError
from policykit.namedtuple import NamedTuple
from policykit.workspace import filesystem
from policykit.workspace.command_state import Permissions, cached, free_folders, permissions, start

_MEGABYTE = 1 << 20
SMALL = 16 * _MEGABYTE
"""Maximum bytes of files that people write: policies, settings, baselines, kustomizations, `.gitignore`."""
LARGE = 256 * _MEGABYTE
"""Maximum size in bytes of manifests, which programs write too."""

_OPEN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOCTTY", 0)
"""Opening a pipe does not wait for its other end."""
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_CHUNK = 1 << 16
_NO_NAMES = frozenset({"", os.curdir, os.pardir})
"""Ends of a path that are no name of a file."""
_IS_LINK = frozenset({errno.ELOOP, errno.EMLINK})
_DEV = "/dev"
_DESCRIPTORS = ("/dev/fd", "/proc/self/fd")


class SafePath(NamedTuple):
    """A path that has been checked. Functions that open or replace a file take one."""

    path: str
    """As shown to the user."""
    real: str
    """Absolute, links resolved."""


class _Folder(NamedTuple):
    """What is known about a folder, by one of its paths."""

    real: str
    root: str
    """Real path of its repository; empty: it is in none."""
    left: bool
    """Whether a link in the path leaves a repository, which is `root`."""


def begin(allowed: Iterable[str] = ()) -> None:
    """Starts a command: sets what its command line allows and forgets everything about earlier commands."""
    start(Permissions(allowed))


def add_argument(folder: str) -> None:
    """Adds a folder argument: the boundary of files below it that are in no repository."""
    absolute = os.path.abspath(folder)
    arguments = permissions().arguments
    if absolute not in arguments:
        arguments.append(absolute)
        free_folders().clear()


def readable(path: str, by: str = "") -> SafePath:
    """Checks a path to read. Raises SourceError if reading is not allowed.

    `by`: the file that names the path; empty: the command line names it, or it was found by convention.
    """
    folder, name = _split(path)
    return _readable(SafePath(path, _real(folder, name)), folder, name, by)


def writable(path: str, by: str = "") -> SafePath:
    """Checks a path to write. Raises SourceError if writing is not allowed. `by` as in `readable`."""
    folder, name = _split(path)
    place = SafePath(path, _real(folder, name))
    return _outside_git(_bounded(place, _split(by)[0] if by else folder, "written"))


def output(path: str) -> SafePath:
    """Checks an output file of the command line. It may be anywhere, but a link in a repository may lead
    neither out of the repository nor into `.git`. Raises SourceError."""
    folder, name = _split(path)
    place = SafePath(path, _real(folder, name))
    if _folder(folder).root:
        _bounded(place, folder, "written")
    return place if names_git(folder) or names_git(name) else _outside_git(place)


def output_folder(path: str) -> SafePath:
    """As `output`, for a folder; one in `.git` is refused."""
    return _outside_git(output(path))


def below(folder: SafePath, path: str) -> SafePath:
    """Checks a path to write, relative to a folder. Raises SourceError if it resolves outside the folder."""
    whole = os.path.join(folder.path, path)
    place = SafePath(whole, _real(*_split(whole)))
    if not is_within(place.real, folder.real):
        what = f"it resolves to {place.real}, outside {folder.real}"
        raise _refused(place.path, "written", what, "remove the link")
    return _outside_git(place)


def read(path: str, by: str = "", most: int = LARGE, part: int = 0) -> bytes:
    """The bytes of a regular file. Raises SourceError if it is not one, is too large, or may not be read.

    `by` as in `readable`; `most`: maximum size in bytes; `part`: read only this many bytes. The command
    line may name an open file such as `/dev/fd/63`, which may be a pipe (process substitution in shells).
    """
    start = path.rfind(os.sep) + 1
    name = path[start:]
    found = None
    if not by and _NO_LINK and name not in _NO_NAMES and "\0" not in path and not names_git(name):
        # A tree has few folders: what is known of each is looked up by its name as written.
        known = free_folders()
        free = known.get(path[:start])
        if free is None:
            free = _free(_split(path)[0], len(permissions().arguments))
            if start and path[0] == os.sep:
                known[path[:start]] = free
        if free:
            found = _content(SafePath(path, free + name), most, part)
            if found is not None:
                return found
    folder, name = _split(path)
    if not by and _is_descriptor(folder, name):
        found = _content(SafePath(path, os.path.join(folder, name)), most, piped=True)
    elif _NO_LINK:
        # Few files are links: open without following, and resolve the path only if it is a link.
        place = SafePath(path, os.path.join(_folder(folder).real, name))
        found = _content(_readable(place, folder, name, by), most, part)
    if found is None:
        place = SafePath(path, _real(folder, name))
        found = _content(_readable(place, folder, name, by), most, part)
    if found is None:
        raise _unreadable(path, os.strerror(errno.ELOOP))
    return found


@cached
def _free(folder: str, arguments: int) -> str:
    """Real path, with a separator at the end, of a folder of which every file that is not a link may be read;
    empty: each has to be checked.

    `arguments`: number of folder arguments so far, which its boundary may depend on.
    """
    real = _folder(folder).real
    checked = folder == _DEV or folder in _DESCRIPTORS or names_git(real) or names_git(folder)
    return "" if checked or not _is_inside(real, _root(folder)) else os.path.join(real, "")


def root_of(path: str) -> str:
    """Real path of the boundary for paths that a file names."""
    return _root(_split(path)[0])


def _root(folder: str) -> str:
    here = _folder(folder)
    if here.root:
        return here.root
    above = [argument for argument in permissions().arguments if is_within(folder, argument)]
    return _folder(min(above, key=len)).real if above else here.real


def contains(root: str, real: str) -> bool:
    """Whether a real path may be read within a boundary, as `root_of` gives it."""
    return _is_inside(real, root) and not _in_git(real)


def in_git(path: str) -> bool:
    """Whether a path resolves into the `.git` of a repository."""
    return _in_git(filesystem.realpath(path))


def leads_out(folder: str, argument: str) -> bool:
    """Whether a folder found below another one resolves to a path outside its boundary."""
    absolute = os.path.abspath(folder)
    here, start = _folder(absolute), _folder(os.path.abspath(argument))
    if _in_git(here.real) and not names_git(absolute):
        return True
    stays = not here.left and is_within(here.real, start.root or start.real)
    return not (stays or _is_allowed(here.real))


def real_folder(folder: str) -> str:
    """Real path of a folder."""
    return _folder(os.path.abspath(folder)).real


def is_within(path: str, folder: str) -> bool:
    """Whether an absolute path is, or is below, an absolute folder."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def names_git(path: str) -> bool:
    """Whether `.git` is part of a path; ignores case, as some file systems do."""
    return ".git" in path.casefold() and any(
        part.rstrip(". ").casefold() == ".git" for part in path.split(os.sep)
    )


def _content(place: SafePath, most: int, part: int = 0, *, piped: bool = False) -> bytes | None:
    """None: it is a link."""
    try:
        number = os.open(place.real, _OPEN | (0 if piped else _NO_LINK))
        try:
            state = os.fstat(number)
            if piped and stat.S_ISFIFO(state.st_mode):
                filesystem.cannot_repeat()
                return _pipe(number, place.path, (state.st_dev, state.st_ino), most)
            if stat.S_ISDIR(state.st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            if not stat.S_ISREG(state.st_mode):
                filesystem.cannot_repeat()
                raise _refused(
                    place.path, "read", "it is not a regular file", "pass a regular file, or use -"
                )
            if state.st_size > most and not part:
                filesystem.cannot_repeat()
                raise _too_large(place.path, most)
            content = os.read(number, part) if part else _all(number, place.path, state.st_size, most)
            filesystem.note_content(place.real, content, part)
            return content
        finally:
            os.close(number)
    except OSError as error:
        filesystem.note_unreadable(place.real, error, part)
        if error.errno in _IS_LINK:
            return None
        raise _unreadable(place.path, error.strerror or str(error)) from None


def _pipe(number: int, path: str, key: tuple[int, int], most: int) -> bytes:
    pipes = permissions().pipes
    if key not in pipes:
        os.set_blocking(number, True)
        pipes[key] = _all(number, path, 0, most)
    return pipes[key]


def _all(number: int, path: str, size: int, most: int) -> bytes:
    """Reads to the end: the file may grow or shrink meanwhile."""
    part = os.read(number, size + 1)
    if len(part) == size:
        return part
    parts = [part]
    found = len(part)
    while part:
        if found > most:
            raise _too_large(path, most)
        part = os.read(number, _CHUNK)
        parts.append(part)
        found += len(part)
    return b"".join(parts)


def _split(path: str) -> tuple[str, str]:
    """The absolute folder of a path, and the name there."""
    if "\0" in path:
        raise SourceError("a path cannot contain a NUL character", "name a file", path)
    folder, name = os.path.split(path)
    if name in ("", ".", ".."):
        return os.path.split(os.path.abspath(path))
    return _absolute(folder, "" if folder.startswith(os.sep) else os.getcwd()), name


@cached
def _absolute(folder: str, here: str) -> str:
    """Absolute path of a folder; `here` is the current folder, if it matters."""
    return os.path.abspath(folder)


def _real(folder: str, name: str) -> str:
    real = os.path.join(_folder(folder).real, name)
    return filesystem.realpath(real) if filesystem.islink(real) else real


def _readable(place: SafePath, folder: str, name: str, by: str) -> SafePath:
    _bounded(place, _split(by)[0] if by else folder, "read")
    if _in_git(place.real) and (by or not (names_git(folder) or names_git(name))):
        what = f"it resolves to {place.real}, and policykit does not access .git"
        raise _refused(place.path, "read", what, "name another file")
    return place


def _bounded(place: SafePath, folder: str, done: str) -> SafePath:
    """Returns `place` if it is inside the boundary of a folder; else raises SourceError."""
    root = _root(folder)
    if _is_inside(place.real, root):
        return place
    about = "the repository" if _folder(root).root == root else "the folder"
    above = os.path.dirname(place.real)
    raise _refused(
        place.path,
        done,
        f"it resolves to {place.real}, outside {about} {root}",
        f"keep it inside, or allow it: --allow-path {min(above, os.path.relpath(above), key=len)}",
    )


def _outside_git(place: SafePath) -> SafePath:
    if _in_git(place.real):
        what = f"it resolves to {place.real}, and policykit does not access .git"
        raise _refused(place.path, "written", what, "choose another path")
    return place


def _refused(path: str, done: str, why: str, hint: str) -> SourceError:
    return SourceError(f"cannot be {done}: {why}", hint, path)


def _unreadable(path: str, why: str) -> SourceError:
    return _refused(path, "read", why, "check the file and its permissions")


def _too_large(path: str, most: int) -> SourceError:
    why = f"it is larger than {most // _MEGABYTE} MB"
    return _refused(path, "read", why, "split it, or name another file")


def _is_inside(real: str, root: str) -> bool:
    return is_within(real, root) or _is_allowed(real)


def _is_allowed(real: str) -> bool:
    return any(is_within(real, allowed) for allowed in permissions().allowed)


def _in_git(real: str) -> bool:
    """Whether a real path is in the `.git` of its repository."""
    return names_git(real) and names_git(real[len(_folder(real).root) :])


def _target(link: str) -> tuple[str, bool]:
    """The target of a link and whether it exists; a broken link is resolved as far as possible."""
    return filesystem.realpath(link), filesystem.exists(link)


def _is_descriptor(folder: str, name: str) -> bool:
    return (folder in _DESCRIPTORS and name.isdigit()) or (folder, name) == (_DEV, "stdin")


@cached
def _folder(absolute: str) -> _Folder:
    """A folder by its absolute path. Parents are resolved first, so long paths cause no deep recursion."""
    end = absolute.find(os.sep, 1)
    while end > 0:
        _step(absolute[:end])
        end = absolute.find(os.sep, end + 1)
    return _step(absolute)


@cached
def _step(absolute: str) -> _Folder:
    above_path, name = os.path.split(absolute)
    if not name:
        return _Folder(absolute, absolute if filesystem.exists(os.path.join(absolute, ".git")) else "", False)
    above = _step(above_path)
    real, root, left = os.path.join(above.real, name), above.root, above.left
    if filesystem.islink(real):
        real, whole = _target(real)
        if not left:
            left = bool(root) and not is_within(real, root)
            # A circular link would recurse endlessly.
            root = _folder(real).root if whole and not left else root
    elif not left and filesystem.exists(os.path.join(real, ".git")):
        root = real
    return _Folder(real, root, left)
