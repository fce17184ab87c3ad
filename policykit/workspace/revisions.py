"""Reads the files of a git revision without running programs from the repository's configuration."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence

from policykit.errors import SourceError, UsageError
from policykit.namedtuple import NamedTuple
from policykit.workspace.boundary import names_git, within
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
"""Git writes, fetches and prompts for nothing (before 2.44 it fetches unless no protocol is allowed), and
its messages are in English."""
_TRUSTED = ("-c", "core.fsmonitor=false", "-c", "safe.bareRepository=explicit")
"""Git runs no file system monitor of the repository, and ignores bare repositories inside it."""
LINK = b"120000"
SUBMODULE = b"160000"
_AT_ONCE = 500
"""Files to read from git at once."""
_LONGEST = 200
"""Maximum length of the line by which git describes an object."""


class TreeEntry(NamedTuple):
    """A file of a commit."""

    path: str
    """Relative to the root, with `/`."""
    mode: bytes
    object: str
    size: int | None = 0
    """Bytes; None: git does not have it."""


def top_of(folder: str) -> str:
    """Real path of the repository that contains a folder. Raises SourceError if there is none."""
    done = _try(folder, "rev-parse", "--show-toplevel")
    if b"not a git repository" in done.stderr:
        raise SourceError(
            "is not in a git repository, so changes cannot be determined",
            "leave out the revision, or name a file",
            folder,
        )
    return os.path.realpath(os.fsdecode(_git_output(done, folder).removesuffix(b"\n")))


def has_commit(name: str, root: str) -> bool:
    """Whether git knows a commit by that name; there is no HEAD before the first one."""
    return not _try(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}").returncode


def commit_of(revision: str, root: str, home: str = "") -> str:
    """The commit in the repository at `root` for a revision of the one at `home`, both as `top_of` returns
    them; empty: `root` was not a submodule of `home` then.

    `REV...` is the merge base of HEAD and REV. For a submodule of `home` the commit is the one recorded
    there; any other repository resolves the revision itself. Raises SourceError or UsageError if git
    does not find it.
    """
    return _base(revision, root, home or root)


_PLATFORMS = (
    ("CI_MERGE_REQUEST_DIFF_BASE_SHA", "{}"),
    ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "origin/{}..."),
    ("GITHUB_BASE_REF", "origin/{}..."),
)
"""Variables with the base of a merge request, and the revision that each means."""


def default_base(root: str) -> tuple[str, str]:
    """The revision to compare with where none is named, and why it is that one.

    The base that GitHub or GitLab names; else where HEAD and the default branch of the remote parted; on that
    branch, and without a remote, HEAD, so that the work tree is compared with it. Raises SourceError if the
    history that this needs is not there.
    """
    for variable, form in _PLATFORMS:
        if value := os.environ.get(variable):
            return form.format(value), f"the base of the merge request ({variable})"
    done = _try(root, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD")
    branch = os.fsdecode(done.stdout).strip()
    if not branch:
        return "HEAD", "there is no default branch of a remote, so changes that are not committed are shown"
    if _commit(f"{branch}...", root) == _resolved("HEAD", root):
        return "HEAD", f"HEAD is part of {branch}, so changes that are not committed are shown"
    return f"{branch}...", f"where HEAD left {branch}"


def entries(root: str, commit: str) -> list[TreeEntry]:
    """The files of a commit, without names that lead out of the folder or into `.git`."""
    found = []
    for line in _git(root, "ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0"):
        about, tab, name = line.partition(b"\t")
        path = os.fsdecode(name)
        if tab and _is_inside(path):
            mode, _, one = about.split()
            found.append(TreeEntry(path, mode, one.decode()))
    # In a partial clone, git stops at the first object that it would have to fetch: the rest has no size.
    sizes = dict(zip(found, _sizes(root, found), strict=False))
    return [one._replace(size=sizes.get(one)) for one in found]


def contents(root: str, wanted: Sequence[TreeEntry]) -> Iterator[tuple[TreeEntry, bytes | None]]:
    """The bytes of each file, read in batches; None: git does not have them."""
    for start in range(0, len(wanted), _AT_ONCE):
        yield from _contents(root, wanted[start : start + _AT_ONCE])


def _sizes(root: str, found: Sequence[TreeEntry]) -> Iterator[int | None]:
    asked = "".join(f"{one.object}\n" for one in found)
    for line in _try(root, "cat-file", "--batch-check", given=asked).stdout.splitlines():
        _, kind, size = [*line.split(b" "), b"", b""][:3]
        yield int(size) if kind == b"blob" else None


def _is_inside(path: str) -> bool:
    parts = path.split("/")
    return not any(part in ("", ".", "..") or names_git(part) or os.sep in part for part in parts)


def _base(revision: str, root: str, home: str) -> str:
    """The commit to compare with; empty: all findings are new."""
    above = os.fsdecode(_git(root, "rev-parse", "--show-superproject-working-tree").removesuffix(b"\n"))
    above = os.path.realpath(above) if above else ""
    if root == home or not above or not within(above, home):
        return _commit(revision, root)
    recorded = _base(revision, above, home)
    if not recorded:
        return ""
    path = os.path.relpath(root, above)
    entry = _git(above, "ls-tree", "-z", recorded, "--", path).split(b"\t")[0].split()
    commit = entry[2].decode() if entry[:1] == [SUBMODULE] else ""
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
            f"{revision!r} is not a revision",
            "give one commit, branch or tag, as in `main` or `main...`",
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


def _git(root: str, *words: str) -> bytes:
    return _git_output(_try(root, *words), root)


def _git_output(done: subprocess.CompletedProcess[bytes], root: str) -> bytes:
    if done.returncode:
        said = os.fsdecode(done.stderr).strip().rpartition("fatal: ")[2].split("\n")[0]
        raise SourceError(f"git failed: {said}", "run `git status` there to see why", root)
    return done.stdout


def remote_urls(root: str) -> tuple[str, ...]:
    """URLs of the remotes in a repository's configuration; empty if git fails."""
    try:
        done = _try(root, "config", "--null", "--get-regexp", r"^remote\..*\.(url|pushurl)$")
    except SourceError:
        return ()
    pairs = os.fsdecode(done.stdout).split("\0") if not done.returncode else []
    return tuple(pair.partition("\n")[2] for pair in pairs if pair)


def _try(root: str, *words: str, given: str = "") -> subprocess.CompletedProcess[bytes]:
    git = program_path("git")
    if not git:
        raise SourceError("git is not installed", "install it, or leave out the revision", root)
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


def _contents(root: str, wanted: Sequence[TreeEntry]) -> Iterator[tuple[TreeEntry, bytes | None]]:
    given = _try(root, "cat-file", "--batch", given="".join(f"{one.object}\n" for one in wanted)).stdout
    at = 0
    for one in wanted:
        about = given[at : at + _LONGEST].partition(b"\n")[0]
        _, kind, size = [*about.split(b" "), b"", b"", b""][:3]
        start = at + len(about) + 1
        if kind != b"blob":
            at = start
            yield one, None
            continue
        at = start + int(size) + 1
        yield one, given[start : at - 1]
