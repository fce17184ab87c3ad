"""Recorded runs: what a command printed, valid while all that it asked has the same answers.

Imports little, because a run that is repeated is over before anything else is imported.
"""

from __future__ import annotations

import os
import sys
import time
from itertools import groupby

from policykit.namedtuple import NamedTuple
from policykit.workspace import filesystem
from policykit.workspace.cache.folder import KEY, LARGEST, Cache, default_folder, enclosing

TYPE_CHECKING = False  # to import typing takes longer than to read the record of a small run
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_SLOTS = 8
"""Command lines of a folder whose runs are kept: two may share a slot."""
_MOST = LARGEST // 4
"""Most bytes of a stored run."""
_VARIABLES = ("FORCE_COLOR", "GITHUB_STEP_SUMMARY", "HOME", "NO_COLOR", "PATH", "TERM")
_BEGINNINGS = ("GIT_", "POLICYKIT_")
"""Variables of the environment that a run depends on, and the beginnings of others."""
_PRINTABLE = bytes((10, *range(32, 127)))
"""Characters that may be printed; of those beyond ASCII, Python knows."""
OF_CONTENT = ("c", "h", "g")
"""Questions for which a file is opened, or git is run."""
_OF_ENTRIES = "elfdks"
"""Questions about an entry of a folder."""
_OF_PATHS = f"{_OF_ENTRIES}cnrx"
"""Questions that are a letter and a path."""


class PrintedRun(NamedTuple):
    """What a run printed."""

    code: int
    """Exit code: 0 or 1."""
    texts: tuple[tuple[str, bytes], ...]
    """Each with the file that it was written to; `-` is standard output, `2` standard error."""


def repeated(words: Sequence[str]) -> PrintedRun | None:
    """What this command line prints, as an earlier run recorded it; None: it has to run."""
    cache = _cache(words)
    name = _name(words)
    if not os.path.lexists(os.path.join(cache.folder, name)) or _is_enclosed(cache, words):
        return None
    raw = cache.load(name)
    if raw[:KEY] != _key(words) or len(raw) > _MOST:
        return None
    try:
        questions, run = _decoded(raw[2 * KEY :])
        allowed = may_be_opened(questions, tuple(roots_of(words))) and _is_printable(run, words)
        same = allowed and raw[KEY : 2 * KEY] == _digest(map(again, questions))
    except ValueError:
        return None  # it is damaged
    return run if same else None


def again(question: str) -> str:
    """The answer to a question now. Raises ValueError for what is none."""
    if question.startswith("g"):
        from policykit.workspace.git import remote_urls

        return repr(remote_urls(question[1:]))
    return filesystem.again(question)


def path_of(question: str) -> str:
    """The path of a question, which is after a letter, or after the number of bytes of a file's beginning."""
    return question.partition(" ")[2] if question.startswith("h") else question[1:]


def store(words: Sequence[str], record: filesystem.Record, code: int) -> None:
    """Stores what a run printed for the next one, if nothing else than its record decides it."""
    roots = tuple(roots_of(words))
    answers = needed(record.answers(), roots)
    questions = [*answers]
    run = PrintedRun(code, tuple(_joined(record.printed)))
    record.printed.clear()  # there may be much of it
    whole = record.complete and code in (0, 1) and not any("\0" in question for question in questions)
    if not (whole and may_be_opened(questions, roots) and _is_printable(run, words)):
        return
    content = _key(words) + _digest(answers.values()) + _encoded(questions, run)
    if len(content) <= _MOST:
        Cache(record.cache).store(_name(words), content)


def _cache(words: Sequence[str]) -> Cache:
    """The cache folder that a command line selects; none if that is not plain."""
    stated = [word for word in words if word.startswith(("--cache-dir", "--no-cache"))]
    if len(stated) > 1 or "--no-cache" in stated:
        return Cache()
    if stated:
        _, is_one, folder = stated[0].partition("=")
        if not is_one:
            folder = "".join(words[words.index(stated[0]) + 1 :][:1])
        return Cache(os.path.realpath(folder) if folder else "")
    return Cache(default_folder(os.environ))


def _is_enclosed(cache: Cache, words: Sequence[str]) -> bool:
    """Whether a repository or a folder of the run contains the cache, and no option names it nevertheless."""
    return not any(word.startswith("--cache-dir") for word in words) and bool(enclosing(cache.folder, words))


def _name(words: Sequence[str]) -> str:
    slot = _digest(words)[0] % _SLOTS
    return f"run-{_digest((os.getcwd(),))[:8].hex()}-{slot}"


def _key(words: Sequence[str]) -> bytes:
    """What a run depends on besides files. The version of policykit is in the header of every stored file."""
    variables = sorted(
        (name, value)
        for name, value in os.environ.items()
        if name in _VARIABLES or name.startswith(_BEGINNINGS)
    )
    today = time.strftime("%Y-%m-%d", time.gmtime())
    terminals = [stream and stream.isatty() for stream in (sys.stdout, sys.stderr)]
    return _digest((repr((tuple(words), os.getcwd(), variables, today, terminals)),))


def _digest(texts: Iterable[str]) -> bytes:
    whole = "\0".join(texts).encode("utf-8", errors="surrogatepass")
    return filesystem.digest(whole)


def _encoded(questions: Sequence[str], run: PrintedRun) -> bytes:
    """A line of lengths, and the fields."""
    parts = ["\0".join(questions).encode("utf-8", errors="surrogatepass")]
    for path, text in run.texts:
        parts += path.encode("utf-8", errors="surrogatepass"), text
    head = b"%d %b\n" % (run.code, b" ".join(b"%d" % len(part) for part in parts))
    return b"".join((head, *parts))


