"""`policykit gen`: the policy's objects into a folder a GitOps repository can hold."""

from __future__ import annotations

import os
from difflib import unified_diff

import click

from policykit import api
from policykit.cli.output import emit, write_file
from policykit.cli.policy import cluster_from
from policykit.errors import SourceError, UsageError
from policykit.generator.artifact import Notice
from policykit.generator.bundle import bundle, drift
from policykit.sources import tree
from policykit.sources.files import repository_root, walk
from policykit.sources.policies import FILE_NAME, nearest_policy
from policykit.targets import writers


@click.command("gen")
@click.option(
    "-p",
    "--policy",
    metavar="POLICY",
    help="Policy file, or profile:NAME. Default: the nearest policykit.yaml upwards.",
)
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    default="",
    help="Folder to write to, - for standard output. Default: generate.out of the policy.",
)
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="Every policykit.yaml of the repository, each to its own generate.out.",
)
@click.option(
    "--target", "targets", multiple=True, metavar="NAME", help="Only this target; may be given again."
)
@click.option(
    "--check", is_flag=True, help="Write nothing; exit 1 when the folder differs from what would be written."
)
@click.option("--diff", is_flag=True, help="Write nothing; print what would change.")
@click.option("--prune", is_flag=True, help="Delete generated files that the policy no longer gives.")
def command(
    policy: str | None,
    output: str,
    every: bool,
    targets: tuple[str, ...],
    check: bool,
    diff: bool,
    prune: bool,
) -> int:
    """Write the policy's objects: nodes, schedulers, queues, quotas, workload patches."""
    if every and (policy or output):
        raise UsageError("--all excludes -p and -o", "each policy writes to its own generate.out")
    references = _all_policies() if every else [_one_policy(policy)]
    drifted = False
    for reference in references:
        drifted |= _generate(reference, output, targets, check, diff, prune)
    return 1 if drifted else 0


def _generate(
    reference: str, output: str, targets: tuple[str, ...], check: bool, diff: bool, prune: bool
) -> bool:
    """Writes, or only compares, one policy's files; True where a comparison found drift."""
    cluster = cluster_from(reference)
    _known_targets(targets, [name for name, _ in writers(cluster)])
    generated = api.generate(cluster, targets)
    files = bundle(cluster, generated)
    for notice in generated.notices:
        _say(notice)
    if output == "-":
        emit("".join(f"# File: {path}\n{text}" for path, text in files.items()))
        return False
    folder = output or _folder(reference, cluster.output)
    there = tree.ours(folder, cluster.name)
    missing, different, orphaned = drift(files, there)
    if targets:
        orphaned = []
    if diff:
        emit(
            "".join(
                _diff(folder, path, there.get(path, ""), files.get(path, ""))
                for path in sorted({*missing, *different, *orphaned})
            )
        )
    if check:
        for path, why in [
            *((p, "missing") for p in missing),
            *((p, "differs") for p in different),
            *((p, "no longer generated") for p in orphaned),
        ]:
            click.echo(f"{os.path.join(folder, path)}: {why}", err=True)
    if check or diff:
        return check and bool(missing or different or orphaned)
    tree.refuse_foreign(folder, files, cluster.name)
    for path in [*missing, *different]:
        write_file(os.path.join(folder, path), files[path])
    if prune:
        tree.remove(folder, orphaned)
    written = len(missing) + len(different)
    unchanged = len(files) - written
    tail = (
        f", {len(orphaned)} {'removed' if prune else 'no longer generated (--prune removes them)'}"
        if orphaned
        else ""
    )
    click.echo(f"{folder}: {written} files written, {unchanged} unchanged{tail}", err=True)
    return False


def _one_policy(policy: str | None) -> str:
    reference = policy or nearest_policy(os.getcwd())
    if not reference:
        raise UsageError(
            "there is no policykit.yaml here or above", "give one with -p, or run `policykit init`"
        )
    return reference


def _all_policies() -> list[str]:
    root = repository_root(os.getcwd()) or os.getcwd()
    found = [path for path in walk(root) if os.path.basename(path) == FILE_NAME]
    if not found:
        raise UsageError("the repository has no policykit.yaml", "run `policykit init`")
    return found


def _folder(reference: str, out: str) -> str:
    if reference.startswith("profile:"):
        raise UsageError("a bundled profile has no folder of its own", "name one with -o")
    if not out:
        raise SourceError("the policy does not say where to write", "set generate.out, or give -o", reference)
    return os.path.normpath(os.path.join(os.path.dirname(reference), out))


def _known_targets(targets: tuple[str, ...], known: list[str]) -> None:
    for target in targets:
        if target not in known:
            raise UsageError(f"the policy has no target {target!r}", f"it has: {', '.join(known)}")


def _say(notice: Notice) -> None:
    click.echo(f"{notice.target}: {notice.message}", err=True)


def _diff(folder: str, path: str, before: str, after: str) -> str:
    name = os.path.join(folder, path)
    lines = unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{name}", f"b/{name}"
    )
    return "".join(lines)
