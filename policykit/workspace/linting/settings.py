"""Settings of a folder's files: from their policy, or `[tool.policykit.lint]` of pyproject.toml."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from policykit import api
from policykit.errors import Failures, PolicyError, SourceError, UsageError
from policykit.linter.registry import PRESETS
from policykit.linter.workspace import Setting
from policykit.model.severity import Severity
from policykit.nearest import nearest
from policykit.workspace.command_state import cached
from policykit.workspace.files import excluded, is_there, read, shown_path, upwards
from policykit.workspace.inputs import custom_kinds_of
from policykit.workspace.linting.request import Request
from policykit.workspace.policies import (
    BrokenPolicies,
    compiled_policy,
    has_applies,
    is_extended,
    policy_by_place,
    shown_as,
)
from policykit.workspace.safe_paths import SMALL

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster, LintSettings

_LISTS = ("select", "ignore", "exclude", "extra-plugins", "crds")
_TABLES = ("per-path", "severity", "accept-not-judged")


@cached
def nearest_settings(folder: str) -> str:
    """The nearest pyproject.toml that mentions policykit, up to the repository's root; empty: none.

    It may be one that cannot be read: reading its settings reports why.
    """
    paths = (os.path.join(here, "pyproject.toml") for here in upwards(folder))
    return next((path for path in paths if is_there(path) and _mentions_policykit(path)), "")


def _mentions_policykit(path: str) -> bool:
    try:
        return b"tool.policykit" in read(path, most=SMALL)
    except SourceError:
        return True


@cached
def pyproject_settings(path: str) -> LintSettings:
    """The settings in a file. Raises UsageError for unknown keys, wrong types and invalid TOML, and
    SourceError if it cannot be read."""
    import tomllib

    from policykit.model.cluster import LintSettings

    shown = shown_path(path)
    try:
        data = tomllib.loads(read(path, most=SMALL).decode("utf-8"))
    except ValueError as error:  # also for text that is not UTF-8, and numbers of thousands of digits
        raise UsageError(f"not TOML: {error}", "fix the file", shown) from None
    except RecursionError:
        raise UsageError("nested too deep to be read", "fix the file", shown) from None
    found: Any = data
    for name in ("tool", "policykit", "lint"):
        found = found.get(name) if isinstance(found, dict) else None
    return _settings(shown, found) if isinstance(found, dict) else LintSettings()


def _settings(path: str, table: dict[str, Any]) -> LintSettings:
    from policykit.linter.not_judged import REASONS
    from policykit.model.cluster import LintSettings

    known = {*_LISTS, *_TABLES, "preset"}
    for key in table:
        if key not in known:
            near = nearest(key.replace("_", "-"), sorted(known))
            hint = f"did you mean {near}?" if near else f"known: {', '.join(sorted(known))}"
            raise UsageError(f"[tool.policykit.lint] has no setting {key!r}", hint, path)
    lists = {key: _texts(path, key, table.get(key, [])) for key in _LISTS}
    per_path, severity, accepted = (_table(path, key, table.get(key, {})) for key in _TABLES)
    return LintSettings(
        lists["select"],
        lists["ignore"],
        {
            rule: _one_of(path, f"severity of {rule}", given, tuple(Severity))
            for rule, given in severity.items()
        },
        tuple((glob, _texts(path, f"per-path {glob}", codes)) for glob, codes in per_path.items()),
        lists["exclude"],
        lists["extra-plugins"],
        _one_of(path, "preset", table.get("preset", "recommended"), PRESETS),
        lists["crds"],
        {
            _one_of(path, "reason in accept-not-judged", reason, tuple(REASONS)): _texts(
                path, f"accept-not-judged {reason}", globs
            )
            for reason, globs in accepted.items()
        },
    )


def _texts(path: str, key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise UsageError(
            f"[tool.policykit.lint] {key} must be a list of strings", "write it in brackets", path
        )
    return tuple(value)


def _table(path: str, key: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(
            f"[tool.policykit.lint] {key} must be a table", f"write it as [tool.policykit.lint.{key}]", path
        )
    return value


def _one_of(path: str, key: str, value: object, known: tuple[str, ...]) -> str:
    if value not in known:
        raise UsageError(
            f"[tool.policykit.lint] {key} is {value!r}", f"choose one of {', '.join(known)}", path
        )
    return str(value)


class SettingsTable:
    """The settings of a run, by the file they come from. The first one is for files without a policy."""

    def __init__(self, request: Request, failures: Failures) -> None:
        """An invalid policy is added to `failures`, and its files are linted without a policy.

        Raises UsageError for an unknown rule on the command line, SourceError for a `--crd` path
        without definitions.
        """
        self.sources: list[str] = []
        """The policy or settings file of each setting; empty: there is none."""
        self.broken = BrokenPolicies()
        """Mistakes in the policies, which are failures of the run."""
        self.notices: list[str] = []
        """About the policies."""
        self._settings: list[Setting] = []
        self._request = request
        self._failures = failures
        self._custom = custom_kinds_of(request.crds) if request.crds else {}
        self._globs: list[tuple[str, ...]] = []
        self._known: dict[str, int] = {}
        self._everywhere = tuple(
            each for each in request.policies if not (request.only_applied or has_applies(each))
        )
        self._add(None, None, "")

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Those used so far."""
        return tuple(self._settings)

    @property
    def excludes(self) -> bool:
        """Whether any of them excludes files."""
        return any(self._globs)

    @property
    def is_repeated(self) -> bool:
        """Whether -p names several policies for every file."""
        return len(self._everywhere) > 1

    @property
    def is_restricted(self) -> bool:
        """Whether -p names only policies that say what they apply to: other files are not judged."""
        return bool(self._request.policies) and not self._everywhere

    def policy(self, folder: str) -> str:
        """The policy by place for files in a folder, or the first that -p names; empty: there is none."""
        if self._request.policies:
            return self._everywhere[0] if self._everywhere else ""
        return policy_by_place(folder)

    def policy_folder(self, folder: str) -> str:
        """The folder of the policy by place; empty: there is none, or -p names the policy."""
        return "" if self._request.policies else os.path.dirname(policy_by_place(folder))

    def all_of(self, folder: str) -> tuple[int, ...]:
        """Indices of the settings for files in a folder: one for each policy that -p names."""
        if self.is_repeated:
            return tuple(dict.fromkeys(map(self.of_policy, self._everywhere)))
        return () if self.is_restricted else (self.of(folder),)

    def of(self, folder: str) -> int:
        """Index of the setting for files in a folder; an invalid source counts as none."""
        return self._of(self.policy(folder), folder)

    def of_policy(self, policy: str) -> int:
        """Index of the setting of a policy; an invalid one counts as none."""
        return self._of(policy, os.path.dirname(policy))

    def _of(self, reference: str, folder: str) -> int:
        source = reference
        try:
            source = reference or nearest_settings(folder)
            if source in self._known:
                return self._known[source]
            if not reference:
                return self._add(None, pyproject_settings(source), source)
            compiled = compiled_policy(source, self._request.cache)
            self.notices += compiled.notices
            return self._add(compiled.cluster, compiled.cluster.lint, source)
        except Exception as error:
            self._known[source] = 0
            with self._failures.collect(source):
                self._fail(reference, source, error)
            return 0

    def _fail(self, reference: str, source: str, error: Exception) -> None:
        if reference and is_extended(reference):
            return  # a base need not be valid by itself
        if reference and isinstance(error, PolicyError):
            self.broken.add(source, error)
        else:
            self._failures.add(error, shown_as(source) if source else "")

    def excluded(self, path: str, setting: int) -> bool:
        """Whether a setting excludes a file; its globs are relative to the folder of its source."""
        globs, below = self._globs[setting], self._settings[setting].selection.below
        if not globs:
            return False
        return excluded(path, globs) or bool(below and excluded(below + path, globs))

    def _add(self, cluster: Cluster | None, lint: LintSettings | None, source: str) -> int:
        request = self._request
        own = custom_kinds_of(_relative_to(source, lint.crds), source) if lint and lint.crds else {}
        setting = api.setting(
            cluster,
            lint,
            request.select,
            request.ignore,
            request.namespace or "default",
            timed=request.timed,
            below=_below(source),
            custom={**own, **self._custom},
            preset=request.preset,
        )
        self._settings.append(setting)
        self.sources.append(source)
        self._globs.append(lint.exclude if lint else ())
        return self._known.setdefault(source, len(self._settings) - 1)


def _below(source: str) -> str:
    """The current folder relative to that of a policy or settings file, `apps/`; empty: not below it."""
    folder = os.path.dirname(os.path.abspath(source)) if source else ""
    relative = os.path.relpath(os.getcwd(), folder) if folder else os.curdir
    outside = relative == os.curdir or relative.startswith(os.pardir) or source.startswith("profile:")
    return "" if outside else f"{relative.replace(os.sep, '/')}/"


def _relative_to(source: str, paths: Sequence[str]) -> list[str]:
    """Paths that a policy or settings file names relative to its folder, as paths to open."""
    return [shown_as(os.path.join(os.path.dirname(source), path)) for path in paths]
