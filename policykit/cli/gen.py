"""`policykit gen`: the policy's objects into a folder a GitOps repository can hold."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import click

from policykit.cli.caching import cache_of, cache_options
from policykit.cli.generated import compare, folder_of, generated, plan, refuse, refuse_shared, show, write
from policykit.cli.output import complain, emit_data, say
from policykit.cli.policy import allow_path, cluster_from
from policykit.errors import InternalError, PolicykitError, SourceError, UsageError
from policykit.generator.bundle import bundle
from policykit.targets import writers
from policykit.workspace import boundary, outputs
from policykit.workspace.boundary import Place, output_folder
from policykit.workspace.files import repository_root
from policykit.workspace.policies import nearest_policy

if TYPE_CHECKING:
    from policykit.generator.artifact import Generated
    from policykit.workspace.cache.folder import Cache


class Asked(NamedTuple):
    """What the options ask for."""

    output: str
    every: bool
    targets: tuple[str, ...]
    check: bool
    diff: bool
    prune: bool


@click.command("gen")
@click.option(
    "-p",
    "--policy",
    metavar="POLICY",
    help="Policy file, or profile:NAME. Default: the nearest policykit.yaml upwards.",
)
@allow_path
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
@cache_options
def command(
    policy: str | None,
    output: str,
    every: bool,
    targets: tuple[str, ...],
    check: bool,
    diff: bool,
    prune: bool,
    cache_dir: str | None,
    no_cache: bool,
) -> int:
    """Write the policy's objects: nodes, schedulers, queues, quotas, workload patches."""
    asked = Asked(output, every, targets, check, diff, prune)
    _possible(asked, policy)
    cache = cache_of((policy or "",), cache_dir, no_cache)
    references = _all_policies(cache) if every else [_one_policy(policy)]
    code = 0
    for reference in references:
        try:
            code = max(code, _generate(reference, asked, cache))
        except OSError:
            raise  # standard output is gone
        except Exception as error:
            complain(error if isinstance(error, PolicykitError) else InternalError(error, reference))
            code = 2
    return code


def _possible(asked: Asked, policy: str | None) -> None:
    if asked.every and (policy or asked.output):
        raise UsageError("--all excludes -p and -o", "each policy writes to its own generate.out")
    if asked.prune and asked.targets:
        raise UsageError("--prune excludes --target", "what is left over is known only when all are written")
    if asked.output == "-" and (asked.check or asked.diff or asked.prune):
        raise UsageError("--check, --diff and --prune need a folder", "name one with -o")


def _generate(reference: str, asked: Asked, cache: Cache) -> int:
    """Writes, or only compares, one policy's files; 1 where a comparison found drift."""
    cluster = cluster_from(reference, cache)
    _known_targets(asked.targets, [name for name, _ in writers(cluster)])
    made = generated(reference, cluster, asked.targets)
    files = bundle(cluster, generated(reference, cluster) if asked.targets else made)
    if asked.targets:
        # What joins the files of all targets is left as it is.
        files = {artifact.path: files[artifact.path] for artifact in made.artifacts}
    if asked.output == "-":
        _tell(made)
        yaml = ((path, text) for path, text in files.items() if path.endswith(".yaml"))
        emit_data("".join(f"# File: {path}\n{text}" for path, text in yaml))
        return 0
    place = _place(reference, asked.output, cluster.output)
    folder = place.path
    apart = outputs.taken(reference, folder)
    if asked.every or not (asked.check or asked.diff):
        # To compare a draft with another policy's folder is fine.
        refuse_shared(folder, apart)
    state = plan(reference, cluster.name, place, files, apart, whole=not asked.targets)
    if not asked.check:
        refuse(state)
    if asked.diff:
        show(state, prune=asked.prune)
    if asked.check:
        return int(not compare(state))
    if not asked.diff:
        _tell(made)
        write(state, prune=asked.prune)
    return 0


def _tell(generated: Generated) -> None:
    for notice in generated.notices:
        say(f"{notice.target}: {notice.message}")


def _one_policy(policy: str | None) -> str:
    reference = policy or nearest_policy(os.getcwd())
    if not reference:
        raise UsageError(
            "there is no policykit.yaml here or above", "give one with -p, or run `policykit init`"
        )
    return reference


def _all_policies(cache: Cache) -> list[str]:
    boundary.add_argument(os.curdir)
    found = outputs.policies(repository_root(os.getcwd()) or os.getcwd())
    if not found:
        raise UsageError("the repository has no policykit.yaml", "run `policykit init`")
    return [path for path in found if _has_output(path, outputs.extended(path), cache)]


def _has_output(path: str, base: bool, cache: Cache) -> bool:
    """Whether a policy is to be written. A base that others extend need not stand by itself."""
    try:
        if cluster_from(path, cache).output:
            return True
    except PolicykitError:
        return not base
    if not base:
        say(f"{path}: no generate.out, nothing written")
    return False


def _place(reference: str, asked: str, out: str) -> Place:
    """The folder to write to: as the command line says, else the policy."""
    if asked:
        return output_folder(os.path.normpath(asked))
    if reference.startswith("profile:"):
        raise UsageError("a bundled profile has no folder of its own", "name one with -o")
    if not out:
        raise SourceError("the policy does not say where to write", "set generate.out, or give -o", reference)
    return folder_of(reference, out)


def _known_targets(targets: tuple[str, ...], known: list[str]) -> None:
    for target in targets:
        if target not in known:
            raise UsageError(f"the policy has no target {target!r}", f"it has: {', '.join(known)}")
