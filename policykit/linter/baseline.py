"""A baseline: findings accepted as they are, by rule, object, field, cluster and cause, never by line."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from policykit.errors import SourceError
from policykit.linter.finding import Finding
from policykit.linter.rule import StaleEntry
from policykit.manifests.node import Span
from policykit.namedtuple import NamedTuple

KIND = "policykit-baseline"
VERSION = 2
ANY = "*"
"""Cluster and cause of an entry of version 1, which accepts a finding for any cluster and cause."""
STALE = "PK909"
"""Rules that are never accepted: accepting a stale entry would make it stale again."""
_START = Span(1, 1, 1, 2)
_PLACE = r"[^\s'\"`(),]+\.(?:ya?ml|json)(?::\d+)*|\blines? \d+(?:, column \d+)?"
"""Files and lines in messages, which do not distinguish findings."""
_MARKS = (".y", ".json", "line")
"""One of them is in every text that has a file or a line."""


class Key(NamedTuple):
    """The identity of a finding. Fields that do not apply to it are empty."""

    rule: str
    kind: str = ""
    """Job.batch: without the version, which may change."""
    namespace: str = ""
    name: str = ""
    field: str = ""
    path: str = ""
    """File, relative to the baseline's folder, of a finding without a named object: a syntax error."""
    cluster: str = ""
    """Name of the policy; empty: there is none."""
    cause: str = ""
    """The message, without locations."""

    def __str__(self) -> str:
        if self.path:
            return f"{self.rule} in {self.path}"
        name = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.rule} of {self.kind} {name}" + (f" at {self.field}" if self.field else "")

    def general(self) -> Key:
        """The key of an entry of version 1 that accepts the finding."""
        return self._replace(cluster=ANY, cause=self.cause if self.path else ANY)


class Baseline(NamedTuple):
    """Accepted findings with their numbers, and the paths they were found in."""

    accepted: Mapping[Key, int] = {}
    covers: tuple[str, ...] = ()
    """Files and folders, relative to the baseline's folder, sorted; none is inside another."""


class BaselineFile(NamedTuple):
    """A baseline as read."""

    path: str
    """Absolute."""
    shown: str
    """As shown to the user."""
    text: str
    baseline: Baseline

    @property
    def folder(self) -> str:
        """The folder that its paths are relative to."""
        return os.path.dirname(self.path)


class Baselines(NamedTuple):
    """The baselines of a run."""

    files: Mapping[str, BaselineFile]
    """By absolute path."""
    governing: Mapping[str, str]
    """Reported path to the absolute path of the baseline that accepts findings there."""
    covered: frozenset[str] = frozenset()
    """Those of which the run covers every file."""


Locate = Callable[[str], str]
"""From a reported path to the path relative to the baseline's folder, with `/`."""


def key_of(finding: Finding, locate: Locate, cluster: str = "") -> Key:
    """The key of a finding of a cluster."""
    about, cause = finding.resource, finding.message
    if any(mark in cause for mark in _MARKS):
        cause = re.sub(_PLACE, "...", cause)
    if about is None or not about.name:
        return Key(finding.code, path=locate(finding.path), cluster=cluster, cause=cause)
    group, slash, _ = about.api_version.partition("/")
    kind = f"{about.kind}.{group}" if slash else about.kind
    return Key(finding.code, kind, about.namespace or "", about.name, finding.field, "", cluster, cause)


def extended_baseline(
    old: Baseline, found: Mapping[Key, int], covers: Iterable[str], general: Mapping[Key, int] = {}
) -> Baseline:
    """The baseline with the findings of a run added. Entries of version 1 are replaced by the findings that
    they accept, which `general` counts by their keys. All other entries are kept."""
    kept = {
        key: amount - (general.get(key, 0) if key.cluster == ANY else 0)
        for key, amount in old.accepted.items()
    }
    accepted = {key: max(kept.get(key, 0), amount) for key, amount in found.items()}
    left = {key: amount for key, amount in kept.items() if amount > 0}
    return Baseline({**left, **accepted}, outermost([*old.covers, *covers]))


def pruned_baseline(
    old: Baseline,
    found: Mapping[Key, int],
    codes: Collection[str],
    general: Mapping[Key, int] = {},
    clusters: Collection[str] = ("",),
) -> Baseline:
    """The baseline without findings that a run over all its paths no longer has; `codes`: the rules that ran,
    for these clusters."""
    every = {**general, **found}
    linted = {ANY, *clusters}
    kept = {
        key: min(amount, every.get(key, 0)) if key.rule in codes and key.cluster in linted else amount
        for key, amount in old.accepted.items()
    }
    return Baseline({key: amount for key, amount in kept.items() if amount}, old.covers)


