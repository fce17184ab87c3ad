"""Which files of a repository Flux leaves out: `.sourceignore`, and `spec.ignore` of a GitRepository."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from policykit.errors import SourceError
from policykit.namedtuple import NamedTuple
from policykit.workspace import boundary
from policykit.workspace.disk import cached
from policykit.workspace.files import is_there, read
from policykit.workspace.gitignore import Gitignore

_NAME = ".sourceignore"
_DEFAULT = b"""\
*.jpg
*.jpeg
*.gif
*.png
*.wmv
*.flv
*.tar.gz
*.zip
.github/
.circleci/
.travis.yml
.gitlab-ci.yml
appveyor.yml
.drone.yml
cloudbuild.yaml
codeship-services.yml
codeship-steps.yml
**/.goreleaser.yml
**/.sops.yaml
**/.flux.yaml
"""
"""What is left out where nobody says what is. Source: sourceignore of source-controller."""


class _Patterns(NamedTuple):
    base: str
    """Their folder, with `/` at the end; empty: the root."""
    patterns: Gitignore


def is_left_out(path: str, root: str, ignore: str) -> bool:
    """Whether Flux leaves out a file of a repository. `ignore`: `spec.ignore` of its GitRepository.

    Unlike with git, a pattern can bring back a file of a folder that is left out.
    """
    parts = os.path.relpath(path, root).replace(os.sep, "/").split("/")
    stated = [*_stated(parts[:-1], root, ignore)] or [_Patterns("", _default())]
    for end in range(len(parts), 0, -1):
        here = "/".join(parts[:end])
        for base, patterns in stated:
            answer = patterns.verdict(here[len(base) :], end < len(parts)) if here.startswith(base) else None
            if answer is not None:
                return answer
    return False


def _stated(folders: Sequence[str], root: str, ignore: str) -> Iterator[_Patterns]:
    """The strongest first."""
    if ignore:
        yield _Patterns("", Gitignore(ignore.encode("utf-8", errors="replace")))
    for depth in range(len(folders), -1, -1):
        base = "".join(f"{folder}/" for folder in folders[:depth])
        patterns = _patterns(os.path.join(root, base))
        if patterns:
            yield _Patterns(base, patterns)


@cached
def _default() -> Gitignore:
    return Gitignore(_DEFAULT)


@cached
def _patterns(folder: str) -> Gitignore | None:
    path = os.path.join(folder, _NAME)
    if not is_there(path):
        return None
    try:
        return Gitignore(read(path, most=boundary.SMALL))
    except SourceError:
        return None
