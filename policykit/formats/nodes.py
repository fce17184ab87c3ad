"""How live nodes differ from the policy, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from policykit.escape import dumps, one_line
from policykit.formats.findings import counted
from policykit.importer.node_differences import Difference, Step

_NAMED = 5


def text(found: Sequence[Difference], steps: Sequence[Step]) -> str:
    """A line per difference with its nodes, then the commands."""
    lines: list[str] = []
    for (pool, _, message, help_), nodes in _grouped(found).items():
        where = f" ({_names(nodes)})" if nodes else ""
        lines.append(f"{pool or 'no pool'}: {message}{where}")
        lines += [f"    help: {help_}"] if help_ else []
    if failing := _failing(found):
        lines.append(f"{counted(failing, 'difference')}")
    shown = "".join(f"{one_line(line)}\n" for line in lines)
    return shown + (_commands(steps) if steps else "")


def json_text(found: Sequence[Difference], steps: Sequence[Step]) -> str:
    """Differences by node, and the commands in order."""
    data = {
        "schema_version": 1,
        "summary": {
            "differences": _failing(found),
            "nodes": len({each.node for each in found if each.node and each.fails}),
        },
        "differences": [
            {
                "pool": each.pool or None,
                "kind": each.kind,
                "node": each.node or None,
                "message": each.message,
                "help": each.help or None,
                "fails": each.fails,
            }
            for each in found
        ],
        "commands": [line for step in steps for line in map(str.rstrip, step.commands)],
    }
    return dumps(data) + "\n"


def _failing(found: Iterable[Difference]) -> int:
    return sum(each.fails for each in found)


def _grouped(found: Iterable[Difference]) -> dict[tuple[str, str, str, str], list[str]]:
    groups: dict[tuple[str, str, str, str], list[str]] = {}
    for each in found:
        nodes = groups.setdefault((each.pool, each.kind, each.message, each.help), [])
        nodes += [each.node] if each.node else []
    return groups


def _names(nodes: list[str]) -> str:
    shown = ", ".join(nodes[:_NAMED])
    return shown if len(nodes) <= _NAMED else f"{shown} and {len(nodes) - _NAMED} more"


def _commands(steps: Sequence[Step]) -> str:
    """The commands as a script to copy; none of them has been run."""
    lines = ["", "# These commands fix the differences; none has been run."]
    for step in steps:
        lines += ["", *(f"# {line}" for line in step.note.splitlines())]
        lines += [line.rstrip("\n") for line in step.commands]
    return "\n".join(lines) + "\n"
