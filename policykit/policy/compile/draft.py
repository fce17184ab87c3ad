"""The state that every compile step uses: the models, the problems, the defined names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pydantic.alias_generators import to_camel

from policykit.manifests.path import Path
from policykit.namedtuple import NamedTuple
from policykit.policy.compile.card_labels import CardData
from policykit.policy.messages import Candidates
from policykit.policy.models import pool as written
from policykit.policy.models.policy import Policy
from policykit.policy.problems import Problems
from policykit.policy.tree import SourcedValue, find


class DefinedNames:
    """The names that a policy defines, collected once per section."""

    def __init__(self, tree: SourcedValue) -> None:
        self._tree = tree
        self._names: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._candidates: dict[str, Candidates] = {}

    def names(self, path: tuple[str, ...]) -> tuple[str, ...]:
        """Keys at a path, including those with invalid values."""
        known = self._names.get(path)
        if known is None:
            found = find(self._tree, path)
            entries = found.value.items() if found is not None and isinstance(found.value, dict) else ()
            known = tuple(name for name, entry in entries if entry.value is not None)
            self._names[path] = known
        return known

    def candidates(self, section: str) -> Candidates:
        if section not in self._candidates:
            self._candidates[section] = Candidates(self.names((section,)))
        return self._candidates[section]


class Draft(NamedTuple):
    """A policy while it is compiled."""

    policy: Policy
    problems: Problems
    tree: SourcedValue
    written: DefinedNames
    cards: Mapping[str, CardData] = {}
    texts: Mapping[str, str] = {}
    """Files that configurations of systems are merged into, by the names the policy gives them."""

    def names(self, *path: str) -> tuple[str, ...]:
        """Keys at a path, including those with invalid values."""
        return self.written.names(path)

    def did_you_mean(self, section: str, name: str) -> str:
        """A hint for a name that is missing from a section."""
        return self.written.candidates(section).hint(name)

    def has(self, section: str, name: str) -> bool:
        """Whether a section has an entry of that name, valid or not."""
        found = find(self.tree, (section, name))
        return found is not None and found.value is not None

    def usages(self) -> tuple[str, ...]:
        """Usages of the pools, in the policy's order."""
        found: dict[str, None] = {}
        for name in self.names("pools"):
            usage = find(self.tree, ("pools", name, "usage"))
            if usage is not None and isinstance(usage.value, str) and usage.value:
                found[usage.value] = None
        return tuple(found)

    def usages_known(self) -> bool:
        """False if a pool is so malformed that the usages cannot be determined."""
        fields = {to_camel(name) for name in written.Pool.model_fields} - {"usage"}
        if self.problems.broken(("pools",)):
            return False
        parts = [("pools", name, key) for name in self.names("pools") for key in self.names("pools", name)]
        return not any(self.problems.broken(part) for part in parts if part[2] not in fields)

    def check(self, path: Path, subject: str, problem: str, *, key: bool = False) -> None:
        """Reports what a predicate such as `label_value_problem` returned, unless it is empty."""
        if problem:
            self.problems.error(path, f"{subject} {problem}", key=key)


def unique(names: Iterable[str]) -> tuple[str, ...]:
    """The names without duplicates, in order."""
    return tuple(dict.fromkeys(names))
