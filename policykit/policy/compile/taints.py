"""A taint in the policy: {key, value, effect}, or key=value:Effect as in kubectl."""

from __future__ import annotations

from typing import get_args

from policykit.kube.names import label_key_problem
from policykit.manifests.path import Path
from policykit.model.taint import Taint
from policykit.policy.compile.draft import Draft
from policykit.policy.models import pool as written
from policykit.policy.models.base import Effect
from policykit.policy.suggest import did_you_mean

EFFECTS: tuple[str, ...] = get_args(Effect)


def parse_taint(draft: Draft, path: Path, stated: str | written.Taint) -> Taint | None:
    """The taint; reports a malformed one and returns None."""
    if isinstance(stated, written.Taint):
        if not stated.key:
            draft.problems.error(path, "a taint needs a key", "add key")
            return None
        draft.check((*path, "key"), f"taint key {stated.key!r}", label_key_problem(stated.key))
        return Taint(stated.key, stated.value, stated.effect)
    body, colon, effect = stated.rpartition(":")
    if not colon or not body:
        draft.problems.error(path, f"{stated!r} is not a taint", "use key=value:NoSchedule")
        return None
    if effect not in EFFECTS:
        message = f"a taint effect is {', '.join(EFFECTS[:-1])} or {EFFECTS[-1]}, not {effect!r}"
        draft.problems.error(path, message, did_you_mean(effect, EFFECTS))
        return None
    key, _, value = body.partition("=")
    draft.check(path, f"taint key {key!r}", label_key_problem(key))
    return Taint(key, value, effect)
