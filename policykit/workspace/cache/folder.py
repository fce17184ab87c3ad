"""The files of a cache folder: regular, written atomically, read only by the version that wrote them."""

from __future__ import annotations

import os
import stat
import sys
import time
from contextlib import suppress
from functools import cache
from itertools import accumulate
from struct import Struct

from policykit import __file__ as package
from policykit import __version__
from policykit.namedtuple import NamedTuple
from policykit.workspace.filesystem import ancestors, regular

TYPE_CHECKING = False  # to import typing takes longer than to read a small entry
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

LARGEST = 1 << 28
"""Most bytes of a file that is read or written."""
_PART = ".part"
_STALE = 24 * 60 * 60
"""Seconds after which no run can still be writing a partial file."""
_SUM = 4
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
VARIABLE = "POLICYKIT_CACHE_DIR"
"""Environment variable with the cache folder: by default `policykit` in XDG_CACHE_HOME or ~/.cache."""
KEY = 20
"""Bytes of a key."""
_COUNT = Struct(">I")
_ROW = Struct(f">{KEY}sI")
"""A key and the length of its entry; the entries follow all rows."""


class DamagedError(ValueError):
    """Bytes do not encode a value of the expected type."""


class Cache(NamedTuple):
    """The cache of earlier runs; without a folder, nothing is read or stored."""

    folder: str = ""
    """Absolute, with links resolved."""
    place: str = ""
    """The folder whose entries these are; empty: the current one. A revision is written to another folder
    each time, and what is known of its files is known from the folder of the run."""

    @property
    def apart(self) -> tuple[str, ...]:
        """What distinguishes entries of a revision where a run keeps only the newest."""
        return ("revision",) if self.place else ()

    def load(self, name: str) -> bytes:
        """The content that this version stored under a name; empty: there is none that is usable."""
        if not self.folder or fault_of(self.folder):
            return b""
        raw = _content(os.path.join(self.folder, name))
        start = len(_head()) + _SUM
        if not raw.startswith(_head()) or raw[start - _SUM : start] != _sum(raw[start:]):
            return b""
        return raw[start:]

    def store(self, name: str, content: bytes) -> bool:
        """Stores data for the next run; False if that fails, which only makes the next run slower."""
        if not self.folder or len(content) > LARGEST - (1 << 20):
            return False
        path = os.path.join(self.folder, name)
        try:
            if not os.path.lexists(self.folder):
                os.makedirs(self.folder, mode=0o700, exist_ok=True)
            if fault_of(self.folder):
                return False
            _remove_stale(self.folder)
            _replace(path, _head() + _sum(content) + content)
        except OSError:
            return False
        return True


NO_CACHE = Cache()


def fault_of(folder: str) -> str:
    """Why a folder cannot be trusted, and what to do; empty if it is ours or does not exist yet."""
    try:
        state = os.lstat(folder)
    except OSError:
        return ""
    return _fault(state) if stat.S_ISDIR(state.st_mode) else "is not a folder: use another one"


def _fault(state: os.stat_result) -> str:
    if not hasattr(os, "getuid"):
        return ""
    if state.st_uid != os.getuid():
        return "belongs to another user: use a folder of your own"
    if state.st_mode & 0o022:
        return "is writable by other users: run chmod -R go-w on it, or use another one"
    return ""


def name_of(kind: str, *about: str, place: str = "") -> str:
    """A file name for a folder, or else the current one; `about` distinguishes entries of one kind."""
    from zlib import crc32

    whole = "\0".join((place or os.getcwd(), *about)).encode("utf-8", errors="surrogateescape")
    return f"{kind}-{crc32(whole):08x}-{len(whole)}"


def _content(path: str) -> bytes:
    try:
        content, state = regular(path, LARGEST)
    except OSError:
        return b""  # without it the run is only slower
    return b"" if _fault(state) else content


