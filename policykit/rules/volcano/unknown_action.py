"""A Volcano configuration lists an action that its scheduler does not have.

Names are case-sensitive, and whatever follows the last comma counts as a name. With one unknown name the
scheduler discards the whole file: at startup it uses its built-in configuration, later the previous one.
Only its log reports it. List the actions of a scheduler of your own in the policy under lint.extraPlugins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.patch import Patch
from policykit.model.severity import Applicability, Severity
from policykit.nearest import nearest
from policykit.targets.volcano import versions
from policykit.targets.volcano.scheduler.actions import ACTIONS
from policykit.targets.volcano.scheduler.arguments import shown
from policykit.targets.volcano.scheduler.configuration import is_of_agent, is_of_fork
from policykit.targets.volcano.scheduler.forks import names_its_own
from policykit.targets.volcano.versions import EXTRA, UPGRADE, Release, not_yet, suggestion

BAD = """\
actions: "enqueue, allocate, gangPreempt, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
- plugins:
  - name: predicates
  - name: nodeorder
"""

GOOD = BAD.replace("enqueue, allocate, gangPreempt", "allocate, gangpreempt")

_REMOVED = frozenset({"elect", "reserve"})


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Every name that is not known. Source: `pkg/scheduler/util.go` (1.8 to 1.15)."""
    written = manifest.data.get("actions")
    if is_placeholder(written):
        return
    have = versions.release_of(context.cluster)
    if isinstance(written, str) and written.strip():
        names = _spans(written)
        for part, name in _first_uses(names):
            if name in context.plugins:
                continue
            if is_of_agent(manifest) and name in ACTIONS and name != "allocate":
                yield _agent_violation(name)._replace(part=part)
            elif message := _problem(name, have):
                fix = partial(_fix, tuple(names.values()), have)
                message, advice = f"{message}: {_effect(have)}", _advice(name, have)
                own = (is_of_fork(manifest) and _is_unlike_any(name)) or names_its_own(manifest)
                if own:
                    advice = EXTRA
                yield Violation(
                    ("actions",), message, advice, Severity.WARNING if own else None, fix=fix, part=part
                )
    elif isinstance(written, (list, dict)):
        yield Violation(
            ("actions",),
            f"actions is {shown(written)}, not a string: the scheduler discards the whole file",
            'write the names in one string, separated by commas: "allocate, backfill"',
        )
    elif manifest.holder is not None or isinstance(written, str):
        # A file by itself may be an excerpt; what a ConfigMap or a chart holds is all there is.
        yield Violation(
            ("actions",),
            f"the configuration lists no action: {_effect(have)}",
            'list them: actions: "enqueue, allocate, backfill"',
        )


def _spans(written: str) -> dict[tuple[int, int], str]:
    """The names in the text of the actions, by start and end; for an empty name, of its comma."""
    found, start = {}, 0
    for piece in written.split(","):
        name = piece.strip()
        begin = start + (len(piece) - len(piece.lstrip()) if name else 0)
        end = begin + len(name) if name else min(start + len(piece) + 1, len(written))
        found[begin, end] = name
        start += len(piece) + 1
    return found


def _first_uses(words: Mapping[tuple[int, int], str]) -> Iterator[tuple[tuple[int, int], str]]:
    """Each name where it first appears."""
    seen: set[str] = set()
    for part, name in words.items():
        if name not in seen:
            seen.add(name)
            yield part, name


def _agent_violation(name: str) -> Violation:
    return Violation(
        ("actions",),
        f"the agent scheduler has no action {name}: it discards the whole file",
        "its only action is allocate",
    )


def _problem(name: str, have: Release | None) -> str:
    if not name:
        return "actions has an empty name between its commas"
    if name not in ACTIONS:
        return f"Volcano has no action {name!r}"
    return not_yet(f"action {name}", ACTIONS[name].since, have)


def _is_unlike_any(name: str) -> bool:
    """Whether it is spelled like no action of any release."""
    known = (*ACTIONS, *_REMOVED)
    return bool(name) and not nearest(name.lower(), known, 0.75)


def _effect(have: Release | None) -> str:
    if have and versions.UNKNOWN_ACTIONS_SKIPPED[0] <= have < versions.UNKNOWN_ACTIONS_SKIPPED[1]:
        return "the scheduler skips it"
    return "the scheduler discards the whole file"


def _advice(name: str, have: Release | None) -> str:
    if not name:
        return "delete the comma"
    if name in ACTIONS:
        return UPGRADE
    if name.lower() in ACTIONS:
        return f"write {name.lower()}: names are case-sensitive"
    if name in _REMOVED:
        return "remove it: Volcano dropped it in 1.6"
    return suggestion(
        name, (each for each, one in ACTIONS.items() if not have or have >= one.since), "actions"
    )


def _fix(names: Sequence[str], have: Release | None) -> Fix | None:
    """Only where every name is then known: else the file is discarded as before."""
    meant = [name if name in ACTIONS else name.lower() for name in names if name]
    if not meant or any(_problem(name, have) for name in meant):
        return None
    written = ", ".join(dict.fromkeys(meant))
    return Fix(f"write {written}", (Patch("replace", ("actions",), written),), Applicability.SAFE)


RULE = Rule(
    code="PK501",
    name="unknown-action",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"volcano-scheduler.conf"}),
    fix=Applicability.SAFE,
)
