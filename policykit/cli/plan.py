"""`policykit plan`: what a changed policy does to running workloads, and the safe way there."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from policykit.cli import click
from policykit.cli.earlier import EarlierState, earlier_state
from policykit.cli.options import allow_path, cache_of, cache_options, policy_option
from policykit.cli.output import print_message, write_output
from policykit.cli.policy import cluster_from
from policykit.errors import SourceError, UsageError
from policykit.workspace.files import read, repository_root
from policykit.workspace.policies import is_cluster, nearest_policy, policy_files, shown_as
from policykit.workspace.revisions import default_base, top_of

if TYPE_CHECKING:
    from policykit.manifests.document import Manifest
    from policykit.model.cluster import Cluster
    from policykit.placement.review import Review
    from policykit.plan.plan import Plan
    from policykit.workspace.cache.folder import Cache

_FORMATS = ("text", "markdown", "json")


@click.command("plan")
@click.argument("paths", nargs=-1)
@click.option(
    "--from",
    "before",
    metavar="REV|FILE",
    default="",
    help="A git revision with its policy and manifests, or another policy file with the present manifests."
    " Default: the base of the merge request, else where the branch left the remote's default branch.",
)
@policy_option
@click.option("--all", "every", is_flag=True, help="Every policykit.yaml of the repository.")
@click.option(
    "--nodes", metavar="FILE", help="Output of `kubectl get nodes -o json`: which nodes are in a pool."
)
@click.option(
    "--pods", metavar="FILE", help="Output of `kubectl get pods -A -o json`: who runs on what changes."
)
@click.option("--queues", metavar="FILE", help="Live queues as JSON: which of those that go are in use.")
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
    """Show what a changed policy does: what changes, who is affected, and the steps there in a safe order.

    Exit 0 if one merge is enough and nothing that landed lands nowhere, 1 otherwise.
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
    else:
        one = policy or nearest_policy(os.getcwd())
        found = [one] if one else []
    if not found:
        raise UsageError("no policykit.yaml found in this or any parent folder", "name one with -p")
    return found


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
    from policykit.cli.applied_pods import applied, reviews
    from policykit.cli.linting.messages import about_builds
    from policykit.plan.plan import make_plan
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
    then = list(reviews(opened, before)) if state.file else _earlier(policy, state, paths, before, cache)
    return make_plan(
        before,
        after,
        then,
        now,
        cluster_of_nodes(nodes).pools if nodes else (),
        _objects(pods, "Pod") if pods else (),
        _objects(queues, "Queue") if queues else (),
    )


def _earlier(
    policy: str, state: EarlierState, paths: Sequence[str], cluster: Cluster, cache: Cache
) -> list[tuple[str, Review]]:
    """The pod sets of a revision, as its own kustomizations and `applies` have them."""
    from policykit.cli.applied_pods import applied, reviews
    from policykit.workspace.disk import aside

    there = [path for path in map(state.path, paths) if os.path.lexists(path)]
    if paths and not there:
        return []
    source = policy if policy.startswith("profile:") else state.path(policy)
    with aside():
        return list(reviews(applied(source, there, cache), cluster, state.folder))


def _objects(path: str, kind: str) -> list[Manifest]:
    from policykit.importer.documents import objects, text

    found = [each for each in objects(text(read(path), path), path) if each.kind == kind]
    if not found:
        raise SourceError(
            f"contains no {kind} objects", f"pass the output of `kubectl get {kind.lower()}s -o json`", path
        )
    return found
