"""`policykit migrate`: writes into a policy what earlier versions of policykit let it leave out."""

from __future__ import annotations

import os

from policykit.cli import click
from policykit.cli.options import allow_path, cache_of, cache_options, cluster_from, policy_option
from policykit.cli.output import print_message, write_data
from policykit.errors import UsageError
from policykit.formats.diff import diff as unified
from policykit.formats.findings import counted
from policykit.linter.reader import decode
from policykit.manifests.large_documents import ObjectPatches, edits, spliced
from policykit.manifests.parser import parse
from policykit.manifests.path import dotted
from policykit.workspace.files import read
from policykit.workspace.policies import nearest_policy, shown_as
from policykit.workspace.safe_paths import writable
from policykit.workspace.writing import replace_all


@click.command("migrate")
@policy_option
@click.option("--diff", is_flag=True, help="Write nothing; print what would change.")
@allow_path
@cache_options
def command(policy: str | None, diff: bool, cache_dir: str | None, no_cache: bool) -> int:
    """Write the defaults that a policy relies on into it: releases of targets, roles of kinds.

    Later versions of policykit then read the policy as this one does.
    """
    path = policy or nearest_policy(os.getcwd())
    if not path or path.startswith("profile:"):
        raise UsageError("there is no policy file to change", "name one with -p")
    from policykit.policy.migration import migration

    cluster = cluster_from(path, cache_of((path,), cache_dir, no_cache))
    raw = read(path)
    text = decode(raw).text
    root = next(document.root for document in parse(text) if document.root is not None)
    patches = migration(root.data, cluster)
    if not patches:
        print_message(f"policykit: {shown_as(path)}: nothing to add")
        return 0
    made = spliced(text, edits(text, [ObjectPatches((), patches)]))
    if diff:
        write_data(unified(shown_as(path), text, made))
        return 0
    replace_all({writable(path): made.encode()})
    for each in patches:
        print_message(f"policykit: {shown_as(path)}: {dotted(each.path)} is {each.value}")
    print_message(f"policykit: {shown_as(path)}: {counted(len(patches), 'field')} written")
    return 0