def _decoded(raw: bytes) -> tuple[list[str], PrintedRun]:
    """Raises ValueError for bytes that are not of this form."""
    head, _, rest = raw.partition(b"\n")
    code, *lengths = map(int, head.split())
    if code not in (0, 1) or min(lengths) < 0 or sum(lengths) != len(rest) or len(lengths) % 2 == 0:
        raise ValueError("not the record of a run")
    fields = []
    start = 0
    for length in lengths:
        fields.append(rest[start : start + length])
        start += length
    questions, *paths = (each.decode("utf-8", errors="surrogatepass") for each in (fields[0], *fields[1::2]))
    return questions.split("\0"), PrintedRun(code, tuple(zip(paths, fields[2::2], strict=True)))


def needed(answers: Mapping[str, str], roots: Iterable[str]) -> dict[str, str]:
    """Answers without those that follow from others: from what folders contain, and from what was read."""
    here = os.getcwd()
    every = {
        question[0] + _absolute(question[1:], here) if question[0] in _OF_PATHS else question: answer
        for question, answer in answers.items()
    }
    entries = _Entries(every, roots)
    needed = {
        question: answer
        for question, answer in every.items()
        if not entries.follows(question[0], question[1:], answer)
    }
    return {**{f"r{root}": root for root in entries.roots}, **needed}


class _Entries:
    """What is known of files: the kinds that their folders list, and that they were read."""

    def __init__(self, answers: Mapping[str, str], roots: Iterable[str]) -> None:
        """`roots`: real paths, with a separator at the end."""
        given = [
            (each[0], each[1:], answer) for each, answer in answers.items() if not answer.startswith("error ")
        ]
        self.roots = sorted({root.rstrip(os.sep) or os.sep for root in roots})
        self._read = {path for kind, path, _ in given if kind == "c"}
        self._folders = {path: answer.split("/") for kind, path, answer in given if kind == "n"}
        self._kinds = {
            os.path.join(folder, name): kind
            for folder, parts in self._folders.items()
            for name, kind in zip(parts[::2], parts[1::2], strict=False)
        }

    def follows(self, question: str, path: str, answer: str) -> bool:
        """Whether an answer follows from what is known."""
        if question == "r":
            return self._resolved(path) == answer
        if question not in _OF_ENTRIES:
            return False
        if path in self._read:
            return True
        kind = self._kinds.get(path)
        if kind is None:
            return answer in ("False", "0") and os.path.dirname(path) in self._folders
        return question != "s" and kind in ("file", "folder")

    def _resolved(self, path: str) -> str:
        """The path without dots, if no link is known to be in it below a root; else empty."""
        for root in self.roots:
            if path.startswith(os.path.join(root, "")):
                here = root
                for step in path[len(root) :].split(os.sep):
                    if step == os.pardir:
                        here = os.path.dirname(here)
                    elif step not in ("", os.curdir):
                        if self._kinds.get(os.path.join(here, step)) not in ("file", "folder"):
                            return ""
                        here = os.path.join(here, step)
                return here
        return ""


def _absolute(path: str, here: str) -> str:
    """An absolute path for the same file; one with dots stays as it is, since a link may be before them."""
    if path == os.curdir:
        return here
    return path if {os.curdir, os.pardir} & {*path.split(os.sep)} else os.path.join(here, path)


def may_be_opened(questions: Iterable[str], roots: tuple[str, ...]) -> bool:
    """Whether files are opened only in the repositories of the run, whatever the cache says."""
    paths = [f"{each[each.find(os.sep) :]}{os.sep}" for each in questions if each.startswith(OF_CONTENT)]
    return all(path.startswith(roots) for path in paths) and f"{os.sep}{os.pardir}" not in "".join(paths)


def roots_of(words: Sequence[str]) -> Iterator[str]:
    """The repositories, or else folders, of the current folder and of what a command line names."""
    values = (word.partition("=")[2] for word in words if word.startswith("-"))
    for path in {os.curdir, *words, *filter(None, values)}:
        if os.path.lexists(path):
            real = os.path.realpath(path)
            folder = real if os.path.isdir(real) else os.path.dirname(real)
            above = (
                each for each in filesystem.ancestors(folder) if os.path.exists(os.path.join(each, ".git"))
            )
            yield os.path.join(next(above, folder), "")


def _joined(printed: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """Texts for one stream after each other as one."""
    for where, texts in groupby(printed, _stream):
        if where:
            yield where, b"".join(text for _, text in texts)
        else:
            yield from texts


def _stream(printed: tuple[str, bytes]) -> str:
    return printed[0] if printed[0] in ("-", "2") else ""


def _is_printable(run: PrintedRun, words: Sequence[str]) -> bool:
    """Whether it goes to files that the command line names, and no terminal interprets it, whatever the cache
    says.
    """
    files = {"-", "2", *_output_files(words)}
    return all(path in files and _is_plain(text) for path, text in run.texts)


def _output_files(words: Sequence[str]) -> Iterator[str]:
    for option, following in zip(words, (*words[1:], ""), strict=True):
        name, _, value = option.partition("=")
        if name == "--output":
            yield value or following
        elif name == "--format":
            yield (value or following).partition("=")[2]


def _is_plain(text: bytes) -> bool:
    """Whether all its characters print, except line breaks and the codes of colours."""
    first, *coloured = text.split(b"\x1b[")
    parts = [first]
    for each in coloured:
        code, _, part = each.partition(b"m")
        if not code.replace(b";", b"").isdigit():
            return False
        parts.append(part)
    left = b"".join(parts).translate(None, _PRINTABLE)
    try:
        return left.decode().isprintable()
    except ValueError:
        return False
