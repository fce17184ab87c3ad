"""The policy of a command line: `-p FILE`, `-p profile:NAME`, or the nearest above."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

import click

from policykit.cli.output import complain
from policykit.sources import boundary, kept
from policykit.sources.policies import nearest_policy, reader

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster


def _begin(_: click.Context, __: click.Parameter, folders: tuple[str, ...]) -> None:
    boundary.begin(folders)


allow_path = click.option(
    "--allow-path",
    type=click.Path(exists=True),
    metavar="DIR",
    multiple=True,
    expose_value=False,
    callback=_begin,
    help="Files below DIR may be read and written, too; may be given again. Default: what a policy names"
    " or a link leads to is inside the same repository, without one inside the same folder.",
)
"""For every command that reads what a repository names."""


def cluster_from(reference: str) -> Cluster:
    """The compiled policy of a file or `profile:NAME`. Raises PolicyError and SourceError."""
    return _loaded(_settled(reference)).cluster


def files_of(reference: str) -> tuple[str, ...]:
    """Every file the policy was made of, itself first. Raises as `cluster_from` does."""
    return _loaded(_settled(reference)).files


def forget() -> None:
    """In a process that lives on: policies are read again."""
    _loaded.cache_clear()


def _settled(reference: str) -> str:
    """A file by its absolute path: the same name may be another file in another folder."""
    return reference if reference.startswith("profile:") else os.path.abspath(reference)


@cache
def _loaded(reference: str) -> kept.Policy:
    name = shown_as(reference)
    found = kept.policy(name, reader(name)) or _compiled(name)
    for notice in found.notices:
        complain(notice)
    return found


def _compiled(name: str) -> kept.Policy:
    from policykit.policy.load import load

    read = reader(name)
    loaded = load(name, read)
    found = kept.Policy(loaded.cluster, loaded.files, tuple(map(str, loaded.notices)))
    kept.keep(name, found, read)
    return found


def shown_as(reference: str) -> str:
    """As people read it, and as findings name files: the shorter of its two paths."""
    if reference.startswith("profile:"):
        return reference
    return min(os.path.relpath(reference), os.path.abspath(reference), key=len)


def cluster_for(folder: str, reference: str | None) -> Cluster | None:
    """The policy that governs a folder; None where there is none."""
    chosen = reference or nearest_policy(folder)
    return cluster_from(chosen) if chosen else None
