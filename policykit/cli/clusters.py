"""`policykit clusters`: the policies of a repository, what they apply to, and what no policy judges."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from policykit.cli import click
from policykit.cli.options import allow_path, format_option
from policykit.cli.output import print_error, write_output
from policykit.errors import PolicyError, UsageError
from policykit.linter.input_file import KUSTOMIZATIONS
from policykit.workspace.cache.folder import NO_CACHE
from policykit.workspace.files import repository_files, repository_root
from policykit.workspace.gitops.clusters import AppliedSources, repository
from policykit.workspace.gitops.controller_files import raw_of
from policykit.workspace.gitops.source_contents import Contents
from policykit.workspace.gitops.sources import Source
from policykit.workspace.policies import (
    FILE_NAME,
    BrokenPolicies,
    cluster_of,
    extended_files,
    has_applies,
    name_of,
    shown_as,
)

_NO_REPOSITORY = "not in a git repository: each file belongs to the nearest policykit.yaml above it"
_OBJECT = (b"apiVersion", b"kind")
"""Fields of every object."""


@click.command("clusters")
@click.argument("folder", default=".", metavar="[DIR]")
@allow_path
@format_option
def command(folder: str, format_: str) -> int:
    """List the policies of the repository that DIR is in, what each applies to, and unjudged files.

    A policy applies to what its `applies` lists, else to what the objects of Flux and Argo CD next to it
    apply. A file that nothing else applies belongs to the nearest policy above it.
    """
    if not os.path.isdir(folder):
        raise UsageError("no such folder", "name a folder of a repository", folder)
    root = repository_root(folder) or os.path.abspath(folder)
    found = repository(root)
    policies = [_policy(policy, found) for policy in sorted(found.contents)]
    none = _judged_by_none(root, found)
    if format_ == "json":
        import json

        write_output(json.dumps({"clusters": policies, "judged_by_none": none}, indent=2) + "\n")
    else:
        lines = _text(policies, none) if policies or repository_root(folder) else [_NO_REPOSITORY]
        write_output("".join(f"{line}\n" for line in lines))
    for fault in found.faults:
        print_error(fault)
    broken = _broken([*found.contents])
    for line in broken:
        print_error(line)
    return 2 if found.faults or broken else 0


def _broken(policies: Sequence[str]) -> list[str]:
    """The mistakes for which policies cannot be used."""
    found = BrokenPolicies()
    for policy in policies:
        try:
            cluster_of(policy, NO_CACHE)
        except PolicyError as error:
            found.add(policy, error)
    return found.lines()


def _policy(policy: str, found: AppliedSources) -> dict[str, Any]:
    sources = found.contents[policy]
    return {
        "name": name_of(policy),
        "policy": shown_as(policy),
        "applies": [_source(source, contents) for source, contents in sources],
        "by_place": not has_applies(policy),
    }


def _source(source: Source, contents: Contents) -> dict[str, Any]:
    return {
        "path": shown_as(source.path) if source.path else None,
        "form": source.form.value,
        "stated": f"{shown_as(source.stated.file)}:{source.stated.line}",
        "resource": source.stated.resource or None,
        "notices": list(source.notices),
        "not_judged": [str(why) for why in (*contents.why_not, *contents.releases)],
    }


def _judged_by_none(root: str, found: AppliedSources) -> list[str]:
    paths = repository_files(root) if found.contents else ()
    bases = extended_files(root)
    return [
        shown_as(path)
        for path in paths
        if os.path.basename(path) not in (FILE_NAME, *KUSTOMIZATIONS)
        and os.path.abspath(path) not in bases
        and all(field in raw_of(path) for field in _OBJECT)
        and not found.policies_of(path)
    ]


def _text(policies: list[dict[str, Any]], none: list[str]) -> list[str]:
    lines = []
    for each in policies:
        lines.append(f"{each['name'] or '(no name)'}  {each['policy']}")
        for source in each["applies"]:
            stated = f"{source['resource']}, {source['stated']}" if source["resource"] else source["stated"]
            lines.append(f"  {source['path'] or '?'}  {source['form']} ({stated})")
            lines += [f"    {notice}" for notice in source["notices"]]
            lines += [f"    not judged: {why}" for why in source["not_judged"]]
        if each["by_place"]:
            others = "other files" if each["applies"] else "files"
            lines.append(f"  {others} with no nearer policy")
    if not policies:
        lines.append("no policy in this repository")
    if none:
        lines += ["", f"judged by no policy: {len(none)}", *(f"  {path}" for path in none)]
    return lines
