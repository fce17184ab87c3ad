"""Which policy governs a file: the nearest `policykit.yaml` upwards (contract 3)."""

from __future__ import annotations

import os
from functools import cache

from policykit.sources.files import ancestors, is_file, repository_root

FILE_NAME = "policykit.yaml"


@cache
def nearest_policy(folder: str) -> str:
    """Path of the policy for files in a folder; empty: there is none up to the repository root."""
    limit = repository_root(folder)
    for here in ancestors(folder):
        path = os.path.join(here, FILE_NAME)
        if is_file(path):
            return path
        if here == limit:
            break
    return ""