def _replace(path: str, content: bytes) -> None:
    """Writes a file atomically: a reader sees the old content or the new. Raises OSError."""
    part = f"{path}.{os.urandom(8).hex()}{_PART}"
    descriptor = os.open(part, _WRITE, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise


def _remove_stale(folder: str) -> None:
    """Removes partial files of killed runs."""
    with os.scandir(folder) as entries:
        parts = [entry.path for entry in entries if entry.name.endswith(_PART)]
    for part in parts:
        with suppress(FileNotFoundError):  # another run removed it
            if os.lstat(part).st_mtime < time.time() - _STALE:
                os.unlink(part)


def _sum(content: bytes) -> bytes:
    """A checksum against accidental damage; malicious content is caught by validation."""
    from zlib import crc32

    return crc32(content).to_bytes(_SUM, "big")


@cache
def _head() -> bytes:
    """The header of every file, which identifies this version of policykit."""
    whole = "\n".join(_tool()).encode("utf-8", errors="surrogateescape")
    return b"policykit cache 1\n%d\n%b\n" % (len(whole), whole)


def _tool() -> list[str]:
    """The version and, in a checkout, the state of its files."""
    here = os.path.dirname(os.path.abspath(package))
    if "site-packages" in here or "dist-packages" in here:
        state = os.stat(os.path.join(here, "__init__.py"))
        return [__version__, sys.version, f"{state.st_mtime_ns} {state.st_size} {state.st_ino}"]
    beside = [os.path.join(os.path.dirname(here), name) for name in ("schemas", "profiles")]
    return [__version__, sys.version, *(line for folder in (here, *beside) for line in _states(folder))]


def _states(folder: str) -> list[str]:
    found = []
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return []
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            found += _states(entry.path) if entry.name != "__pycache__" else []
        elif entry.name.endswith((".py", ".json", ".yaml")):
            state = entry.stat()
            found.append(f"{entry.name} {state.st_mtime_ns} {state.st_size}")
    return found


def default_folder(environment: Mapping[str, str]) -> str:
    """Absolute, with links resolved; empty if there is none."""
    stated = environment.get(VARIABLE)
    if stated is not None:
        return os.path.realpath(stated) if stated else ""
    base = environment.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.realpath(os.path.join(base, "policykit")) if os.path.isabs(base) else ""


def enclosing(folder: str, paths: Iterable[str]) -> str:
    """The checkout that contains a folder (links resolved); empty if there is none.

    A checkout is a git repository, else the current folder or a folder of `paths`, which the run
    reads: files there may be owned by the user and yet written by anyone.
    """
    above = list(ancestors(folder))
    for here in above:
        if os.path.lexists(os.path.join(here, ".git")):
            return here
    known = {_identity(here): here for here in above}
    known.pop(None, None)
    for place in _folders(paths):
        found = known.get(_identity(place))
        if found and not _holds_home(found):
            return found
    return ""


def _folders(paths: Iterable[str]) -> Iterator[str]:
    """The current folder, and the folders of paths, both as written and with links resolved."""
    yield os.getcwd()
    seen: set[str] = set()
    for path in paths:
        for place in (path, os.path.realpath(path)):
            here = place if os.path.isdir(place) else os.path.dirname(os.path.abspath(place))
            if here not in seen:
                seen.add(here)
                yield here


def _identity(folder: str) -> tuple[int, int] | None:
    """An identity that is equal for every name of one folder, whatever its case or mounts."""
    try:
        state = os.stat(folder)
    except OSError:
        return None
    return state.st_dev, state.st_ino


def _holds_home(folder: str) -> bool:
    """Whether the account's home is inside, so it is not a checkout. HOME may be set to anything."""
    try:
        import pwd

        home = os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir)
    except (ImportError, KeyError):
        return False
    return folder in ancestors(home)


def pack(entries: Mapping[bytes, bytes]) -> bytes:
    """Encodes entries as one text."""
    rows = (_ROW.pack(key, len(entry)) for key, entry in entries.items())
    return b"".join((_COUNT.pack(len(entries)), *rows, *entries.values()))


def unpack(raw: bytes) -> dict[bytes, bytes]:
    """Decodes entries, in order. Raises DamagedError."""
    if not raw:
        return {}
    count = int.from_bytes(raw[: _COUNT.size], "big")
    start = _COUNT.size + count * _ROW.size
    if len(raw) < start:
        raise DamagedError("fewer entries than it says")
    rows = list(_ROW.iter_unpack(raw[_COUNT.size : start]))
    ends = list(accumulate((length for _, length in rows), initial=start))
    if ends[-1] != len(raw):
        raise DamagedError("not as long as it says")
    return {key: raw[begin : begin + length] for (key, length), begin in zip(rows, ends, strict=False)}
