"""`policykit plan`: what a changed policy does to running workloads, and the safe way there."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from policykit import api
from policykit.cli import click
from policykit.cli.base_revision import EarlierState, earlier_state
from policykit.cli.options import allow_path, cache_of, cache_options, cluster_from, policy_option
from policykit.cli.output import print_message, write_output
from policykit.errors import PolicykitError, SourceError, UsageError
from policykit.generator.header import owner
from policykit.linter.builds.locations import SourceLocator
from policykit.linter.builds.source_files import ParsedTexts
from policykit.linter.input_file import TEXT, BuiltKustomization, InputFile
from policykit.linter.reader import decode
from policykit.linter.scope import LocatedFact
from policykit.model.cluster import Cluster
from policykit.model.gang import PodGroup
from policykit.placement.review import Review
from policykit.targets.workloads.patch_options import PatchOptions
from policykit.targets.workloads.stream import ManifestText, patch
from policykit.workspace.cache.folder import Cache
from policykit.workspace.files import read, repository_root
from policykit.workspace.git import default_base, top_of
from policykit.workspace.kustomizations import components_of, used_by
from policykit.workspace.linting.loader import OpenResult, open_units
from policykit.workspace.linting.request import Request
from policykit.workspace.policies import (
    hint_without_policy,
    is_cluster,
    nearest_policy,
    policy_files,
    shown_as,
)
from policykit.workspace.safe_paths import is_within
from policykit.workspace.scopes import is_patch, kustomization_namespace, kustomization_root

if TYPE_CHECKING:
    from policykit.manifests.document import Manifest
    from policykit.plan.plan import Plan
    from policykit.plan.transition import GoneObject
    from policykit.targets.workloads.companion_objects import Identity

_HEAD = 4096
"""The header of a generated file is within this many bytes."""


def applied(policy: str, paths: Sequence[str], cache: Cache) -> OpenResult:
    """The files that a policy judges among some paths, with their builds. Without paths: all that the
    cluster of the policy is said to apply, else the folder of the policy, which is a file then."""
    from policykit.workspace.gitops.clusters import sources_of

    absolute = os.path.abspath(policy)
    folder = os.path.dirname(absolute)
    stated = not policy.startswith("profile:") and bool(sources_of(absolute))
    scope = (repository_root(folder) or folder) if stated else folder
    paths = tuple(paths) or (os.path.relpath(scope),)
    return open_units(Request(paths, (policy,), only_applied=stated, cache=cache))


def reviews(opened: OpenResult, cluster: Cluster, folder: str = "") -> Iterator[tuple[str, Review]]:
    """Every pod set under a cluster, with its file; `folder`: of an earlier revision, to which files are
    relative. Generated files are left out."""
    workspace = opened.workspace
    read = _Reader(opened, cluster, earlier=bool(folder))
    for input_file in filter(_is_read, workspace.input_files):
        yield from ((_shown(path, folder), review) for path, review in read.file(input_file))
    for build in workspace.builds:
        yield from ((_shown(path, folder), review) for path, review in read.build(build))


def pod_groups(opened: OpenResult, cluster: Cluster) -> Iterator[PodGroup]:
    """PodGroups of the files and builds whose pod sets `reviews` has."""
    workspace = opened.workspace
    builds = (build.input_file for build in workspace.builds)
    for input_file in (*filter(_is_read, workspace.input_files), *builds):
        raw = workspace.read(input_file.file)
        if b"PodGroup" in raw:
            here = os.path.dirname(os.path.abspath(input_file.file))
            namespace = input_file.namespace or kustomization_namespace(here) or "default"
            for fact in api.facts(input_file.path, raw, cluster, namespace):
                if isinstance(fact, LocatedFact) and isinstance(fact.value, PodGroup):
                    yield fact.value


def _is_read(input_file: InputFile) -> bool:
    """Whether it is read as it is written: not a patch, nor only a source of builds."""
    is_source = input_file.only == TEXT and not input_file.components
    return not (input_file.partial or is_source or is_patch(input_file.file))


def _shown(path: str, folder: str) -> str:
    return os.path.relpath(os.path.realpath(path), folder) if folder else path


class _Reader:
    """Reads pod sets of files and builds."""

    def __init__(self, opened: OpenResult, cluster: Cluster, *, earlier: bool) -> None:
        self._workspace = opened.workspace
        self._cluster = cluster
        self._earlier = earlier
        self._parsed = ParsedTexts()
        self._generated: dict[str, bool] = {}

    def file(self, input_file: InputFile) -> Iterator[tuple[str, Review]]:
        """A file as it is written, completed by generated components that a kustomization lists for it."""
        raw = self._workspace.read(input_file.file)
        if self._is_generated(input_file.file, raw):
            return
        here = os.path.dirname(os.path.abspath(input_file.file))
        namespace = input_file.namespace or kustomization_namespace(here) or "default"
        if input_file.components or self._uses_components(here):
            raw = _completed(ManifestText(input_file.path, raw, namespace), self._cluster)
        # What is broken in an earlier revision may be mended now.
        path = "" if self._earlier else input_file.path
        for review in api.where(raw, self._cluster, namespace, path):
            yield input_file.path, review

    def build(self, build: BuiltKustomization) -> Iterator[tuple[str, Review]]:
        """Objects as they are built, without those that `file` completes."""
        places = SourceLocator(build, self._workspace.read, self._parsed)
        names = {input_file.path: file for file, input_file in build.names.items()}
        completed = components_of(build.tree)
        raw = self._workspace.read(build.input_file.file)
        for review in api.where(raw, self._cluster, build.input_file.namespace or "default"):
            place = places.of_object(review.manifest, review.pod_set.path)
            path = place[0] if place else build.shown
            if names.get(path) not in completed and not self._is_generated(path):
                yield path, review

    def _is_generated(self, path: str, raw: bytes | None = None) -> bool:
        if path not in self._generated:
            if raw is None:
                raw = self._workspace.read(path) if os.path.isfile(path) else b""
            self._generated[path] = bool(owner(decode(raw[:_HEAD]).text))
        return self._generated[path]

    def _uses_components(self, folder: str) -> bool:
        """Whether the kustomization of a folder lists a component that the policy generates."""
        cluster = self._cluster
        root = kustomization_root(folder)
        if not root or not cluster.output:
            return False
        output = os.path.join(os.path.dirname(cluster.source), cluster.output, "workloads")
        return any(is_within(each, os.path.realpath(output)) for each in used_by(root))


def _completed(source: ManifestText, cluster: Cluster) -> bytes:
    """A manifest as generated components complete it."""
    try:
        return patch(source, cluster, PatchOptions()).raw
    except PolicykitError:
        return source.raw  # judged as it is written


_FORMATS = ("text", "markdown", "json")


@click.command("plan")
@click.argument("paths", nargs=-1)
@click.option(
    "--from",
    "before",
    metavar="REV|FILE",
    default="",
    help="A git revision with its policy and manifests, or another policy file with the present manifests."
    " Default: the base of the merge request, else the commit where the branch left the remote's default"
    " branch.",
)
@policy_option
@click.option("--all", "every", is_flag=True, help="Every policykit.yaml of the repository.")
@click.option(
    "--nodes", metavar="FILE", help="Output of `kubectl get nodes -o json`, to name the nodes of each pool."
)
@click.option(
    "--pods",
    metavar="FILE",
    help="Output of `kubectl get pods -A -o json`, to list the pods that run on changed nodes.",
)
@click.option(
    "--queues",
    metavar="FILE",
    help="Live Queues or ClusterQueues as JSON, to see which removed queues are in use.",
)
@click.option("--format", "format_", type=click.Choice(_FORMATS), default="text", show_default=True)
@allow_path
@cache_options
def command(
    paths: tuple[str, ...],
    before: str,
    policy: str | None,
    every: bool,
    nodes: str | None,
    pods: str | None,
    queues: str | None,
    format_: str,
    cache_dir: str | None,
    no_cache: bool,
) -> int:
    """Show what a policy change does: what changes, who is affected, and steps for it in a safe order.

    Exit 0 if one merge is enough and everything that could run still can, 1 otherwise.
    """
    if every and (policy or nodes or pods or queues):
        raise UsageError("--all cannot be combined with -p, --nodes, --pods or --queues", "name one policy")
    cache = cache_of((*paths, policy or ""), cache_dir, no_cache)
    policies = _policies(policy, every)
    reference = before or _default(policies[0])
    code = 0
    with earlier_state(reference, os.path.dirname(os.path.abspath(policies[0])) or os.curdir) as state:
        texts = []
        for one in policies:
            if every and not state.has(one):
                print_message(
                    f"policykit: {shown_as(one)}: {state.title} has no such policy: nothing to compare"
                )
                continue
            plan = _plan(one, state, paths, (nodes, pods, queues), cache)
            code = max(code, int(not plan.is_harmless))
            texts.append(_formatted(plan, state.title, format_))
    write_output("\n".join(texts))
    return code


def _policies(policy: str | None, every: bool) -> list[str]:
    if every:
        files = policy_files(repository_root(os.getcwd()) or os.getcwd())
        found = [path for path in files if is_cluster(path)]
        if not found:
            raise UsageError("no policykit.yaml found in the repository", "name one with -p, without --all")
        return found
    one = policy or nearest_policy(os.getcwd())
    if not one:
        hint = hint_without_policy("name one with -p")
        raise UsageError("no policykit.yaml found in this or any parent folder", hint)
    return [one]


def _default(policy: str) -> str:
    revision, why = default_base(top_of(os.path.dirname(os.path.abspath(policy))))
    print_message(f"policykit: compared with {revision}: {why}")
    return revision


def _formatted(plan: Plan, source: str, format_: str) -> str:
    from policykit.formats import plan as formats

    written = {"text": formats.text, "markdown": formats.markdown, "json": formats.json_text}
    return written[format_](plan, source)


def _plan(
    policy: str,
    state: EarlierState,
    paths: Sequence[str],
    live: tuple[str | None, str | None, str | None],
    cache: Cache,
) -> Plan:
    from policykit.cli.reports import about_builds
    from policykit.plan.plan import Live, make_plan
    from policykit.plan.queues import LIVE_KINDS
    from policykit.workspace.inputs import cluster_of_nodes

    before, after = state.cluster(policy), cluster_from(policy, cache)
    nodes, pods, queues = live
    if policy.startswith("profile:") and not paths:
        paths = (os.curdir,)
    opened = applied(policy, paths, cache)
    for failure in opened.notes.failures:
        raise SourceError(failure)
    for line in about_builds(opened.workspace, opened.notes, every=False):
        print_message(line)
    now = list(reviews(opened, after))
    groups = list(pod_groups(opened, after))
    if state.file:
        then, old = list(reviews(opened, before)), groups
    else:
        then, old = _earlier(policy, state, paths, before, cache)
    there = Live(
        cluster_of_nodes(nodes).pools if nodes else (),
        _objects(pods, "Pod") if pods else (),
        _objects(queues, *LIVE_KINDS) if queues else (),
    )
    source = state.file or state.title
    gone = tuple(_gone(before, after))
    return make_plan(
        before,
        after,
        then,
        now,
        there,
        source=source,
        commit=state.commit[:12],
        gone=gone,
        pod_groups=(old, groups),
    )


def _gone(before: Cluster, after: Cluster) -> Iterator[GoneObject]:
    """Objects that the present policy does not generate any more."""
    from policykit.plan.transition import GoneObject

    if before == after:
        return
    kept = frozenset(_generated(after))
    for one in dict.fromkeys(_generated(before)):
        group, kind, namespace, name = one
        if one not in kept:
            yield GoneObject(f"{kind}.{group}" if group else kind, namespace, name)


def _generated(cluster: Cluster) -> Iterator[Identity]:
    from policykit import api
    from policykit.generator.artifact import Role
    from policykit.targets.workloads.stream import objects

    for artifact in api.generate(cluster).artifacts:
        if artifact.role is Role.MANIFEST:
            yield from objects(artifact.text.encode(), "")


def _earlier(
    policy: str, state: EarlierState, paths: Sequence[str], cluster: Cluster, cache: Cache
) -> tuple[list[tuple[str, Review]], list[PodGroup]]:
    """The pod sets and PodGroups of a revision, as its own kustomizations and `applies` have them."""
    from policykit.workspace.command_state import aside

    there = [path for path in map(state.path, paths) if os.path.lexists(path)]
    if paths and not there:
        return [], []
    source = policy if policy.startswith("profile:") else state.path(policy)
    with aside():
        opened = applied(source, there, cache)
        return list(reviews(opened, cluster, state.folder)), list(pod_groups(opened, cluster))


def _objects(path: str, *kinds: str) -> tuple[Manifest, ...]:
    from policykit.importer.files import objects, text

    found = tuple(each for each in objects(text(read(path), path), path) if each.kind in kinds)
    if not found:
        commands = " or ".join(f"`kubectl get {kind.lower()}s -o json`" for kind in kinds)
        raise SourceError(f"contains no {' or '.join(kinds)} objects", f"pass the output of {commands}", path)
    return found
