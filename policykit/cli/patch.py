"""`policykit patch`: applies the workload kind of each recognised object to manifests."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import click

from policykit.cli.options import allow_path, cache_of, cache_options, namespace_option, policy_option
from policykit.cli.output import print_message, write_data
from policykit.cli.policy import cluster_for, cluster_from
from policykit.errors import SourceError, UsageError, faults_at
from policykit.formats.diff import diff as unified
from policykit.formats.findings import counted
from policykit.linter.reader import BOM
from policykit.model.cluster import Cluster
from policykit.targets.workloads.companion_objects import Identity
from policykit.targets.workloads.patch_options import PatchOptions
from policykit.targets.workloads.stream import PatchedText, Source, objects, patch, unique_notices
from policykit.workspace.boundary import Place, writable
from policykit.workspace.cache.folder import Cache
from policykit.workspace.files import discover, read
from policykit.workspace.policies import nearest_policy
from policykit.workspace.scopes import is_patch, kustomization_namespace
from policykit.workspace.writing import replace_all

_STDIN = "-"


@click.command("patch")
@click.argument("paths", nargs=-1)
@policy_option
@allow_path
@click.option(
    "--workload",
    metavar="NAME",
    default="",
    help="Workload kind of everything that requests cards; with --only, of the named objects.",
)
@click.option("--card", metavar="CARD", default="", help="Card to use if several would fit.")
@click.option(
    "--queue",
    metavar="QUEUE",
    default="",
    help="Queue to use. Default: the one that is written, if the policy has it, else that of the tenant of"
    " the namespace, else that of the workload kind.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="KIND/NAME",
    help="Patch only this object; repeatable. It must exist.",
)
@click.option(
    "--from",
    "before",
    metavar="REV|FILE",
    default="",
    help="First take out what the policy of a git revision, or another policy file, had written.",
)
@click.option("--in-place", is_flag=True, help="Write changed files instead of printing them.")
@click.option("--diff", is_flag=True, help="Write nothing; print what would change.")
@click.option(
    "--stdin-filename",
    metavar="PATH",
    default="",
    help="File name used for standard input: in messages and to find its policy.",
)
@namespace_option
@cache_options
def command(
    paths: tuple[str, ...],
    policy: str | None,
    workload: str,
    card: str,
    queue: str,
    only: tuple[str, ...],
    before: str,
    in_place: bool,
    diff: bool,
    stdin_filename: str,
    namespace: str,
    cache_dir: str | None,
    no_cache: bool,
) -> int:
    """Print manifests with the workload kind of each recognised workload applied.

    A workload gets tolerations, node affinity, scheduler, priority class, queue, the label
    policykit.io/workload, and its scheduler's settings for gangs, topology and spreading; a
    PodGroup it needs is added after it. Everything else is kept byte for byte. Without PATHS,
    standard input is read, as for a Helm post-renderer. If anything fails, nothing is printed.
    It fails for a workload that every pool would still refuse.
    """
    if in_place and diff:
        raise UsageError("--in-place and --diff cannot be combined", "use only one of them")
    if in_place and _STDIN in (paths or (_STDIN,)):
        raise UsageError("--in-place needs files, not standard input", "name the files, or omit --in-place")
    options = PatchOptions(workload, card, queue, only)
    cache = cache_of((*paths, policy or "", stdin_filename), cache_dir, no_cache)
    sources = list(_sources(paths or (_STDIN,), stdin_filename, namespace))
    with _earlier(before, policy) as earlier:
        done = [
            (
                source,
                _patched(
                    source, folder, cluster_for(folder, policy, cache), options, sources, earlier(folder)
                ),
            )
            for source, folder in sources
        ]
    options.check_found(one for _, patched in done for one in patched.objects)
    _print_notes(done)
    if in_place:
        _refuse_shared(done, policy, options, cache)
        _write(done)
    elif diff:
        write_data("".join(unified(s.path, _text(s.raw), _text(p.raw)) for s, p in done))
    else:
        write_data(_joined([patched.raw for _, patched in done]))
    return 0


def _sources(paths: Iterable[str], stdin_filename: str, namespace: str) -> Iterator[tuple[Source, str]]:
    """The inputs in the given order, each once, with the folder to look for its policy from."""
    seen: set[str] = set()
    for path in dict.fromkeys(paths):
        if path == _STDIN:
            yield _source(stdin_filename or "<stdin>", _standard_input(), namespace, rendered=True)
            continue
        for file in discover([path]):
            name = os.path.normpath(file.path)
            raw = b"" if name in seen else read(file.path)
            foreign = file.argument and file.path.endswith(".json") and b'"apiVersion"' not in raw
            if name not in seen and not foreign:
                yield _source(file.path, raw, namespace)
            seen.add(name)


def _source(path: str, raw: bytes, namespace: str, *, rendered: bool = False) -> tuple[Source, str]:
    folder = os.path.dirname(os.path.abspath(path))
    default_namespace = namespace or kustomization_namespace(folder) or "default"
    partial = not rendered and is_patch(path)
    return Source(path, raw, default_namespace, partial=partial, rendered=rendered), folder


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise SourceError("standard input is closed", "redirect a file or a pipe to it")
    if sys.stdin.isatty():
        raise UsageError("nothing to patch: standard input is a terminal", "name files, or pipe manifests in")
    return sys.stdin.buffer.read()


@contextmanager
def _earlier(reference: str, policy: str | None) -> Iterator[Callable[[str], Cluster | None]]:
    """The earlier policy for the files of a folder; none without `--from`."""
    if not reference:
        yield lambda folder: None
        return
    from policykit.cli.earlier import earlier_state

    with earlier_state(reference, os.getcwd()) as state:

        def earlier(folder: str) -> Cluster | None:
            chosen = policy or nearest_policy(folder)
            return state.cluster(chosen) if chosen else None

        yield earlier


def _patched(
    source: Source,
    folder: str,
    cluster: Cluster | None,
    options: PatchOptions,
    sources: Sequence[tuple[Source, str]],
    before: Cluster | None = None,
) -> PatchedText:
    if cluster is None:
        raise SourceError(
            "no policy in this or any parent folder", "name one with -p, or see `policykit init`", source.path
        )
    options.check(cluster)

    def elsewhere() -> dict[Identity, Mapping[str, Any]]:
        # Another folder may be another environment, with objects of the same names.
        others = (one for one, in_folder in sources if in_folder == folder and one.path != source.path)
        return {name: data for one in others for name, data in objects(one.raw, one.namespace).items()}

    with faults_at(source.path):
        return patch(source, cluster, options, elsewhere, before)


def _print_notes(done: Sequence[tuple[Source, PatchedText]]) -> None:
    """Prints the notes on each object, and each scheduler limitation at the first object it affects."""
    for note in (note for _, patched in done for note in patched.notes):
        print_message(f"policykit: {note}")
    for notice in unique_notices(notice for _, patched in done for notice in patched.notices):
        print_message(f"policykit: {notice}")
    for source, patched in done:
        for data in patched.unwritten:
            named = f"{data['kind']}/{data['metadata']['name']}"
            print_message(
                f"policykit: {source.path}: {named} is needed beside its workload, but this file cannot hold"
                " another document: add it yourself"
            )


def _refuse_shared(
    done: Iterable[tuple[Source, PatchedText]], policy: str | None, options: PatchOptions, cache: Cache
) -> None:
    """Raises SourceError for a file that another policy applies to and would patch in another way."""
    from policykit.workspace.linting.policies import shared_with

    for source, patched in done:
        folder = os.path.dirname(os.path.abspath(source.path))
        own = policy or nearest_policy(folder)
        for other in shared_with(source.path, own) if patched.raw != source.raw else ():
            wanted = _patched(source, folder, cluster_from(other.policy, cache), options, ())
            if wanted.raw != patched.raw:
                raise SourceError(
                    f"nothing is written: {other.shown} applies to the file too, and needs something else",
                    other.advice,
                    source.path,
                )


def _write(done: Iterable[tuple[Source, PatchedText]]) -> None:
    """Writes all changed files, or none. A file with several names is written once."""
    changed: dict[str, tuple[Place, Source, PatchedText]] = {}
    for source, patched in done:
        if patched.raw != source.raw:
            _check_replaceable(source)
            place = writable(source.path)
            *_, first = changed.setdefault(place.real, (place, source, patched))
            if first.raw != patched.raw:
                raise SourceError(
                    "is patched differently under another name", "name the file once", source.path
                )
    replace_all({place: patched.raw for place, _, patched in changed.values()})
    for _, source, patched in changed.values():
        print_message(f"{source.path}: {', '.join(patched.changed)}")
    print_message(f"policykit: {counted(len(changed), 'file')} written")


def _check_replaceable(source: Source) -> None:
    if not os.path.isfile(source.path):
        raise SourceError("is not a regular file", "omit --in-place", source.path)
    if read(source.path) != source.raw:
        raise SourceError("was changed during the run", "run it again", source.path)


def _joined(texts: list[bytes]) -> bytes:
    """Several files as one stream of separate documents; a single file is unchanged."""
    joined = texts[0] if texts else b""
    for text in texts[1:]:
        text = text.removeprefix(BOM)
        if joined and not joined.endswith(b"\n"):
            joined += b"\n"
        if joined and not text.startswith((b"---\n", b"---\r", b"--- ")):
            joined += b"...\n" if text.startswith(b"%") else b"---\n"
        joined += text
    return joined


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", errors="surrogateescape")