def stale_entries(
    baseline: Baseline,
    left: Mapping[Key, int],
    codes: Collection[str],
    text: str,
    clusters: Collection[str] = ("",),
) -> list[StaleEntry]:
    """Entries that accept more than was found for these clusters, with their locations in the text."""
    linted = {ANY, *clusters}
    over = sorted(
        key for key, amount in left.items() if amount > 0 and key.rule in codes and key.cluster in linted
    )
    places = dict(zip(_keys(text), _places(text), strict=False)) if over else {}
    return [
        StaleEntry(
            str(key),
            baseline.accepted[key],
            baseline.accepted[key] - left[key],
            places.get(key, _START),
        )
        for key in over
    ]


def outermost(paths: Iterable[str]) -> tuple[str, ...]:
    """The paths that are inside no other one, sorted; all are relative and normalised, with `/`."""
    every = sorted(set(paths))
    return tuple(
        path for path in every if not any(is_within(path, other) for other in every if other != path)
    )


def is_within(path: str, folder: str) -> bool:
    """Whether a relative path is, or is below, another one."""
    outside = path == ".." or path.startswith("../")
    return path == folder or path.startswith(f"{folder}/") or (folder == "." and not outside)


def text_of(baseline: Baseline) -> str:
    """The text of the file: one entry per line, sorted, so that changes are easy to read and to merge."""
    entries = [
        json.dumps(_entry(key, baseline.accepted[key]), ensure_ascii=False)
        for key in sorted(baseline.accepted)
    ]
    lines = ",\n".join(f"    {entry}" for entry in entries)
    return (
        "{\n"
        f'  "kind": "{KIND}",\n'
        f'  "version": {VERSION},\n'
        f'  "covers": {json.dumps(list(baseline.covers), ensure_ascii=False)},\n'
        f'  "findings": [\n{lines}{chr(10) if lines else ""}  ]\n'
        "}\n"
    )


def parse(text: str, path: str) -> Baseline:
    """Reads a baseline. Raises SourceError with the location in the file `path` if it is not one."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f"{path}:{error.lineno}:{error.colno}" if isinstance(error, json.JSONDecodeError) else path
        raise SourceError(
            "is not JSON, so it cannot be read as a baseline",
            "restore it from version control, or delete it and run `policykit baseline`",
            where,
        ) from None
    if not isinstance(data, dict) or data.get("kind") != KIND:
        raise SourceError("is not a policykit baseline", "name another file, or move this one away", path)
    if data.get("version") not in (1, VERSION) or isinstance(data["version"], bool):
        raise SourceError(
            f"is a baseline of version {data.get('version')}, but this policykit reads 1 and {VERSION}",
            "use the policykit that wrote it, or delete it and run `policykit baseline`",
            path,
        )
    covers, findings = _texts(data.get("covers")), data.get("findings")
    if covers is None or not isinstance(findings, list):
        raise _damaged("`covers` must be a list of paths and `findings` a list of entries", path)
    accepted: dict[Key, int] = {}
    for position, entry in enumerate(findings):
        key = _key(entry, data["version"])
        if key is None:
            places = dict(enumerate(_places(text)))
            line, column, _, _ = places.get(position, _START)
            raise _damaged(
                "the entry does not have the format that policykit writes", f"{path}:{line}:{column}"
            )
        accepted[key] = max(accepted.get(key, 0), entry["occurrences"])
    return Baseline(accepted, outermost(covers))


def _damaged(what: str, place: str) -> SourceError:
    hint = "restore the file from version control, or delete it and run `policykit baseline`"
    return SourceError(what, hint, place)


def _texts(value: object) -> list[str] | None:
    texts = [item for item in value if isinstance(item, str)] if isinstance(value, list) else None
    return texts if texts == value else None


def _entry(key: Key, amount: int) -> dict[str, Any]:
    return {**{name: value for name, value in key._asdict().items() if value}, "occurrences": amount}


def _key(entry: object, version: int) -> Key | None:
    if not isinstance(entry, dict):
        return None
    amount = entry.get("occurrences")
    words = {name: value for name, value in entry.items() if name != "occurrences"}
    if isinstance(amount, bool) or not isinstance(amount, int) or amount < 1 or "rule" not in words:
        return None
    if version == 1:
        if {"cluster", "cause"} & words.keys():
            return None
        words = {"cluster": ANY, "cause": words.pop("message", ANY), **words}
    if not all(name in Key._fields and isinstance(value, str) for name, value in words.items()):
        return None
    return Key(**words)


def _keys(text: str) -> Iterator[Key | None]:
    data = json.loads(text)
    return (_key(entry, data["version"]) for entry in data["findings"])


def _places(text: str) -> list[Span]:
    """The location of each entry; empty: the text is not YAML, as nearly all JSON is."""
    from policykit.manifests.parser import parse as documents

    for document in documents(text):
        if document.root is not None:
            amount = len(document.root.data["findings"])
            return [document.root.location(("findings", position)) for position in range(amount)]
    return []
