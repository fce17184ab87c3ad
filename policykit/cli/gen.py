"""`policykit gen`: writes the policy's objects to a folder, for a GitOps repository."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from policykit.cli import click
from policykit.cli.generated_files import compare, consequences, refuse_removal, show, write
from policykit.cli.options import (
    allow_path,
    cache_of,
    cache_options,
    cluster_from,
    policy_option,
    whole_cluster_options,
)
from policykit.cli.output import print_error, print_message, write_data
from policykit.errors import InternalError, PolicyError, PolicykitError, SourceError, UsageError
from policykit.generator.bundle import bundle
from policykit.namedtuple import NamedTuple
from policykit.targets import writers
from policykit.workspace import safe_paths
from policykit.workspace.files import repository_root
from policykit.workspace.generated_files import folder_of, generated, plan, refuse, refuse_shared
from policykit.workspace.policies import (
    BrokenPolicies,
    hint_without_policy,
    is_cluster,
    is_extended,
    nearest_policy,
    output_folders,
    policy_files,
)
from policykit.workspace.safe_paths import SafePath, output_folder

if TYPE_CHECKING:
    from policykit.generator.artifact import TargetOutput
    from policykit.live.connection import Access
    from policykit.workspace.cache.folder import Cache


class Options(NamedTuple):
    """The options of one run."""

    output: str
    every: bool
    targets: tuple[str, ...]
    check: bool
    diff: bool
    prune: bool
    removals: tuple[str, ...] = ()
    """Protected pools and queues that may go."""


@click.command("gen")
@policy_option
@allow_path
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    default="",
    help="Folder to write to; - for standard output. Default: generate.out of the policy.",
)
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="Every policykit.yaml in the repository, each to its own generate.out.",
)
@click.option(
    "--target", "targets", multiple=True, metavar="NAME", help="Generate only this target; repeatable."
)
@click.option(
    "--check", is_flag=True, help="Write nothing; exit 1 if the folder differs from what would be written."
)
@click.option("--diff", is_flag=True, help="Write nothing; print what would change.")
@click.option(
    "--allow-removal",
    "removals",
    multiple=True,
    metavar="NAME",
    help="Allow the removal of this protected pool or queue; repeatable.",
)
@click.option("--prune", is_flag=True, help="Delete generated files that the policy no longer generates.")
@whole_cluster_options
@cache_options
def command(
    policy: str | None,
    output: str,
    every: bool,
    targets: tuple[str, ...],
    check: bool,
    diff: bool,
    prune: bool,
    removals: tuple[str, ...],
    cache_dir: str | None,
    no_cache: bool,
    access: Access | None,
) -> int:
    """Generate objects from the policy: nodes, schedulers, queues, quotas, workload patches.

    With --live, --diff and --check compare with the objects of a running cluster instead of a folder.
    """
    options = Options(output, every, targets, check, diff, prune, removals)
    _check_options(options, policy)
    cache = cache_of((policy or "",), cache_dir, no_cache)
    if access is not None:
        return _compare_with_cluster(access, options, _one_policy(policy), cache)
    references = _all_policies(cache) if every else [_one_policy(policy)]
    code = 0
    broken = BrokenPolicies()
    for reference in references:
        try:
            code = max(code, _generate(reference, options, cache))
        except OSError:
            raise  # standard output is gone
        except PolicyError as error:
            broken.add(reference, error)
            code = 2
        except Exception as error:
            print_error(error if isinstance(error, PolicykitError) else InternalError(error, reference))
            code = 2
    for line in broken.lines():
        print_error(line)
    if every and check:
        for problem in _problems_between(references, cache):
            print_error(problem)
            code = max(code, 1)
    return code


def _problems_between(references: Sequence[str], cache: Cache) -> Iterator[SourceError]:
    """Policies of one name, and generated folders that belong to none of them."""
    from policykit.cli.generated_files import abandoned_folders, same_names

    names: list[tuple[str, str]] = []
    outputs: dict[str, str] = {}
    for path in references:
        with suppress(PolicykitError):  # an invalid policy has been reported
            cluster = cluster_from(path, cache)
            names.append((path, cluster.name))
            outputs[os.path.realpath(os.path.join(os.path.dirname(path), cluster.output))] = cluster.name
    yield from same_names(names)
    # The folder of a policy that cannot be read is not known.
    if len(outputs) == len(references):
        yield from abandoned_folders(repository_root(os.getcwd()) or os.getcwd(), outputs)


def _check_options(options: Options, policy: str | None) -> None:
    if options.every and (policy or options.output):
        raise UsageError(
            "--all cannot be combined with -p or -o", "each policy writes to its own generate.out"
        )
    if options.prune and options.targets:
        raise UsageError(
            "--prune cannot be combined with --target",
            "outdated files are known only when all targets are generated",
        )
    if options.output == "-" and (options.check or options.diff or options.prune):
        raise UsageError("--check, --diff and --prune need a folder", "name one with -o")


def _compare_with_cluster(access: Access, options: Options, reference: str, cache: Cache) -> int:
    if not (options.check or options.diff) or options.every or options.output or options.targets:
        raise UsageError(
            "--live compares all that a policy generates with a cluster",
            "policykit gen --diff --live [-p POLICY]",
        )
    from policykit.cli.live_drift import differences

    found = differences(access, cluster_from(reference, cache))
    if options.diff:
        write_data("".join(each.diff for each in found))
    elif found:
        print_message("".join(f"{each.name} {each.verb}; " for each in found).removesuffix("; "))
    return int(options.check and bool(found))


def _generate(reference: str, options: Options, cache: Cache) -> int:
    """Writes, or only compares, one policy's files; returns 1 if a comparison finds drift."""
    cluster = cluster_from(reference, cache)
    _known_targets(options.targets, [name for name, _ in writers(cluster)])
    chosen = generated(reference, cluster, options.targets)
    files = bundle(cluster, generated(reference, cluster) if options.targets else chosen)
    if options.targets:
        # Files that combine all targets are left as they are.
        files = {artifact.path: files[artifact.path] for artifact in chosen.artifacts}
    if options.output == "-":
        _print_notices(chosen)
        yaml = ((path, text) for path, text in files.items() if path.endswith(".yaml"))
        write_data("".join(f"# File: {path}\n{text}" for path, text in yaml))
        return 0
    place = _place(reference, options.output, cluster.output)
    folder = place.path
    other_folders = output_folders(reference, folder)
    if options.every or not (options.check or options.diff):
        # Comparing a draft with another policy's folder is fine.
        refuse_shared(folder, other_folders)
    state = plan(
        reference,
        cluster.name,
        place,
        files,
        other_folders,
        whole=not options.targets,
        own=not options.output,
        former_names=cluster.formerly.names,
    )
    if not options.targets:
        refuse_removal(state, cluster, options.removals)
    if not options.check:
        refuse(state)
    reported = tuple(consequences(state, cluster)) if not (options.check or options.targets) else ()
    if options.diff:
        show(state, prune=options.prune)
    if options.check:
        return int(not compare(state, every=options.every))
    if not options.diff:
        _print_notices(chosen)
        write(state, prune=options.prune)
    for line in reported:
        print_message(line)
    return 0


