"""Failed builds of kustomize: the reason, and the mistake in the kustomization if it is certain."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from policykit.errors import SourceError
from policykit.linter.input_file import Kustomization
from policykit.linter.not_judged import BUILD_FAILED, NO_PROGRAM, OUTSIDE, OVER_LIMITS
from policykit.linter.rule import FailedBuild
from policykit.manifests.node import Span
from policykit.manifests.parser import parse
from policykit.manifests.path import Path
from policykit.namedtuple import NamedTuple
from policykit.workspace.files import read
from policykit.workspace.gitops.flux import adds_components
from policykit.workspace.kustomization_entries import Entry
from policykit.workspace.kustomize import LATE

TOO_MANY = "this run has more builds than --max-builds allows"
"""Why one is not built."""
_START = Span(1, 1, 1, 2)
_TARGET = re.compile(r"no matches for Id (?P<kind>\w+)\.\S*?/(?P<name>[^.\s/]+)\.")
"""kustomize calls an object `Deployment.v1.apps/web.[noNs]`."""
_MISTAKES = (
    _TARGET,
    re.compile(r"failed to find unique target for patch"),
    re.compile(r"may not add resource with an already registered id"),
    re.compile(r"unable to parse SM or JSON patch"),
    re.compile(r"operation does not apply"),
    re.compile(r"unable to find field .* in replacement target"),
    re.compile(r"nothing selected by"),
    re.compile(r"missing Resource metadata"),
    re.compile(r"missing metadata\.name in object"),
)
"""What every version of kustomize refuses."""
_OVER = re.compile(r"(kustomize|helm) (took|needs|builds) more than|it renders to more than")
_ELSEWHERE = re.compile(r"is not in or below|security; file")


class FailedPlace(NamedTuple):
    """A mistake in a kustomization, in its file with links resolved."""

    file: str
    span: Span
    message: str
    help: str


def reason_of(failure: str) -> str:
    """The reason why a failed build is not judged, by its name in `policykit.linter.not_judged`."""
    if _OVER.match(failure) or failure in (LATE, TOO_MANY):
        return OVER_LIMITS
    if failure.startswith("kustomize cannot be run"):
        return NO_PROGRAM
    return OUTSIDE if _ELSEWHERE.search(failure) else BUILD_FAILED


def mistake_in_build(tree: Kustomization, failure: str) -> FailedPlace | None:
    """The mistake that kustomize reports.

    None: another version may be able to build it, or Flux, which adds components that have what is missing,
    or what applies it to rendered charts, as Fleet does: it has no object of its own.
    """
    if _ELSEWHERE.search(failure) or not any(mistake.search(failure) for mistake in _MISTAKES):
        return None
    target = _TARGET.search(failure)
    if target and (adds_components(os.path.dirname(tree.file)) or _only_changes(tree)):
        return None
    entry = _patch_of(tree, target["kind"], target["name"]) if target else None
    if target and entry:
        wanted = f"{target['kind']} {target['name']}"
        message = f"a patch is for {wanted}, but the kustomization has no such object"
        advice = "correct the kind and name in the patch, or list the object under resources"
        return FailedPlace(entry.file, _span(entry.file, entry.at), message, advice)
    return FailedPlace(
        tree.file, _START, f"kustomize cannot build it: {failure}", "run `kustomize build` to see it"
    )


def _only_changes(tree: Kustomization) -> bool:
    """Whether a kustomization has patches, and nothing to patch."""
    return not any((each.resources, each.generated, each.charts) != ((), (), ()) for each in tree.every())


def mistake_at(entry: Entry, why: str) -> FailedPlace:
    """The mistake of an entry that cannot be built."""
    advice = f"correct the path, or remove {entry.text}"
    message = why[why.find("lists ") :] if "lists " in why else why
    return FailedPlace(entry.file, _span(entry.file, entry.at), message, advice)


def reported(place: FailedPlace, path: str) -> FailedBuild:
    """The mistake as the subject of a rule, under the reported path of its file."""
    return FailedBuild(path, place.span, place.message, place.help)


def _patch_of(tree: Kustomization, kind: str, name: str) -> Entry | None:
    """The entry of the patch for an object, which is named in its text."""
    for each in tree.every():
        for listed in each.patches:
            text = _text(listed.file) if listed.file else _inline(each.file, listed.at)
            if any(data.get("kind") == kind and _name(data) == name for data in _objects(text)):
                return Entry(each.file, listed.at, f"{kind} {name}")
    return None


def _objects(text: str) -> Iterator[dict[str, object]]:
    for parsed in parse(text):
        if parsed.root is not None and isinstance(parsed.root.data, dict):
            yield parsed.root.data


def _name(data: dict[str, object]) -> object:
    metadata = data.get("metadata")
    return metadata.get("name") if isinstance(metadata, dict) else None


def _inline(file: str, at: Path) -> str:
    data: object = next(_objects(_text(file)), {})
    for step in at:
        if isinstance(data, dict):
            data = data.get(step)
        elif isinstance(data, list) and isinstance(step, int) and step < len(data):
            data = data[step]
        else:
            return ""
    return data if isinstance(data, str) else ""


def _span(file: str, at: Path) -> Span:
    for parsed in parse(_text(file)):
        if parsed.root is not None:
            return parsed.root.location(at)
    return _START


def _text(file: str) -> str:
    try:
        return read(file).decode("utf-8", errors="replace")
    except SourceError:
        return ""
