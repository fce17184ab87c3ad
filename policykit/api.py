"""The engines joined to the rules and the targets: lint, where, generate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from policykit.kube.structure.served import NOTHING, Served
from policykit.linter.finding import Report
from policykit.linter.member import Member
from policykit.linter.plan import ResultCache, Run, Setting
from policykit.linter.registry import RuleSet
from policykit.linter.selection import choose
from policykit.rules import CATALOGUE, entries, rule

if TYPE_CHECKING:
    from policykit.generator.artifact import Artifact, Generated, Notice
    from policykit.kube.structure.shapes import Schema
    from policykit.linter.built.tree import Built
    from policykit.linter.mend import Mended
    from policykit.linter.policies import Policy
    from policykit.model.cluster import Cluster, LintSettings
    from policykit.placement.review import Review


def setting(
    cluster: Cluster | None = None,
    lint: LintSettings | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    namespace: str = "default",
    *,
    timed: bool = False,
    below: str = "",
    custom: Mapping[tuple[str, str], Schema] = NOTHING.custom,
    preset: str = "",
) -> Setting:
    """What governs a group of files; `timed`: its rules measure the time they take.

    `below`: the current folder as seen from that of the settings, where it is below: `apps/`.
    `custom`: the user's own kinds, by apiVersion and kind. `preset`: instead of what the settings choose.
    Raises UsageError for a rule that does not exist.
    """
    able = entries(with_policy=cluster is not None)
    settings = lint or (cluster.lint if cluster else None)
    chosen = choose(CATALOGUE, settings, select, ignore, below, preset)
    silent = len(chosen.codes.difference(entry.code for entry in able))
    able_rules = RuleSet(able, rule, silent)
    able_rules.timed = timed
    served = Served(_releases(cluster), custom)
    plugins = settings.extra_plugins if settings else ()
    return Setting(able_rules, chosen, cluster, namespace, None if custom else b"", served, plugins)


def _releases(cluster: Cluster | None) -> dict[str, str]:
    """Systems to the release that the policy states."""
    if cluster is None:
        return {}
    stated = {name: target.version for name, target in cluster.targets.items()}
    stated["kubernetes"] = cluster.kubernetes_version
    return {name: version for name, version in stated.items() if version}


def lint(
    members: Sequence[Member],
    settings: Sequence[Setting],
    read: Callable[[str], bytes],
    surroundings: Callable[[str], Iterable[Member]],
    sizes: Sequence[int] = (),
    workers: int = 0,
    *,
    fixes: bool = False,
    today: str = "",
    policies: Sequence[Policy] = (),
    cache: ResultCache | None = None,
    built: Sequence[Built] = (),
) -> Report:
    """Findings over many files; `workers` 0 takes the processors there are when it pays.

    `fixes`: each finding comes with its fix, where there is one. `today`, YYYY-MM-DD: suppressions
    with an earlier end hide nothing; empty: none has ended. `policies`: those that are looked at
    themselves. `cache`: what files gave in earlier runs. `built`: kustomizations whose objects are
    looked at as they are built.
    """
    from policykit.linter.run import run
    from policykit.targets import SYSTEMS

    work = Run(
        tuple(members),
        tuple(settings),
        SYSTEMS,
        read,
        surroundings,
        tuple(sizes),
        fixes,
        today,
        tuple(policies),
        cache,
        tuple(built),
    )
    return run(work, workers)


def fix(
    members: Sequence[Member],
    settings: Sequence[Setting],
    read: Callable[[str], bytes],
    surroundings: Callable[[str], Iterable[Member]],
    sizes: Sequence[int] = (),
    workers: int = 0,
    *,
    narrow: Callable[[Report], Report] = lambda report: report,
    unsafe: bool = False,
    today: str = "",
    policies: Sequence[Policy] = (),
    built: Sequence[Built] = (),
) -> Mended:
    """Fixes what can be fixed, and tells what remains; nothing is written.

    `narrow` leaves out findings that nobody asked about: they are neither fixed nor told.
    """
    from policykit.linter.mend import mend

    def looked(reading: Callable[[str], bytes], paths: frozenset[str]) -> Report:
        some = [member for member in members if member.path in paths] if paths else members
        bytes_of = () if paths else sizes
        report = lint(
            some,
            settings,
            reading,
            surroundings,
            bytes_of,
            workers,
            fixes=True,
            today=today,
            policies=() if paths else policies,
            built=() if paths else built,
        )
        return narrow(report)

    return mend(looked, read, {member.path: member.file for member in members}, unsafe=unsafe)


def lint_texts(
    texts: dict[str, bytes],
    cluster: Cluster | None = None,
    select: Sequence[str] = (),
    complete: bool = True,
    today: str = "",
) -> Report:
    """Findings over texts in memory, by path; `complete`: together they are a whole scope."""
    scope = "memory" if complete else ""
    members = [Member(path, path, scope, 0) for path in texts]
    chosen = setting(cluster, select=select)
    return lint(members, [chosen], texts.__getitem__, lambda _: members, workers=1, today=today)


def fix_texts(
    texts: dict[str, bytes],
    cluster: Cluster | None = None,
    select: Sequence[str] = (),
    *,
    unsafe: bool = False,
    complete: bool = True,
    today: str = "",
) -> Mended:
    """Fixes texts in memory, by path; `complete`: together they are a whole scope."""
    members = [Member(path, path, "memory" if complete else "", 0) for path in texts]
    chosen = [setting(cluster, select=select)]
    return fix(members, chosen, texts.__getitem__, lambda _: members, unsafe=unsafe, workers=1, today=today)


def where(raw: bytes, cluster: Cluster, namespace: str = "default") -> Iterator[Review]:
    """Every pod set of a file under a policy, in document order; unreadable documents are left out.

    The reasons are in the order of the scheduler that places the pods.
    """
    from policykit.kube import podsets
    from policykit.linter.reader import decode, documents
    from policykit.manifests.document import manifests
    from policykit.placement.review import review, with_resources_first
    from policykit.targets import system_of

    for index, document in enumerate(documents(decode(raw))):
        if document.root is None or document.problem:
            continue
        for manifest in manifests(document.root, index):
            for pod_set in podsets.pod_sets(manifest.data):
                found = review(manifest, pod_set, cluster, namespace)
                by_volcano = system_of(pod_set.scheduler_name, cluster) == "volcano"
                yield with_resources_first(found) if by_volcano else found


def generate(cluster: Cluster, targets: Sequence[str] = ()) -> Generated:
    """What every target (or only the named ones) writes for a cluster, sorted by path."""
    from policykit.generator.artifact import Generated
    from policykit.targets import writers

    artifacts: list[Artifact] = []
    notices: list[Notice] = []
    for name, write in writers(cluster):
        if targets and name not in targets:
            continue
        generated = write(cluster)
        artifacts.extend(generated.artifacts)
        notices.extend(generated.notices)
    return Generated(tuple(sorted(artifacts, key=lambda a: a.path)), tuple(notices))
