"""Compiles the `RULE` of every module in policykit/rules/ to the catalogue.

    python -m scripts.compile_rules [--check]

With `--check` nothing is written, and the exit code is 1 if the catalogue is out of date.
"""

import json
import sys
import textwrap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from policykit.linter import registry
from policykit.linter.registry import Entry
from policykit.linter.rule import (
    AnyRule,
    ComponentObject,
    DeclaredPolicy,
    FailedBuild,
    GeneratedFile,
    SourceDocument,
    StaleEntry,
    Structure,
)
from policykit.linter.scope import Scope, fact_name
from policykit.linter.suppressions import SuppressionUse
from policykit.manifests.document import Manifest
from policykit.placement.review import Review

ROOT = Path(__file__).resolve().parent.parent
RULES = ROOT / "policykit" / "rules"
PATH = RULES / "catalogue.py"

SUBJECTS: dict[type, str] = {
    SourceDocument: registry.READING,
    Structure: registry.STRUCTURE,
    Manifest: registry.MANIFEST,
    Review: registry.PODS,
    Scope: registry.SCOPE,
    SuppressionUse: registry.SUPPRESSION,
    StaleEntry: registry.BASELINE,
    DeclaredPolicy: registry.POLICY,
    ComponentObject: registry.COMPONENT,
    FailedBuild: registry.FAILED_BUILD,
    GeneratedFile: registry.GENERATED_FILE,
}

_HEADER = '''\
"""Every rule, in the order of codes: compiled from the rules' modules by scripts/compile_rules.py.

A run reads this instead of importing all rules, and then imports only those it needs.
"""

from policykit.linter.registry import Entry

# fmt: off
CATALOGUE = (
'''
_WIDTH = 110
_SPACE = "\N{NO-BREAK SPACE}"
"""In place of a space in a text, at which no line ends."""


def text() -> str:
    """The source of the catalogue, byte-stable."""
    entries = sorted(_entry(folder, rule) for folder, rule in _rules())
    return _HEADER + "".join(f"{_wrapped(_call(entry))},\n" for entry in entries) + ")\n# fmt: on\n"


def _wrapped(call: str) -> str:
    """On as few lines as possible; one argument a line would make the module far too long."""
    lines = textwrap.wrap(
        call,
        _WIDTH - 1,
        initial_indent="    ",
        subsequent_indent="        ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines).replace(_SPACE, " ")


def _rules() -> Iterator[tuple[str, AnyRule]]:
    """The folder and the rule of each module that defines one."""
    for path in RULES.glob("*/*.py"):
        folder = path.parent.name
        module = import_module(f"policykit.rules.{folder}.{path.stem}")
        if hasattr(module, "RULE"):
            if module.RULE.name != path.stem.replace("_", "-"):
                raise ValueError(f"{path.name} is not named after its rule, {module.RULE.name}")
            yield folder, module.RULE


def _entry(folder: str, rule: AnyRule) -> Entry:
    return Entry(
        rule.code,
        folder,
        rule.name,
        rule.needs_policy,
        rule.preview,
        rule.on_request,
        SUBJECTS[rule.subject],
        tuple(sorted(rule.kinds)),
        rule.substrings,
        tuple(map(fact_name, rule.reports_at)),
    )


def _call(entry: Entry) -> str:
    """The expression for an entry, without fields that have their default."""
    options = [
        f"{name}={_literal(value)}"
        for name, value in entry._asdict().items()
        if name in Entry._field_defaults and value != Entry._field_defaults[name]
    ]
    names = map(_literal, (entry.code, entry.folder, entry.name))
    return f"Entry({', '.join([*names, *options])})"


def _literal(value: object) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_literal, value))}{',' * (len(value) == 1)})"
    return json.dumps(value).replace(" ", _SPACE) if isinstance(value, str) else repr(value)


def main(arguments: list[str]) -> int:
    compiled = text()
    if "--check" in arguments:
        if PATH.is_file() and PATH.read_text(encoding="utf-8") == compiled:
            return 0
        print(f"{PATH.name} is out of date: run `make compiled`", file=sys.stderr)
        return 1
    PATH.write_text(compiled, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
