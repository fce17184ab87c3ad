"""Runs commands over caches that somebody has tampered with, and tells what they did outside of their work.

A program of its own: what watches a process cannot be taken away from it again.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import pkgutil
import random
import sys
from collections import Counter
from typing import Any

import policykit
from policykit.__main__ import answer
from policykit.workspace.cache import runs
from policykit.workspace.cache.folder import KEY, Cache, pack, unpack
from policykit.workspace.command_state import reset

HARMLESS = frozenset(
    {"array.__new__", "exec", "builtins.id", "sys._getframe", "object.__getattr__", "object.__setattr__"}
)
"""Code that runs was there before: what makes new code is told."""
READS = frozenset({"os.listdir", "os.scandir"})
VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    10**30,
    1.5,
    "",
    "../../../../../../outside/secret.yaml",
    "profile:../../outside/secret",
    "os.system",
    "cli.lint.command",
    "\x1b]0;x\x07\n::error::",
    "\udcff",
    [],
    [[]],
    {},
    {"scheduler": {"name": "x"}},
)


class Watch:
    """What a process did since it was armed."""

    def __init__(self, repository: str, cache: str) -> None:
        program = os.path.dirname(os.path.dirname(os.path.abspath(policykit.__file__)))
        python = (os.path.realpath(sys.base_prefix), os.path.realpath(sys.prefix))
        self._write = (cache,)
        self._read = (repository, cache, program, *python)
        self.armed = False
        self.seen: Counter[str] = Counter()

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.armed and not self._is_allowed(event, arguments):
            self.armed = False
            self.seen[f"{event} {arguments!r}"[:300]] += 1
            self.armed = True

    def _is_allowed(self, event: str, arguments: tuple[Any, ...]) -> bool:
        if event in HARMLESS:
            return True
        if event == "import":
            return arguments[0] in sys.modules or arguments[0].startswith("policykit.model.")
        path = os.path.realpath(arguments[0]) if arguments and isinstance(arguments[0], str) else ""
        if event == "open":
            flags = arguments[2] or 0
            if isinstance(arguments[0], int) or path == os.devnull:
                return True
            return _below(path, self._write if flags & (os.O_WRONLY | os.O_RDWR) else self._read)
        if event in READS:
            return _below(path, self._read)
        if event == "os.rename":
            return _below(path, self._write) and _below(os.path.realpath(arguments[1]), self._write)
        if event == "subprocess.Popen":  # git tells which commit a revision is
            return os.path.basename(arguments[0]) == "git" and _below(arguments[2], self._read[:1])
        return event == "os.remove" and _below(path, self._write)


def _below(path: str, folders: tuple[str, ...]) -> bool:
    return any(path == folder or path.startswith(folder + os.sep) for folder in folders)


def tampered(data: Any, chance: random.Random) -> Any:
    """JSON with one value replaced: by another kind of value, or by one from elsewhere in it."""
    places = list(_places(data, ()))
    if not places:
        return chance.choice(VALUES)
    place = chance.choice(places)
    new = chance.choice(VALUES) if chance.random() < 0.6 else _at(data, chance.choice(places))
    return _with(data, place, new)


def _places(data: Any, here: tuple[Any, ...]) -> Any:
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for step, value in entries:
        yield (*here, step)
        yield from _places(value, (*here, step))


def _at(data: Any, place: tuple[Any, ...]) -> Any:
    for step in place:
        data = data[step]
    return data


def _with(data: Any, place: tuple[Any, ...], value: Any) -> Any:
    if not place:
        return value
    copy = dict(data) if isinstance(data, dict) else list(data)
    copy[place[0]] = _with(data[place[0]], place[1:], value)
    return copy


def tampered_bytes(name: str, raw: bytes, chance: random.Random) -> bytes:
    """The content of a cache file, changed somewhere."""
    if chance.random() < 0.1:
        at = chance.randrange(len(raw))
        return raw[:at] + bytes([chance.randrange(256)]) + raw[at + 1 :]
    if name.startswith("run"):
        return tampered_run(raw, chance)
    if name.startswith("kept"):
        entries = unpack(raw[KEY:])
        key = chance.choice(list(entries))
        return raw[:KEY] + pack({**entries, key: _text(tampered(json.loads(entries[key]), chance))})
    if name.startswith(("results", "builds")):
        entries = unpack(raw)
        key = chance.choice(list(entries))
        lines = entries[key].split(b"\n")
        number = chance.randrange(len(lines))
        lines[number] = _tampered_line(lines[number], chance, named=number > 0)
        return pack({**entries, key: b"\n".join(lines)})
    return _text(tampered(json.loads(raw), chance))


def _tampered_line(line: bytes, chance: random.Random, *, named: bool) -> bytes:
    """JSON, in results after the name of what it has."""
    name, _, data = line.partition(b" ") if named else (b"", b"", line)
    if named and chance.random() < 0.2:
        return chance.choice(NAMES) + b" " + data
    text = _text(tampered(json.loads(data), chance))
    return name + b" " + text if named else text


NAMES = (b"", b"objects", b"scope.UnreadableText", b"queue.Demand", b"pod_admission.RuntimeClass", b"\xff.x")
"""Names of facts, and what is none."""

QUESTIONS = (
    "c/etc/passwd",
    "h99 /etc/passwd",
    f"c{os.path.abspath('../outside/secret.yaml')}",
    f"c{os.path.abspath('apps')}/../../outside/secret.yaml",
    f"h99 {os.path.abspath('apps')}/../../outside/secret.yaml",
    f"g{os.path.abspath('../outside')}",
    "c",
    "hx y",
    "",
    "z/",
)
"""Questions that open something else, and such as nobody asks."""
TEXTS = (
    ("../outside/secret.yaml", b"found\n"),
    ("apps/hidden.yaml", b"found\n"),
    ("-", b"\x1b]0;x\x07"),
    ("-", b"\x1b[2J"),
    ("2", b"\xff"),
    ("-", b"no findings\n"),
)
"""What an earlier run may be said to have printed; the last may be so."""


def tampered_run(raw: bytes, chance: random.Random) -> bytes:
    """A run with another question, or another text; its digest is right, as that of whoever knows the program
    would be.
    """
    questions, run = runs._decoded(raw[2 * KEY :])
    if chance.random() < 0.5:
        questions.insert(chance.randrange(len(questions) + 1), chance.choice(QUESTIONS))
    else:
        run = run._replace(texts=(*run.texts[:-1], chance.choice(TEXTS)))
    try:
        answers = runs._digest(map(runs.again, questions))
    except ValueError:
        answers = raw[KEY : 2 * KEY]
    return raw[:KEY] + answers + runs._encoded(questions, run)


def _text(data: Any) -> bytes:
    return json.dumps(data, ensure_ascii=False).encode("utf-8", errors="surrogatepass")


def main() -> None:
    """`hostile.py CACHE SEED ROUNDS [WORDS...]... KIND`: the command lines as JSON; `KIND`: the beginning of
    the names of the files to change, of which each line has the file `edited.yaml` changed before it."""
    folder, seed, rounds, lines = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), json.loads(sys.argv[4])
    cache = Cache(os.path.realpath(folder))
    for module in pkgutil.walk_packages(policykit.__path__, "policykit."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for kind in policykit_types():
        kind(*(None for _ in kind._fields))  # compiles its constructor
    "\x1b".encode("unicode_escape")
    usual = {}
    for _ in range(2):  # the second time everything is there
        usual = {tuple(words): once(words) for words in lines}
    kind = "".join(sys.argv[5:])
    kept = {name: cache.load(name) for name in sorted(os.listdir(folder))}
    some = [name for name in kept if name.startswith(kind)]
    if kind:
        edit("# edited\n")
        usual = {tuple(words): once(words) for words in lines}
    watch = Watch(os.getcwd(), cache.folder)
    sys.addaudithook(watch)
    chance = random.Random(seed)
    codes: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    for number in range(rounds):
        name = chance.choice(some)
        words = lines[number % len(lines)]
        for other, raw in kept.items():
            # Results of files are asked for only where there is no whole run.
            asked = name.startswith("run") or not other.startswith("run")
            cache.store(other, raw if asked else b"")
        cache.store(name, tampered_bytes(name, kept[name], chance))
        watch.armed = True
        code, output, error = once(words)
        watch.armed = False
        if "internal error" in error:
            faults[f"{name.partition('-')[0]}: {words[0]}: {code}: {error}"] += 1
        codes["as usual" if (code, output, error) == usual[tuple(words)] else "otherwise"] += 1
    json.dump({"seen": watch.seen, "faults": faults, "codes": codes, "kept": some}, sys.stdout)


def edit(text: str) -> None:
    """Adds to a file that the kept run has read."""
    with open(os.path.join("apps", "edited.yaml"), "a", encoding="utf-8") as file:
        file.write(text)


def policykit_types() -> list[Any]:
    """Every NamedTuple of the program."""
    base: Any = Cache.__base__
    found: list[Any] = base.__subclasses__()
    return found


def once(words: list[str]) -> tuple[int, bytes, str]:
    """Exit code, output and standard error of a command, as a process of its own would run it."""
    reset()
    written, error = io.BytesIO(), io.StringIO()
    out = io.TextIOWrapper(written, "utf-8", errors="surrogatepass")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        code = answer(words)
    out.flush()
    return code, written.getvalue(), error.getvalue()


if __name__ == "__main__":
    main()
