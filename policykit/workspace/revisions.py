"""What changed since a git revision, by file and by document."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from policykit.errors import SourceError, UsageError
from policykit.linter.reader import decode, documents
from policykit.workspace.programs import program_path

_OF_A_HOOK = frozenset(
    {
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_PREFIX",
        "GIT_COMMON_DIR",
        "GIT_IMPLICIT_WORK_TREE",
    }
)
"""Variables that git sets for hooks, relative to another folder. Without them git finds the repository."""
_QUIET = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
"""Nothing is written, fetched (which versions before 2.44 do unless no protocol may) or asked for;
messages in one language."""
_TRUSTED = ("-c", "core.fsmonitor=false", "-c", "safe.bareRepository=explicit")
"""Runs no file system monitor of the repository, and ignores bare repositories inside it."""
_DIFF = ("diff-index", "--raw", "-z", "--no-abbrev", "--find-renames", "--ignore-submodules=all")
_LINK = b"120000"
_LONGEST = 200
"""Maximum length of the line by which git describes an object."""


class Changes(NamedTuple):
    """What differs between a commit and some files of a repository as they are on disk."""

    root: str
    """As `top_of` gives it."""
    tracked: frozenset[str]
    """Tracked files, relative to the root; all others are new."""
    before: Mapping[str, bytes | None]
    """Earlier contents of the files that may have changed, by their present names; None: the file is new."""

    def of(self, path: str) -> tuple[bytes | None] | None:
        """None: the file is unchanged; else its earlier contents, None if it is new.

        A link counts as new where it, or whatever it leads to, changed.
        """
        inside = _inside(path, self.root)
        if any(name not in self.tracked for name in inside):
            return (None,)
        changed = [name for name in inside if name in self.before]
        if not changed:
            return None
        return (self.before[changed[0]] if len(inside) == 1 else None,)


def top_of(folder: str) -> str:
    """Real path of the repository that a folder belongs to. Raises SourceError where there is none."""
    done = _try(folder, "rev-parse", "--show-toplevel")
    if b"not a git repository" in done.stderr:
        raise SourceError(
            "is not in a git repository, so changes cannot be determined", "lint it without --since", folder
        )
    return os.path.realpath(os.fsdecode(_git_output(done, folder).removesuffix(b"\n")))


def changes_since(revision: str, files: Iterable[str], root: str, home: str = "") -> Changes:
    """What changed in files of the repository at `root` since a revision of the one at `home`, both
    as `top_of` gives them; without `home` the revision is one of `root` itself.

    `REV...` means the commit from which HEAD and REV parted. In a submodule of `home` it is the
    commit recorded there; in any other repository the revision is looked up in itself. Raises
    SourceError or UsageError where git cannot tell.
    """
    base = _base(revision, root, home or root)
    if not base:
        return Changes(root, frozenset(), {})
    tracked = frozenset(os.fsdecode(name) for name in _git(root, "ls-files", "-z").split(b"\0"))
    names = {name for path in files for name in _inside(path, root)}
    listed = _git(root, *_without_filters(root), *_DIFF, base, "--")
    objects = {name: one for name, one in _entries(listed) if name in names}
    return Changes(root, tracked, dict(_contents(root, objects)))


def _base(revision: str, root: str, home: str) -> str:
    """The commit to compare with; empty: everything is new."""
    above = os.fsdecode(_git(root, "rev-parse", "--show-superproject-working-tree").removesuffix(b"\n"))
    above = os.path.realpath(above) if above else ""
    if root == home or not above or not _within(above, home):
        return _commit(revision, root)
    recorded = _base(revision, above, home)
    if not recorded:
        return ""
    path = os.path.relpath(root, above)
    entry = _git(above, "ls-tree", "-z", recorded, "--", path).split(b"\t")[0].split()
    commit = entry[2].decode() if entry[:1] == [b"160000"] else ""
    if commit and _try(root, "cat-file", "-e", f"{commit}^{{commit}}").returncode:
        raise SourceError(
            f"the submodule does not have its commit {commit[:12]} of {revision}",
            "fetch it there: `git submodule update` fetches only the newest",
            root,
        )
    return commit


def _commit(revision: str, root: str) -> str:
    name, dots, rest = revision.partition("...")
    if not name or rest or ".." in name or name.startswith("-"):
        raise UsageError(
            f"--since {revision!r} is not a revision",
            "give one commit, branch or tag, as in `--since main...`",
        )
    commit = _resolved(name, root)
    if not dots:
        return commit
    done = _try(root, "merge-base", commit, _resolved("HEAD", root))
    if done.returncode:
        raise SourceError(
            f"{name} and HEAD have no commit in common",
            "in a shallow clone, fetch more of the history: `git fetch --unshallow`",
            root,
        )
    return done.stdout.decode().split()[0]


def _resolved(name: str, root: str) -> str:
    done = _try(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if done.returncode:
        raise SourceError(
            f"git does not know the commit {name!r}",
            "check the name with `git log`, or fetch it; CI often clones only the newest commit",
            root,
        )
    return done.stdout.decode().split()[-1]


def _without_filters(root: str) -> Iterator[str]:
    """Options that turn off the programs through which files pass on their way into a repository: to find
    renamed files, git would run them. Raises SourceError where one cannot be turned off."""
    done = _try(root, "config", "--null", "--name-only", "--get-regexp", r"^filter\.")
    keys = (os.fsdecode(key).removeprefix("filter.") for key in done.stdout.split(b"\0") if key)
    for name in sorted({key.rpartition(".")[0] for key in keys}):
        if "=" in name:
            raise SourceError(
                f"git would run the filter {name!r} of its configuration",
                "remove it, or lint without --since",
                root,
            )
        for setting in ("clean=", "process=", "required=false"):
            yield from ("-c", f"filter.{name}.{setting}")


def _git(root: str, *words: str) -> bytes:
    return _git_output(_try(root, *words), root)


def _git_output(done: subprocess.CompletedProcess[bytes], root: str) -> bytes:
    if done.returncode:
        said = os.fsdecode(done.stderr).strip().rpartition("fatal: ")[2].split("\n")[0]
        raise SourceError(f"git failed: {said}", "run `git status` there to see why", root)
    return done.stdout


def remote_urls(root: str) -> tuple[str, ...]:
    """URLs of the remotes of a repository, as its configuration has them; none where git does not answer."""
    try:
        done = _try(root, "config", "--null", "--get-regexp", r"^remote\..*\.(url|pushurl)$")
    except SourceError:
        return ()
    pairs = os.fsdecode(done.stdout).split("\0") if not done.returncode else []
    return tuple(pair.partition("\n")[2] for pair in pairs if pair)


def _try(root: str, *words: str, given: str = "") -> subprocess.CompletedProcess[bytes]:
    git = program_path("git")
    if not git:
        raise SourceError("git is not installed", "install it, or lint without --since", root)
    environment = {name: value for name, value in os.environ.items() if name not in _OF_A_HOOK}
    command = [git, "--no-pager", *_TRUSTED, *words]
    return subprocess.run(
        command,
        cwd=root,
        env={**environment, **_QUIET},
        input=given.encode(),
        capture_output=True,
        check=False,
    )


def _entries(listed: bytes) -> Iterator[tuple[str, str]]:
    """(name now, object before or nothing where the file is new) of `diff-index --raw -z`."""
    words = iter(listed.split(b"\0"))
    for about in words:
        if not about:
            return
        old_mode, mode, old, _, status = about.removeprefix(b":").split(b" ")
        name = next(words)
        if status[:1] in b"RC":
            name = next(words)
        if status == b"D":
            continue
        whole = status in (b"A", b"U") or _LINK in (old_mode, mode)
        yield os.fsdecode(name), "" if whole else old.decode()


def _contents(root: str, objects: Mapping[str, str]) -> Iterator[tuple[str, bytes | None]]:
    """The earlier contents of each file, from one call of git."""
    wanted = [one for one in objects.values() if one]
    done = _try(root, "cat-file", "--batch", given="".join(f"{one}\n" for one in wanted))
    given = done.stdout
    at = 0
    for name, one in objects.items():
        if not one:
            yield name, None
            continue
        about = given[at : at + _LONGEST].partition(b"\n")[0]
        _, kind, size = [*about.split(b" "), b"", b"", b""][:3]
        if kind != b"blob":
            raise SourceError(
                f"git does not have the earlier contents of {name}",
                "fetch it: the clone is partial, and policykit does not fetch anything",
                root,
            )
        start = at + len(about) + 1
        at = start + int(size) + 1
        yield name, given[start : at - 1]


def _inside(path: str, root: str) -> list[str]:
    """Names of a file relative to the root: the one given and, of a link, the one it leads to."""
    link = os.path.join(os.path.realpath(os.path.dirname(path) or "."), os.path.basename(path))
    return [os.path.relpath(name, root) for name in dict.fromkeys((link, os.path.realpath(path)))]


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def changed_documents(before: bytes, now: bytes) -> frozenset[int]:
    """Indices of the documents whose text is not in the earlier file.

    Blank lines and `---` between documents, line endings and the order of documents do not count.
    If a document now occurs once more, the later copy is new.
    """
    old = Counter(_document_texts(before))
    changed = []
    for position, text in enumerate(_document_texts(now)):
        if old[text] > 0:
            old[text] -= 1
        else:
            changed.append(position)
    return frozenset(changed)


def _document_texts(raw: bytes) -> list[str]:
    text = decode(raw)
    lines = [line.removesuffix("\r") for line in text.text.split("\n")]
    starts = [document.start_line for document in documents(text)]
    if not starts:
        return []
    # What stands before the first document belongs to it.
    starts[0] = 0
    return [
        _without_marker(lines[start:end])
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)
    ]


def _without_marker(lines: list[str]) -> str:
    """The text of a document without its `---` and surrounding blank lines."""
    marked = lines and lines[0].rstrip() == "---"
    return "\n".join(lines[1:] if marked else lines).strip("\n")
