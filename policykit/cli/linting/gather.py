"""The files of a lint run: what governs each, and the scope it stands in (contract 3)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from policykit import api
from policykit.cli.policy import cluster_from
from policykit.errors import PolicykitError
from policykit.linter.run import Member, Setting
from policykit.sources.files import File, discover, excluded, read, walk
from policykit.sources.policies import nearest_policy
from policykit.sources.scopes import is_patch, kustomization_namespace, scope_root
from policykit.sources.settings import nearest_settings, pyproject_settings

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster, LintSettings

STDIN = "-"


class Gathered:
    """Members and settings of a run, as files are looked at; failures are kept, not raised."""

    def __init__(
        self, policy: str = "", select: Sequence[str] = (), ignore: Sequence[str] = (), namespace: str = ""
    ) -> None:
        """Raises UsageError for a rule of the command line that does not exist."""
        self.members: list[Member] = []
        self.sizes: list[int] = []
        self.settings: list[Setting] = []
        self.failures: list[str] = []
        self.without_policy = 0
        self._policy = policy
        self._select = select
        self._ignore = ignore
        self._namespace = namespace
        self._excludes: list[tuple[str, ...]] = []
        self._known: dict[str, int] = {}
        self.given: bytes | None = None
        """What came by standard input; None: it was not asked for."""
        self._setting(None, None, "")

    def gather(self, paths: Sequence[str], force_exclude: bool = False, stdin_filename: str = "") -> None:
        """Adds the files that paths mean, and standard input where `-` is among them."""
        if STDIN in paths:
            self._add_stdin(File(stdin_filename or "<stdin>", ""), force_exclude)
        named = [path for path in paths if path != STDIN]
        present = [path for path in named if os.path.lexists(path)]
        self.failures += [f"{path}: no such file or folder" for path in named if path not in present]
        for file in discover(present):
            scope = scope_root(file.path, file.argument, self._policy_folder(_folder(file)))
            self._add(file, file.path, scope, force_exclude)

    def read(self, path: str) -> bytes:
        """The bytes of a member. Raises SourceError."""
        return self.given or b"" if path == STDIN else read(path)

    def surroundings(self, scope: str) -> Iterator[Member]:
        """Every manifest file of a scope; those of the run under the paths they were given by."""
        members = {os.path.abspath(m.file): m for m in self.members if m.scope == scope}
        setting = next(iter(members.values())).setting
        for path in walk(scope):
            folder = os.path.dirname(path)
            if path in members:
                yield members[path]
            elif scope_root(path, scope, self._policy_folder(folder)) == scope:
                yield Member(path, path, scope, setting, is_patch(path), self._stands_in(folder))

    def _add_stdin(self, file: File, force_exclude: bool) -> None:
        if sys.stdin is None:
            self.failures.append(f"{file.path}: standard input is closed")
            return
        # Read here: worker processes have another standard input.
        self.given = sys.stdin.buffer.read()
        self._add(file, STDIN, "", force_exclude)

    def _add(self, file: File, opened: str, scope: str, force_exclude: bool) -> None:
        folder = _folder(file)
        reference = self._policy or nearest_policy(folder)
        setting = self._governing(folder, reference)
        if (file.argument or force_exclude) and excluded(file.path, self._excludes[setting]):
            return
        self.without_policy += not reference
        namespace = self._stands_in(folder)
        self.members.append(Member(file.path, opened, scope, setting, is_patch(file.path), namespace))
        self.sizes.append(os.path.getsize(opened) if os.path.isfile(opened) else 0)

    def _policy_folder(self, folder: str) -> str:
        return "" if self._policy else os.path.dirname(nearest_policy(folder))

    def _stands_in(self, folder: str) -> str:
        return self._namespace or kustomization_namespace(folder)

    def _governing(self, folder: str, reference: str) -> int:
        """Index of the setting for files in a folder; the one of a source that is wrong says nothing."""
        source = reference
        try:
            source = reference or nearest_settings(folder)
            if source in self._known:
                return self._known[source]
            cluster = cluster_from(source) if reference else None
            return self._setting(cluster, cluster.lint if cluster else pyproject_settings(source), source)
        except PolicykitError as error:
            self.failures.append(str(error) if error.place else f"{source}: {error}")
            self._known[source] = 0
            return 0

    def _setting(self, cluster: Cluster | None, lint: LintSettings | None, source: str) -> int:
        setting = api.setting(cluster, lint, self._select, self._ignore, self._namespace or "default")
        self.settings.append(setting)
        self._excludes.append(lint.exclude if lint else ())
        return self._known.setdefault(source, len(self.settings) - 1)


def _folder(file: File) -> str:
    return os.path.dirname(os.path.abspath(file.path))
