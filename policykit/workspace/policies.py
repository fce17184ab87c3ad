"""Which policy governs a file: the nearest `policykit.yaml` upwards."""

from __future__ import annotations

import os
from collections.abc import Callable

from policykit.workspace.boundary import SMALL
from policykit.workspace.disk import cached
from policykit.workspace.files import is_there, read, upwards

FILE_NAME = "policykit.yaml"


@cached
def nearest_policy(folder: str) -> str:
    """Path of the policy for files in a folder; empty: there is none up to the repository root."""
    paths = (os.path.join(here, FILE_NAME) for here in upwards(folder))
    return next(filter(is_there, paths), "")


def reader(policy: str) -> Callable[[str], bytes]:
    """Reads a policy and all that it names, within the boundary of that policy."""

    def reading(path: str) -> bytes:
        return read(path, "" if path == policy else policy, SMALL)

    return reading
