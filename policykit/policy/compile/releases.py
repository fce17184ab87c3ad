"""The releases of systems that a policy states."""

from __future__ import annotations

from policykit.errors import PolicykitError
from policykit.manifests.path import Path
from policykit.policy.compile.draft import Draft
from policykit.targets import target_of


def judged_release(draft: Draft, path: Path, target_name: str, text: str) -> str:
    """The release at a path as everything else reads it: as stated if it is known, else the nearest.

    A notice says so; a text that is no release is an error, and empty here.
    """
    target = target_of(target_name)
    known = target.releases.load() if target and target.releases else None
    if known is None or not text:
        return text
    try:
        notice = known.notice(text)
    except PolicykitError as error:
        draft.problems.error(path, error.message, error.hint)
        return ""
    if not notice:
        return text.removeprefix("v")
    draft.problems.notice(path, notice, "`policykit versions` lists the releases that are known")
    return str(known.parse(text))
