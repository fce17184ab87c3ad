"""Reads policy files and the files they extend; each value keeps its source file."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from policykit import bundled
from policykit.errors import SourceError
from policykit.manifests.node import Duplicate, Node
from policykit.manifests.parser import ParsedDocument, parse
from policykit.manifests.parser import Problem as SyntaxProblem
from policykit.manifests.path import Path, dotted
from policykit.manifests.writer import scalar
from policykit.policy.problems import Problems, describe, did_you_mean
from policykit.policy.tree import PolicyFile, Position, SourcedValue, merge, nulls, position, sourced_value

Reader = Callable[[str], bytes]
"""Bytes of a file by its path. Raises SourceError or OSError if it cannot be read."""

API_VERSION = "policykit.io/v1alpha1"
KIND = "Policy"
PROFILE = "profile:"
MAX_FILES = 100
"""Most files of one policy: links that lead back would otherwise yield endless names."""
MAX_BYTES = 10_000_000
"""Most bytes of the files that a policy extends, in total."""
_OURS = re.compile(r"""apiVersion["']?\s*:\s*["']?policykit\.io/""")
"""Matches invalid YAML that is meant to be a policy."""
_OWN = frozenset({"apiVersion", "kind", "extends"})
"""Keys that apply only to the file they are in."""
_NAMED = frozenset(
    {"cards", "pools", "placements", "workloads", "queues", "tenants", "priorities", "quotas"}
    | {"reservations", "targets"}
)


class Files:
    """The files of one policy, read once each."""

    def __init__(self, read: Reader, problems: Problems) -> None:
        self._read = read
        self._problems = problems
        self.names: list[str] = []
        """Every file and profile:NAME that was read."""
        self.sources: dict[str, PolicyFile] = {}
        """Those that are maps, in the order they were read."""
        self.complete = True
        """False once a base could not be read: its contents are unknown then."""
        self._merged: dict[str, SourcedValue | None] = {}
        """Bases by name, each merged with what it extends: several files may extend the same one."""
        self._size = 0
        """Bytes of the bases."""

    def resolve(self, name: str) -> SourcedValue | None:
        """The policy at a path or profile:NAME, merged with all it extends; None if it is not a map.

        Raises SourceError if this first file cannot be read.
        """
        return self._whole(name, self.read(name), (posixpath.normpath(name),))

    def text(self, name: str, text: bytes) -> SourcedValue | None:
        """The same for a policy given as text; its paths are relative to `name`."""
        self.names.append(name)
        return self._whole(name, text, (posixpath.normpath(name),))

    def read(self, name: str) -> bytes:
        """Bytes of a file or bundled profile. Raises SourceError."""
        if name not in self.names:
            self.names.append(name)
        if name.startswith(PROFILE):
            return _profile(name)
        try:
            return self._read(name)
        except SourceError:
            raise
        except OSError as error:
            raise SourceError(f"cannot be read: {error.strerror or error}", "check the path", name) from None

    def _whole(self, name: str, content: bytes, chain: tuple[str, ...]) -> SourcedValue | None:
        tree = self._one(name, content)
        if tree is None:
            return None
        bases = self._bases(tree, name, chain)
        tree = SourcedValue({key: value for key, value in tree.value.items() if key not in _OWN}, tree.source)
        if name not in self._problems.files:
            self._problems.files.append(name)
        self._notice_nulls(tree, bases)
        return merge(bases, tree) if bases else tree

    def _one(self, name: str, content: bytes) -> SourcedValue | None:
        """Checks one file by itself: syntax, duplicate keys, apiVersion and kind."""
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content[: error.start].count(b"\n") + 1
            self._problems.at(Position(name, line, 1), "the file is not UTF-8 text", "save it as UTF-8")
            return None
        documents = [d for d in parse(text) if d.root is not None or d.problem]
        for document in documents:
            if document.problem:
                self._problems.at(*_syntax_problem(name, text, document.problem, document.start_line))
        if any(document.problem for document in documents):
            return None
        return self._single(name, documents)

    def _single(self, name: str, documents: list[ParsedDocument]) -> SourcedValue | None:
        roots = [document.root for document in documents if document.root is not None]
        if not roots:
            self._problems.at(
                Position(name, 1, 1), "the file is empty", "run `policykit init` to create a policy"
            )
            return None
        for extra in roots[1:]:
            place = Position(name, extra.start.line + 1, extra.start.column + 1)
            self._problems.at(
                place, "a policy is a single document, but this is another one", "move it to its own file"
            )
        root = roots[0]
        if not isinstance(root.entries, dict):
            place = Position(name, root.start.line + 1, root.start.column + 1)
            what = "list" if isinstance(root.data, list) else "single value"
            self._problems.at(place, f"a policy must be a map, not a {what}")
            return None
        if not _is_meant(root.data):
            return self._foreign(name, root)
        self._duplicates(name, root, documents[0].duplicates)
        self.sources[name] = PolicyFile(name, root)
        tree = sourced_value(root, self.sources[name])
        self._identity(tree, "apiVersion", API_VERSION)
        self._identity(tree, "kind", KIND)
        return tree

    def _duplicates(self, name: str, root: Node, duplicates: Sequence[Duplicate]) -> None:
        homes = _homes(root, {id(duplicate.node) for duplicate in duplicates}) if duplicates else {}
        for duplicate in duplicates:
            place = Position(name, duplicate.node.start.line + 1, duplicate.node.start.column + 1)
            where = dotted((*homes.get(id(duplicate.node), ()), duplicate.key))
            self._problems.at(
                place,
                f"{where} is duplicated, first in line {duplicate.first.start.line + 1}",
                "rename or remove one of them",
            )

    def _foreign(self, name: str, root: Node) -> SourcedValue:
        """Reports a map that is not a policy, without quoting it."""
        place = Position(name, root.start.line + 1, root.start.column + 1)
        for key, wanted in (("apiVersion", API_VERSION), ("kind", KIND)):
            if key not in root.data:
                self._problems.at(place, f"{key} is missing", f"add {key}: {wanted}")
            elif root.data[key] != wanted:
                self._problems.at(place, f"{key} must be {wanted}", "only policies can be read")
        self.complete = self.complete and name == self.names[0]
        self.sources[name] = PolicyFile(name, root)
        return SourcedValue({}, self.sources[name])

    def _identity(self, tree: SourcedValue, key: str, wanted: str) -> None:
        entry = tree.value.get(key)
        place = position(tree, (key,))
        if entry is None:
            self._problems.at(place, f"{key} is missing", f"add {key}: {wanted}")
        elif entry.value != wanted:
            shown = entry.value if isinstance(entry.value, str) else describe(entry.value)
            self._problems.at(
                place, f"{key} must be {wanted}, not {shown}", _identity_hint(entry.value, wanted)
            )

    def _bases(self, tree: SourcedValue, name: str, chain: tuple[str, ...]) -> SourcedValue | None:
        """The files in `extends`, merged in order; None if there are none."""
        merged: SourcedValue | None = None
        for reference, place in self._references(tree):
            base = self._base(relative(name, reference), reference, place, chain)
            if base is None:
                self.complete = False
            else:
                merged = merge(merged, base) if merged else base
        return merged

    def _base(
        self, target: str, reference: str, place: Position, chain: tuple[str, ...]
    ) -> SourcedValue | None:
        if target in chain:
            circle = " -> ".join((*chain[chain.index(target) :], target))
            self._problems.at(place, f"extends forms a cycle: {circle}", "remove one of these references")
            return None
        if target in self._merged:
            return self._merged[target]
        if len(self._merged) >= MAX_FILES:
            self._too_much(place, f"{reference}: a policy can extend at most {MAX_FILES} files")
            return None
        try:
            content = self.read(target)
        except SourceError as error:
            self._problems.at(place, f"{reference}: {error.message}", error.hint)
            return None
        self._size += len(content)
        if self._size > MAX_BYTES:
            self._too_much(place, f"{reference}: a policy can extend at most {MAX_BYTES // 10**6} MB")
            return None
        self._merged[target] = None  # count it while it is read
        self._merged[target] = tree = self._whole(target, content, (*chain, target))
        return tree

    def _too_much(self, place: Position, message: str) -> None:
        self._problems.at(place, message, "combine several files into one")
        self.complete = False

    def _references(self, tree: SourcedValue) -> Iterator[tuple[str, Position]]:
        extends = tree.value.get("extends")
        if extends is None or extends.value is None:
            return
        if not isinstance(extends.value, list):
            hint = f"write a list: [{scalar(extends.value)}]" if isinstance(extends.value, str) else ""
            place = position(tree, ("extends",))
            self._problems.at(place, f"extends must be a list, not {describe(extends.value)}", hint)
            return
        if len(extends.value) > MAX_FILES:
            place = position(tree, ("extends",))
            self._too_much(
                place, f"extends lists {len(extends.value)} files, more than the maximum of {MAX_FILES}"
            )
            return
        for number, item in enumerate(extends.value):
            place = position(tree, ("extends", number))
            if isinstance(item.value, str) and item.value:
                yield item.value, place
            else:
                self._problems.at(place, f"extends[{number}] must be a string", "use a path or profile:NAME")

    def _notice_nulls(self, tree: SourcedValue, bases: SourcedValue | None) -> None:
        for path in nulls(tree):
            if not _there(bases, path) and (bases or (len(path) == 2 and path[0] in _NAMED)):
                self._problems.tree = tree
                self._problems.notice(
                    path,
                    f"{dotted(path)} is null, which removes an inherited value, but no base sets it",
                    "use {} for an entry with defaults, or remove the line",
                    key=True,
                )


def _profile(name: str) -> bytes:
    profile = name.removeprefix(PROFILE)
    known = bundled.names("profiles", suffix=".yaml")
    if profile not in known:
        hint = did_you_mean(profile, known) or "`policykit profiles` lists them"
        raise SourceError(f"unknown profile {profile!r}", hint, name)
    return bundled.read("profiles", f"{profile}.yaml")


def relative(name: str, reference: str) -> str:
    """A reference, resolved relative to the file `name`."""
    if reference.startswith(PROFILE) or posixpath.isabs(reference) or name.startswith(PROFILE):
        return reference
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), reference))


