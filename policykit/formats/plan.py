"""The plan of a change as text, as Markdown for a merge request, and as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from policykit.escape import dumps, one_line
from policykit.formats.findings import counted
from policykit.plan.changes import Change
from policykit.plan.effects import NOWHERE, Effect
from policykit.plan.plan import Plan
from policykit.plan.transition import Step

_BACKTICKS = re.compile(r"`+")
_SHOWN = 20
"""Effects of one kind, and commands of one step, that text and Markdown show."""
_NAMED = 5
"""Objects with the same effect that they name."""


def text(plan: Plan, source: str) -> str:
    """Three parts, shortest first; `source`: what the plan starts from."""
    lines = [f"policy {plan.policy}, from {source}", ""]
    lines += ["What changes", *(f"  {_change(each)}" for each in plan.changes)] if plan.changes else []
    lines += ["The policy does not change."] if not plan.changes else []
    lines += ["", f"Who is affected ({counted(plan.pod_sets, 'pod set')} judged{_not_judged(plan)})"]
    lines += [f"  {line}" for line in _effects(plan.effects)] or ["  nobody"]
    lines += ["", "The way there", f"  {_verdict(plan)}"]
    for number, step in enumerate(plan.steps, 1):
        lines += [f"  {number}. {step.when}: {step.text}", *(f"     {line}" for line in _step(step))]
    return "".join(f"{one_line(line)}\n" for line in lines)


def markdown(plan: Plan, source: str) -> str:
    """A comment for a merge request. Text from outside appears only in code that it cannot close."""
    lines = [f"### policykit plan: {_code(plan.policy)}", "", f"From {_code(source)}. {_verdict(plan)}", ""]
    if plan.changes:
        lines += ["**What changes**", "", *(f"- {_code(_change(each))}" for each in plan.changes), ""]
    lines += [f"**Who is affected** ({counted(plan.pod_sets, 'pod set')} judged{_not_judged(plan)})", ""]
    lines += [*(f"- {_code(line)}" for line in _effects(plan.effects))] or ["Nobody."]
    if plan.steps:
        lines += ["", "**The way there**", ""]
    for number, step in enumerate(plan.steps, 1):
        lines.append(f"{number}. **{step.when}:** {_code(step.text)}")
        lines += [f"   {line}" for line in _block(step)]
    return "\n".join(lines) + "\n"


def json_text(plan: Plan, source: str) -> str:
    """Everything, in the order of the text."""
    data = {
        "schema_version": 1,
        "policy": plan.policy,
        "from": source,
        "summary": {
            "safe": plan.is_safe,
            "one_merge": plan.one_merge,
            "harmless": plan.is_harmless,
            "pod_sets": plan.pod_sets,
            "gangs": plan.gangs,
            "not_judged": plan.not_judged,
        },
        "changes": [_change_data(each) for each in plan.changes],
        "effects": [_effect_data(each) for each in plan.effects],
        "steps": [each._asdict() for each in plan.steps],
    }
    return dumps(data) + "\n"


def _verdict(plan: Plan) -> str:
    lost = sum(each.kind == NOWHERE for each in plan.effects)
    nowhere = f"{counted(lost, 'pod set')} {'lands' if lost == 1 else 'land'} nowhere afterwards. "
    return f"{nowhere if lost else ''}{_of_the_order(plan, 'no other pod set' if lost else 'no pod set')}"


def _of_the_order(plan: Plan, others: str) -> str:
    if plan.stale:
        return "The way there depends on the patched manifests."
    if not plan.is_safe:
        found = "No order of these steps keeps" if plan.exhaustive else "No order was found that keeps"
        kept = "every pod set at the nodes of before or after, whichever are fewer"
        gangs = ", and every gang at the room that it needs" if plan.gangs else ""
        return f"{found} {kept}{gangs}: plan a pause."
    if not plan.steps:
        return "There is nothing to do."
    if plan.one_merge:
        return "One merge is enough."
    gangs = ", and no gang less room than it needs" if plan.gangs else ""
    return (
        f"In this order {others} has fewer accepting nodes than before or after, whichever are fewer{gangs}."
    )


def _not_judged(plan: Plan) -> str:
    return f", {plan.not_judged} not" if plan.not_judged else ""


def _change(change: Change) -> str:
    details = f": {'; '.join(change.details)}" if change.details else ""
    note = f" ({change.note})" if change.note else ""
    return f"{change.sign:<3} {change.what} {change.name}{details}{note}"


def _effects(found: Iterable[Effect]) -> Iterator[str]:
    """One line for each message, with the first of those it concerns."""
    alike: dict[tuple[str, str], list[Effect]] = {}
    for each in found:
        alike.setdefault((each.kind, each.message), []).append(each)
    kinds: dict[str, int] = {}
    for (kind, message), some in alike.items():
        kinds[kind] = kinds.get(kind, 0) + 1
        if kinds[kind] <= _SHOWN:
            who = [f"{each.who} ({each.path})" if each.path else each.who for each in some[:_NAMED]]
            more = f" and {len(some) - _NAMED} more" if len(some) > _NAMED else ""
            yield f"{kind}: {', '.join(who)}{more}: {message}"
    yield from (f"{kind}: {number - _SHOWN} more" for kind, number in kinds.items() if number > _SHOWN)


def _step(step: Step) -> Iterator[str]:
    for command in step.commands[:_SHOWN]:
        first, *more = command.split("\\\n")
        yield f"$ {first}" + "\\" * bool(more)
        yield from (f"{line}\\" for line in more[:-1])
        yield from more[-1:]
    yield from _more(step)
    if step.check:
        yield f"# check: {step.check}"


def _code(words: str) -> str:
    """A code span that its content cannot close; lines are one."""
    shown = one_line(words) or " "
    fence = "`" * (max((len(run) for run in _BACKTICKS.findall(shown)), default=0) + 1)
    space = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{space}{shown}{space}{fence}"


def _on_one_line(command: str) -> str:
    """No line begins with an argument."""
    return " ".join(part.strip() for part in command.split("\\\n"))


def _more(step: Step) -> Iterator[str]:
    """A line in place of the commands that are not shown."""
    if len(step.commands) > _SHOWN:
        yield f"# {len(step.commands) - _SHOWN} more such commands: see --format json"


def _block(step: Step) -> list[str]:
    shown = [f"$ {one_line(_on_one_line(command))}" for command in step.commands[:_SHOWN]]
    shown += [*_more(step), *([f"# check: {one_line(step.check)}"] if step.check else [])]
    if not shown:
        return []
    longest = max((len(run) for line in shown for run in _BACKTICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}sh", *shown, fence]


def _change_data(change: Change) -> dict[str, Any]:
    return {**change._asdict(), "details": list(change.details), "note": change.note or None}


def _effect_data(effect: Effect) -> dict[str, Any]:
    pairs = {field: _pair(getattr(effect, field)) for field in ("nodes", "cards")}
    return {**effect._asdict(), "path": effect.path or None, **pairs}


def _pair(numbers: tuple[int, int] | None) -> dict[str, int] | None:
    return None if numbers is None else {"before": numbers[0], "after": numbers[1]}
