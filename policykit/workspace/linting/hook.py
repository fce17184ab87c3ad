"""What a hook of pre-commit lints: the whole repository, for what the files and the change bring."""

from __future__ import annotations

import os

from policykit.workspace.files import repository_root
from policykit.workspace.linting.request import Request
from policykit.workspace.revisions import has_commit, top_of

_FROM = "PRE_COMMIT_FROM_REF"
"""Set by pre-commit where it compares two revisions, as before a push."""


def hook_request(request: Request) -> Request:
    """The request for a hook that was given these files: everything of them is reported, and of the rest of
    the repository what HEAD, or the revision that pre-commit names, did not have.

    Outside a repository, and before its first commit, there is nothing to compare with.
    """
    root = repository_root(os.getcwd())
    if not root:
        return request._replace(whole=tuple(request.named))
    start = os.path.relpath(root)
    # Files that .gitignore leaves out are found only by their names.
    paths = (start, *request.named) if start == os.curdir else (start,)
    revision = os.environ.get(_FROM) or ("HEAD" if has_commit("HEAD", top_of(root)) else None)
    return request._replace(paths=paths, since=revision, whole=tuple(request.named))