def _homes(root: Node, keys: set[int]) -> dict[int, Path]:
    """Paths of the mappings that contain given key nodes, compared by identity."""
    found: dict[int, Path] = {}
    pending: list[tuple[Path, Node]] = [((), root)]
    while pending:
        path, node = pending.pop()
        if isinstance(node.entries, dict):
            found.update((id(key), path) for key, _ in node.entries.values() if id(key) in keys)
            pending.extend(((*path, name), value) for name, (_, value) in node.entries.items())
        elif isinstance(node.entries, list):
            pending.extend(((*path, number), item) for number, item in enumerate(node.entries))
    return found


def _there(tree: SourcedValue | None, path: Path) -> bool:
    here: Any = tree.value if tree else None
    for step in path:
        if not isinstance(here, dict) or step not in here:
            return False
        here = here[step].value
    return here is not None


def _is_meant(data: dict[Any, Any]) -> bool:
    """Whether a map has an apiVersion of policykit, valid or not."""
    version = data.get("apiVersion")
    return isinstance(version, str) and version.startswith(f"{API_VERSION.partition('/')[0]}/")


def _identity_hint(value: object, wanted: str) -> str:
    if isinstance(value, str) and value.lower() == wanted.lower():
        return f"write {wanted}"
    return "only policies can be read" if wanted == KIND else "this is the only version"


def _syntax_problem(
    name: str, text: str, problem: SyntaxProblem, start_line: int
) -> tuple[Position, str, str]:
    """Where a file stops being YAML, why, and what to do."""
    # Files that are not policies are never quoted: not every reader may see them.
    if not _OURS.search(text):
        return Position(name, problem.line + 1, problem.column + 1), "not YAML", ""
    from policykit.manifests.syntax import explain

    cause = explain(text, problem, start_line)
    return Position(name, cause.span.line, cause.span.column), cause.message, cause.help
