"""Policies that stand in memory: a reader over a map of files."""

from __future__ import annotations

from collections.abc import Mapping

from policykit.errors import PolicyError, SourceError
from policykit.policy.load import LoadedPolicy, load

HEAD = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: test}
domain: d.example
"""
"""What every policy of a table begins with: its body starts in line 5."""


def load_files(files: Mapping[str, str], path: str = "policykit.yaml") -> LoadedPolicy:
    def read(name: str) -> bytes:
        if name not in files:
            raise SourceError("no such file", "", name)
        return files[name].encode()

    return load(path, read)


def load_body(body: str) -> LoadedPolicy:
    return load_files({"policykit.yaml": HEAD + body})


def mistakes(files: Mapping[str, str], path: str = "policykit.yaml") -> tuple[str, ...]:
    """Every mistake as `file:line:column message`; none: the policy is fine."""
    try:
        load_files(files, path)
    except PolicyError as error:
        return tuple(f"{problem.place} {problem.message}" for problem in error.problems)
    return ()
