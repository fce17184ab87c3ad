"""The URLs that a repository is known by."""

from __future__ import annotations

import re

from policykit.workspace import filesystem
from policykit.workspace.command_state import cached
from policykit.workspace.git import remote_urls

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_USER = re.compile(r"[^/@]*@")
_PORT = re.compile(r":[0-9]+(?=/)")


@cached
def remotes(root: str) -> frozenset[str]:
    """Normalised URLs of a repository: of its remotes, and those that its policies name."""
    from policykit.workspace.policies import stated_repositories

    urls = remote_urls(root)
    filesystem.note_remotes(root, urls)
    return frozenset(map(normalised, (*urls, *stated_repositories(root))))


def normalised(url: str) -> str:
    """A URL without scheme, user, port and suffix: `git@host:a/b.git` equals `https://host/a/b/`."""
    text = url.strip()
    if _SCHEME.match(text):
        text = _PORT.sub("", _USER.sub("", _SCHEME.sub("", text), count=1), count=1)
    elif ":" in text:
        text = _USER.sub("", text, count=1).replace(":", "/", 1)
    host, slash, path = text.partition("/")
    return f"{host.lower()}{slash}{path.strip('/').removesuffix('.git').lower()}".rstrip("/")