def _print_notices(generated: TargetOutput) -> None:
    for notice in generated.notices:
        print_message(f"{notice.target}: {notice.message}")


def _one_policy(policy: str | None) -> str:
    reference = policy or nearest_policy(os.getcwd())
    if not reference:
        raise UsageError(
            "no policykit.yaml found in this or any parent folder",
            hint_without_policy("name one with -p, or run `policykit init`"),
        )
    return reference


def _all_policies(cache: Cache) -> list[str]:
    safe_paths.add_argument(os.curdir)
    found = policy_files(repository_root(os.getcwd()) or os.getcwd())
    if not found:
        raise UsageError("no policykit.yaml found in the repository", "run `policykit init`")
    return [path for path in found if is_cluster(path) and _has_output(path, is_extended(path), cache)]


def _has_output(path: str, base: bool, cache: Cache) -> bool:
    """Whether the policy of a cluster is to be written. A base need not be valid by itself."""
    try:
        if cluster_from(path, cache).output:
            return True
    except PolicykitError:
        return not base
    if not base:
        print_message(f"{path}: no generate.out, nothing written")
    return False


def _place(reference: str, output: str, out: str) -> SafePath:
    """The folder to write to: the one on the command line, else the policy's."""
    if output:
        return output_folder(os.path.normpath(output))
    if reference.startswith("profile:"):
        raise UsageError("a bundled profile has no output folder", "name one with -o")
    if not out:
        raise SourceError("the policy has no output folder", "set generate.out, or use -o", reference)
    return folder_of(reference, out)


def _known_targets(targets: tuple[str, ...], known: list[str]) -> None:
    for target in targets:
        if target not in known:
            raise UsageError(f"the policy has no target {target!r}", f"available targets: {', '.join(known)}")
