"""What the releases of a policy lack, according to the tables of all targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from policykit.linter.target import Target
from policykit.model.cluster import Cluster
from policykit.model.release import ReleaseFact, Releases, Version
from policykit.namedtuple import NamedTuple
from policykit.targets import TARGETS


class Missing(NamedTuple):
    """Something that a release lacks."""

    target: Target
    fact: ReleaseFact
    version: Version | None
    """None: the policy states no release, and no supported one has it."""

    @property
    def reason(self) -> str:
        """`Volcano 1.12.4 does not read annotation X: it was added in 1.13.0`."""
        fact = self.fact
        who = f"{self.target.title} {self.version}" if self.version else self.target.title
        verb = "has no" if fact.what == "kind" else "does not read"
        name = f"{fact.part_name} of {fact.name}" if fact.part else fact.name
        when = f"it was added in {fact.since}" if self._is_new else f"it was removed in {fact.gone}"
        return f"{who} {verb} {fact.what} {name}: {when}"

    @property
    def help(self) -> str:
        """What to do."""
        if self.fact.instead and self.fact.part:
            return f"this release takes it for {self.fact.instead}: upgrade, or remove it"
        if self.fact.instead:
            return f"write {self.fact.instead}"
        return f"upgrade {self.target.title}, or remove it" if self._is_new else "remove it"

    @property
    def _is_new(self) -> bool:
        since = self.fact.since
        return since is not None and self.version is not None and self.version < since


def missing(what: str, names: Mapping[str, str], cluster: Cluster | None) -> Iterator[Missing]:
    """Those of the names, with their values, that the releases of a policy lack."""
    for name, value in names.items():
        for target, fact in _facts(what).get(name, ()):
            version = stated(target, cluster)
            lacking = not fact.read_by(version) if version else _is_gone(target, fact)
            if lacking and fact.is_stated(value):
                yield Missing(target, fact, version)


def stated(target: Target, cluster: Cluster | None) -> Version | None:
    """The release of a target that a policy states; None: it states none."""
    settings = cluster.targets.get(target.name) if cluster else None
    known = table(target)
    return known.parse(settings.version) if known and settings and settings.version else None


def table(target: Target) -> Releases | None:
    """The releases of a target; None: nothing about it depends on the release."""
    return target.releases.load() if target.releases else None


def facts(target: Target) -> tuple[ReleaseFact, ...]:
    """What only some releases of a target have."""
    return target.release_facts.load() if target.release_facts else ()


def _is_gone(target: Target, fact: ReleaseFact) -> bool:
    """Whether no supported release has it."""
    known = table(target)
    return known is not None and fact.gone is not None and fact.gone <= known.oldest


@cache
def _facts(what: str) -> dict[str, list[tuple[Target, ReleaseFact]]]:
    found: dict[str, list[tuple[Target, ReleaseFact]]] = {}
    for target in TARGETS:
        for fact in facts(target):
            if fact.what == what:
                found.setdefault(fact.name, []).append((target, fact))
    return found
