"""`policykit gen`: the policy's objects into a folder a GitOps repository can hold."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from difflib import unified_diff

import click

from policykit import api
from policykit.cli.output import emit, say, write_file
from policykit.cli.policy import cluster_from, files_of
from policykit.errors import PolicykitError, SourceError, UsageError
from policykit.formats.text import counted
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
    code = 0
    for reference in references:
        try:
            code = max(code, _generate(reference, output, targets, check, diff, prune))
        except PolicykitError as error:
            say(f"policykit: {error}")
            code = 2
    return code


def _generate(
    reference: str, output: str, targets: tuple[str, ...], check: bool, diff: bool, prune: bool
) -> int:
    """Writes, or only compares, one policy's files; 1 where a comparison found drift."""
    cluster = cluster_from(reference)
    _known_targets(targets, [name for name, _ in writers(cluster)])
    folder = os.path.normpath(output) if output else _folder(reference, cluster.output)
    generated = api.generate(cluster, targets)
    files = bundle(cluster, api.generate(cluster) if targets else generated)
    if targets:
        # What joins the files of all targets is left as it is.
        files = {artifact.path: files[artifact.path] for artifact in generated.artifacts}
    if output != "-" and (check or diff):
        return _compare(folder, cluster.name, files, check, diff, whole=not targets)
    for notice in generated.notices:
        say(f"{notice.target}: {notice.message}")
    if output == "-":
        emit("".join(f"# File: {path}\n{text}" for path, text in files.items() if path.endswith(".yaml")))
    else:
        _write(folder, cluster.name, files, prune, whole=not targets)
    return 0


def _compare(
    folder: str, policy: str, files: Mapping[str, str], check: bool, diff: bool, *, whole: bool
) -> int:
    """Tells what differs on disk; `whole`: the files are all that the policy gives."""
    there = tree.ours(folder, policy)
    missing, different, orphaned = drift(files, there)
    orphaned = orphaned if whole else []
    if diff:
        paths = sorted({*missing, *different, *orphaned})
        emit("".join(_diff(folder, path, there.get(path, ""), files.get(path, "")) for path in paths))
    if check:
        _report_drift(folder, missing, different, orphaned)
    return int(check and bool(missing or different or orphaned))


def _write(folder: str, policy: str, files: Mapping[str, str], prune: bool, *, whole: bool) -> None:
    missing, different, orphaned = drift(files, tree.ours(folder, policy))
    orphaned = orphaned if whole else []
    tree.refuse_foreign(folder, files, policy)
    for path in [*missing, *different]:
        write_file(os.path.join(folder, path), files[path])
    if prune:
        tree.remove(folder, orphaned)
    written = len(missing) + len(different)
    says = f"{folder}: {counted(written, 'file')} written, {len(files) - written} unchanged"
    if orphaned:
        says += f", {len(orphaned)} {'removed' if prune else 'no longer generated (--prune removes them)'}"
    say(says)


def _report_drift(
    folder: str, missing: Iterable[str], different: Iterable[str], orphaned: Iterable[str]
) -> None:
    foreign = {path for path in missing if os.path.lexists(os.path.join(folder, path))}
    for path, why in [
        *((p, "not generated from this policy" if p in foreign else "missing") for p in missing),
        *((p, "differs") for p in different),
        *((p, "no longer generated") for p in orphaned),
    ]:
        say(f"{os.path.join(folder, path)}: {why}")


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
    bases = {os.path.abspath(base) for path in found for base in _bases(path)}
    return [path for path in found if _has_output(path, os.path.abspath(path) in bases)]


def _bases(path: str) -> tuple[str, ...]:
    """The files a policy extends; none where it cannot be read, which is told when its turn comes."""
    try:
        return files_of(path)[1:]
    except PolicykitError:
        return ()


def _has_output(path: str, base: bool) -> bool:
    """Whether a policy is to be written. A base that others extend need not stand by itself."""
    try:
        if cluster_from(path).output:
            return True
    except PolicykitError:
        return not base
    if not base:
        say(f"{path}: no generate.out, nothing written")
    return False


def _folder(reference: str, out: str) -> str:
    if reference.startswith("profile:"):
        raise UsageError("a bundled profile has no folder of its own", "name one with -o")
    if not out:
        raise SourceError("the policy does not say where to write", "set generate.out, or give -o", reference)
    return _from_here(os.path.join(os.path.dirname(reference), out))


def _from_here(path: str) -> str:
    """Relative where it stands below the current folder: as people and `git apply` read it."""
    relative = os.path.relpath(path)
    return os.path.normpath(path) if relative.startswith(os.pardir) else relative


def _known_targets(targets: tuple[str, ...], known: list[str]) -> None:
    for target in targets:
        if target not in known:
            raise UsageError(f"the policy has no target {target!r}", f"it has: {', '.join(known)}")


def _diff(folder: str, path: str, before: str, after: str) -> str:
    name = os.path.join(folder, path)
    lines = unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{name}", f"b/{name}"
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
