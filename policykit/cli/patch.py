"""`policykit patch`: applies the workload kind of each recognised object to manifests."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any

from policykit import api
from policykit.cli import click
from policykit.cli.options import (
    allow_path,
    cache_of,
    cache_options,
    cluster_from,
    namespace_option,
    policy_option,
)
from policykit.cli.output import print_message, write_data
from policykit.errors import SourceError, UsageError, faults_at
from policykit.formats.diff import diff as unified
from policykit.formats.findings import counted
from policykit.linter.finding import listed
from policykit.linter.reader import BOM
from policykit.model.cluster import Cluster
from policykit.namedtuple import NamedTuple
from policykit.targets.workloads.companion_objects import Identity, OtherObjects
from policykit.targets.workloads.patch_options import PatchOptions
from policykit.targets.workloads.stream import ManifestText, PatchedText, objects, patch, unique_notices
from policykit.workspace.cache.folder import Cache
from policykit.workspace.files import discover, read
from policykit.workspace.gitops.clusters import policies_of
from policykit.workspace.policies import hint_without_policy
from policykit.workspace.safe_paths import SafePath, writable
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
    help="Queue to use. Default: the queue in the manifest if the policy has it, else that of the tenant of"
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
    help="First remove what an earlier policy wrote: that of a git revision, or another policy file.",
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
    sources = [*_sources(paths or (_STDIN,), stdin_filename, namespace)]
    others_of = _OtherObjects(sources)
    with _earlier(before) as earlier:
        done = [
            (source, _patched(source, _policies(source, policy, options, cache, earlier), options, others_of))
            for source in sources
        ]
        if in_place and policy:
            own = _Policy(cluster_from(policy, cache), earlier(policy))
            done = [
                (source, _for_others(source, patched, own, policy, options, cache, others_of))
                for source, patched in done
            ]
    options.check_found(one for _, patched in done for one in patched.objects)
    _print_notes(done)
    if in_place:
        _write(done)
    elif diff:
        write_data("".join(unified(s.path, _text(s.raw), _text(p.raw)) for s, p in done))
    else:
        write_data(_joined([patched.raw for _, patched in done]))
    return 0


def _sources(paths: Iterable[str], stdin_filename: str, namespace: str) -> Iterator[ManifestText]:
    """The inputs in the given order, each once."""
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


def _source(path: str, raw: bytes, namespace: str, *, rendered: bool = False) -> ManifestText:
    default_namespace = namespace or kustomization_namespace(_folder(path)) or "default"
    partial = not rendered and is_patch(path)
    return ManifestText(path, raw, default_namespace, partial=partial, rendered=rendered)


def _folder(path: str) -> str:
    return os.path.dirname(os.path.abspath(path))


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise SourceError("standard input is closed", "redirect a file or a pipe to it")
    if sys.stdin.isatty():
        raise UsageError("nothing to patch: standard input is a terminal", "name files, or pipe manifests in")
    return sys.stdin.buffer.read()


class _Policy(NamedTuple):
    """A policy that applies to an input."""

    cluster: Cluster
    before: Cluster | None = None
    """As it was earlier; None without `--from`."""


@contextmanager
def _earlier(reference: str) -> Iterator[Callable[[str], Cluster | None]]:
    """The earlier version of a policy; none without `--from`."""
    if not reference:
        yield lambda policy: None
        return
    from policykit.cli.base_revision import earlier_state

    with earlier_state(reference, os.getcwd()) as state:
        yield state.cluster


def _policies(
    source: ManifestText,
    policy: str | None,
    options: PatchOptions,
    cache: Cache,
    earlier: Callable[[str], Cluster | None],
) -> list[_Policy]:
    """The policies of an input, at least one: the one that -p names, else all that apply to it."""
    references = (policy,) if policy else policies_of(source.path)
    if not references:
        raise SourceError(
            "no policy in this or any parent folder",
            hint_without_policy("name one with -p, or see `policykit init`"),
            source.path,
        )
    found = [_Policy(cluster_from(each, cache), earlier(each)) for each in references]
    for one in found:
        options.check(one.cluster)
    return found


class _OtherObjects:
    """The objects of all inputs, read once and only if one is looked for."""

    def __init__(self, sources: Sequence[ManifestText]) -> None:
        self._sources = sources

    def __call__(self, source: ManifestText) -> OtherObjects:
        """Those of other inputs in the folder of one: another folder may be another environment, with objects
        of the same names."""
        folder = _folder(source.path)

        def find(name: Identity) -> Mapping[str, Any] | None:
            found = self._by_folder.get(folder, {}).get(name, ())
            return next((data for path, data in reversed(found) if path != source.path), None)

        return find

    @cached_property
    def _by_folder(self) -> Mapping[str, Mapping[Identity, Sequence[tuple[str, Mapping[str, Any]]]]]:
        found: dict[str, dict[Identity, list[tuple[str, Mapping[str, Any]]]]] = {}
        for one in self._sources:
            here = found.setdefault(_folder(one.path), {})
            for name, data in objects(one.raw, one.namespace).items():
                here.setdefault(name, []).append((one.path, data))
        return found


def _patched(
    source: ManifestText, policies: Sequence[_Policy], options: PatchOptions, others_of: _OtherObjects
) -> PatchedText:
    """The text that suits all policies. Raises SourceError if there is none."""

    def again(found: PatchedText, policy: _Policy) -> PatchedText:
        text = source._replace(raw=found.raw)
        return found.followed_by(patch(text, policy.cluster, options, others_of(source), policy.before))

    with faults_at(source.path):
        first, *others = policies
        found = again(PatchedText(source.raw), first)
        if not others:
            return found
        with suppress(SourceError):
            for policy in others:
                found = again(found, policy)
            if all(_suits(source, found, policy, options) for policy in policies):
                return found
    raise SourceError(
        f"{listed(sorted(policy.cluster.name for policy in policies))} apply it and need different things",
        f"write them into {_overlays(source)}, or name one policy with -p",
        source.path,
    )


def _suits(source: ManifestText, patched: PatchedText, policy: _Policy, options: PatchOptions) -> bool:
    """Whether a policy has nothing to add to a patched text, and its pools accept the pods as if it alone had
    patched it. Raises SourceError if they accept none."""
    cluster, before = policy
    if patch(source._replace(raw=patched.raw), cluster, options, before=before).raw != patched.raw:
        return False
    alone = patch(source, cluster, options, before=before).raw
    return alone == patched.raw or _accepting(alone, cluster) == _accepting(patched.raw, cluster)


def _accepting(raw: bytes, cluster: Cluster) -> list[tuple[str, ...]]:
    """Names of the pools that accept each pod set of a text."""
    return [
        tuple(landing.pool.name for landing in review.landings if landing.accepts)
        for review in api.where(raw, cluster)
    ]


def _overlays(source: ManifestText) -> str:
    from policykit.workspace.linting.run_policies import overlays_of

    found = overlays_of(source.path)
    return listed(found) if found else "an overlay of each"


def _print_notes(done: Sequence[tuple[ManifestText, PatchedText]]) -> None:
    """Prints the notes on each object, and each scheduler limitation at the first object it affects."""
    for note in (note for _, patched in done for note in patched.notes):
        print_message(f"policykit: {note}")
    for notice in unique_notices(notice for _, patched in done for notice in patched.notices):
        print_message(f"policykit: {notice}")
    for source, patched in done:
        for data in patched.unwritten:
            named = f"{data['kind']}/{data['metadata']['name']}"
            print_message(
                f"policykit: {source.path}: {named} is needed next to its workload, but this file cannot"
                " contain another document: add it yourself"
            )


def _for_others(
    source: ManifestText,
    patched: PatchedText,
    own: _Policy,
    policy: str,
    options: PatchOptions,
    cache: Cache,
    others_of: _OtherObjects,
) -> PatchedText:
    """The text with what other policies that apply to the file need as well. Raises SourceError if there is
    none that suits them all."""
    from policykit.workspace.linting.run_policies import shared_with

    shared = shared_with(source.path, policy) if patched.raw != source.raw else []
    if not shared:
        return patched
    others: list[_Policy] = []
    differs = shared[0]
    with suppress(SourceError, UsageError):
        for differs in shared:
            other = _Policy(cluster_from(differs.policy, cache))
            options.check(other.cluster)
            others.append(other)
            found = _patched(source, (own, *others), options, others_of)
        return found
    raise SourceError(
        f"nothing is written: {differs.shown} applies to the file too, and needs something else",
        differs.advice,
        source.path,
    )


def _write(done: Iterable[tuple[ManifestText, PatchedText]]) -> None:
    """Writes all changed files, or none. A file with several names is written once."""
    changed: dict[str, tuple[SafePath, ManifestText, PatchedText]] = {}
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


def _check_replaceable(source: ManifestText) -> None:
    if not os.path.isfile(source.path):
        raise SourceError("is not a regular file", "omit --in-place", source.path)
    if read(source.path) != source.raw:
        raise SourceError("was changed during the run", "run it again", source.path)


def _joined(texts: Sequence[bytes]) -> bytes:
    """Several files as one stream of separate documents; a single file is unchanged."""
    parts = [*texts[:1]]
    last = parts[0] if parts else b""
    for text in texts[1:]:
        text = text.removeprefix(BOM)
        if last and not last.endswith(b"\n"):
            parts.append(b"\n")
        if last and not text.startswith((b"---\n", b"---\r", b"--- ")):
            parts.append(b"...\n" if text.startswith(b"%") else b"---\n")
        parts.append(text)
        last = text or (last and b"\n")
    return b"".join(parts)


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", errors="surrogateescape")
