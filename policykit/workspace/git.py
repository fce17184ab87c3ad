"""Git: the files of a revision, and URLs of remotes, without running what a repository configures."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from shlex import quote
from tempfile import TemporaryDirectory

from policykit.errors import SourceError, UsageError
from policykit.namedtuple import NamedTuple
from policykit.workspace.command_state import cached
from policykit.workspace.files import SUFFIXES
from policykit.workspace.programs import program_path
from policykit.workspace.safe_paths import LARGE, is_within, names_git

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


_ELSE = "; for `plan` and `patch`, name an earlier policy file with --from"


@cached
def top_of(folder: str) -> str:
    """Real path of the repository that contains a folder. Raises SourceError if there is none."""
    done = _try(folder, "rev-parse", "--show-toplevel")
    if b"not a git repository" in done.stderr:
        raise SourceError(
            "is not in a git repository, so changes cannot be determined",
            f"leave out the revision{_ELSE}",
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


def state_of(revision: str, root: str) -> bytes:
    """What decides which commit a revision is: the same bytes, the same commit; empty: it cannot be told."""
    if revision.startswith("-") or ".." in revision:
        return b""
    try:
        named = f"{revision}^{{commit}}"
        done = _try(root, "rev-parse", "--show-toplevel", "--show-superproject-working-tree", named)
    except SourceError:
        return b""
    return b"" if done.returncode else done.stdout


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
        if _is_shallow(root):
            raise SourceError(
                "is a shallow clone that does not know the default branch of its remote",
                "name the base with --from, or fetch it: `git remote set-branches origin '*' && git fetch "
                "--unshallow origin && git remote set-head origin --auto`",
                root,
            )
        return "HEAD", "there is no default branch of a remote, so changes that are not committed are shown"
    if _commit(f"{branch}...", root) == _resolved("HEAD", root):
        return "HEAD", f"HEAD is part of {branch}, so changes that are not committed are shown"
    return f"{branch}...", f"where HEAD left {branch}"


def entries(root: str, commit: str) -> list[TreeEntry]:
    """The files of a commit with their sizes, without names that lead out of the folder or into `.git`."""
    found = tree(root, commit)
    # In a partial clone, git stops at the first object that it would have to fetch: the rest has no size.
    sizes = dict(zip(found, _sizes(root, found), strict=False))
    return [one._replace(size=sizes.get(one)) for one in found]


def tree(root: str, commit: str) -> list[TreeEntry]:
    """As `entries`, without sizes."""
    found = []
    for line in _git(root, "ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0"):
        about, tab, name = line.partition(b"\t")
        path = os.fsdecode(name)
        if tab and _is_inside(path):
            mode, _, one = about.split()
            found.append(TreeEntry(path, mode, one.decode()))
    return found


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
    within = f"/{path}/"
    leads_out = any(part in within for part in ("//", "/./", "/../"))
    return (
        not leads_out and (os.sep == "/" or os.sep not in path) and not names_git(path.replace("/", os.sep))
    )


def names_of(root: str, paths: Sequence[str]) -> list[str]:
    """The name that git gives to the contents of each file, whose path is relative to the root and one line.
    Raises SourceError if one cannot be read."""
    given = "".join(f"{path}\n" for path in paths)
    done = _try(root, "hash-object", "--no-filters", "--stdin-paths", given=given)
    return _git_output(done, root).decode().split()


def _base(revision: str, root: str, home: str) -> str:
    """The commit to compare with; empty: all findings are new."""
    above = os.fsdecode(_git(root, "rev-parse", "--show-superproject-working-tree").removesuffix(b"\n"))
    above = os.path.realpath(above) if above else ""
    if root == home or not above or not is_within(above, home):
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


def _is_shallow(root: str) -> bool:
    return _try(root, "rev-parse", "--is-shallow-repository").stdout.strip() == b"true"


def _fetch(name: str, root: str) -> str:
    """The command that fetches a commit or a branch of the remote; empty for other names."""
    branch = name.removeprefix("origin/")
    if branch != name:
        deeper = "--unshallow " if _is_shallow(root) else ""
        return f": `git fetch {deeper}origin {quote(f'{branch}:refs/remotes/origin/{branch}')}`"
    return f": `git fetch origin {name}`" if re.fullmatch("[0-9a-f]{40,64}", name) else ""


def _resolved(name: str, root: str) -> str:
    done = _try(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if done.returncode:
        if _try(root, "rev-parse", "--verify", "--quiet", "HEAD").returncode:
            raise SourceError(
                "the repository has no commit yet", f"commit first, or leave out the revision{_ELSE}", root
            )
        raise SourceError(
            f"git does not know the commit {name!r}",
            f"check the name with `git log`, or fetch it{_fetch(name, root)}; "
            "CI often clones only the newest commit",
            root,
        )
    return done.stdout.decode().split()[-1]


def _git(root: str, *words: str) -> bytes:
    return _git_output(_try(root, *words), root)


def _git_output(done: subprocess.CompletedProcess[bytes], root: str) -> bytes:
    if done.returncode:
        message = os.fsdecode(done.stderr).strip().rpartition("fatal: ")[2].split("\n")[0]
        raise SourceError(f"git failed: {message}", "run `git status` there to see why", root)
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
        raise SourceError("git is not installed", f"install it, or leave out the revision{_ELSE}", root)
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


_MOST = 1 << 20
"""Maximum bytes of a file that is not a manifest, which generators of kustomize may read."""


@contextmanager
def temporary_folder() -> Iterator[str]:
    """A folder, links resolved, that exists until the end of the block."""
    with TemporaryDirectory(prefix="policykit-") as made:
        yield os.path.realpath(made)


def create_folder(path: str) -> None:
    """Creates a folder in the temporary one, unless it exists."""
    os.makedirs(path, exist_ok=True)


def write_revision(root: str, commit: str, folder: str) -> frozenset[str]:
    """Writes the files of a commit of the repository at `root`; returns the names of all of them.

    Contents are written as git stores them. A link is written only if it is relative; its target is
    checked when it is read. Submodules are left empty. Raises SourceError for a file that git does not
    have although it is in the work tree.
    """
    _make_repository(folder, remote_urls(root))
    every = entries(root, commit)
    files = [one for one in every if one.mode != SUBMODULE and is_written(one)]
    links: list[tuple[str, bytes]] = []
    folders: set[str] = set()
    for one, raw in contents(root, files):
        if raw is None:
            _missing(root, one)
        elif one.mode == LINK:
            links.append((os.path.join(folder, one.path), raw))
        else:
            _write(os.path.join(folder, one.path), raw, folders)
    for path, raw in links:
        _link(path, os.fsdecode(raw))
    return frozenset(one.path for one in every)


def _make_repository(folder: str, urls: Sequence[str]) -> None:
    """Makes a folder a boundary, and a repository with the same remotes: Applications name them."""
    place = os.path.join(folder, ".git")
    for name in ("objects", "refs"):
        os.makedirs(os.path.join(place, name))
    quoted = (url.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for url in urls)
    remotes = "".join(f'[remote "{number}"]\n\turl = "{url}"\n' for number, url in enumerate(quoted))
    for name, text in (("HEAD", "ref: refs/heads/main\n"), ("config", remotes)):
        with open(os.path.join(place, name), "x", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)


def manifests_in(names: frozenset[str]) -> Iterator[str]:
    """The names of manifest files, sorted."""
    return (name for name in sorted(names) if name.endswith(SUFFIXES))


def is_written(one: TreeEntry) -> bool:
    """Whether `write_revision` writes a file of that size."""
    return (one.size or 0) <= (LARGE if one.path.endswith(SUFFIXES) else _MOST)


def _write(path: str, raw: bytes, folders: set[str]) -> None:
    """`folders`: those that are known to exist."""
    folder = os.path.dirname(path)
    if folder not in folders:
        os.makedirs(folder, exist_ok=True)
        folders.add(folder)
    with open(path, "xb") as file:
        file.write(raw)


def _link(path: str, target: str) -> None:
    if os.path.isabs(target) or "\0" in target or os.path.lexists(path):
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.symlink(target, path)


def _missing(root: str, one: TreeEntry) -> None:
    """Raises SourceError for a file that a partial clone lacks, unless it is not checked out either, as in a
    sparse checkout: then it is not part of the run."""
    if os.path.lexists(os.path.join(root, one.path)):
        raise SourceError(
            f"git does not have the earlier contents of {one.path}",
            "fetch it: the clone is partial, and policykit does not fetch anything",
            root,
        )
