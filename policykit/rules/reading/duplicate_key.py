"""A mapping contains the same key twice.

kubectl and other tools silently use the last value and ignore the first, also with --validate=strict;
the API server refuses such a document under strict validation only if it is sent as it is written. If
apiVersion and kind are repeated, a `---` line is missing before another object.

A warning where a file is neither an object nor the configuration of a known program: what reads it may take
both values, as Fluent Bit does, or refuse the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.linter.rule import Context, Rule, SourceDocument, Violation
from policykit.manifests.node import Duplicate, Node, Span
from policykit.manifests.parser import ParsedDocument
from policykit.model.severity import Severity

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: infer
  labels:
    app: infer
spec:
  nodeSelector:
    maip.mxsf.io/node.usage: inference
  containers:
  - name: main
    image: registry.example.com/infer:1.0
  nodeSelector:
    kubernetes.io/arch: amd64
"""
GOOD = """\
apiVersion: v1
kind: Pod
metadata:
  name: infer
  labels:
    app: infer
spec:
  nodeSelector:
    maip.mxsf.io/node.usage: inference
    kubernetes.io/arch: amd64
  containers:
  - name: main
    image: registry.example.com/infer:1.0
"""

_SHOWN = 3
"""Lines that are named."""
_OF_KNOWN = frozenset({"apiVersion", "kind", "partitions", "tiers", "actions"})
"""Keys of objects, and of the configurations of YuniKorn and Volcano."""
_LISTS = ("resources", "bases", "components", "patches", "patchesStrategicMerge", "configMapGenerator")
"""Lists of a kustomization, which may have neither apiVersion nor kind."""
_NAMES = frozenset({"apiVersion", "kind"})
"""Keys whose repetition marks the start of another object."""


def check(reading: SourceDocument, context: Context) -> Iterator[Violation]:
    joined = _object_boundaries(reading.parsed)
    reported = {id(each.node) for each in joined}
    earlier = {id(each.node): each for each in reading.parsed.duplicates}
    repeated = {id(each.first) for each in reading.parsed.duplicates}
    severity = None if not earlier or _is_known(reading.parsed) else Severity.WARNING
    for duplicate in reading.parsed.duplicates:
        key, line = duplicate.key, duplicate.first.start.line + 1
        if id(duplicate.node) not in reported:
            if id(duplicate.node) in repeated and not reported:
                continue  # reported with the last one
            message = f"duplicate key `{key}`: the same mapping also has it on {_lines(duplicate, earlier)}"
            advice = "keep one of them, or merge their values"
        elif key == joined[0].key:
            message = f"another object begins here without `---` after the one on line {line}"
            advice = "add a `---` line before it"
        else:
            continue  # reported with the object that begins above
        yield Violation(_span(duplicate.node), message, advice, severity)


def _lines(duplicate: Duplicate, earlier: Mapping[int, Duplicate]) -> str:
    """The lines of the same key before."""
    found = [duplicate.first.start.line + 1]
    while (before := earlier.get(id(duplicate.first))) is not None:
        duplicate = before
        found.append(duplicate.first.start.line + 1)
    found.reverse()
    if len(found) == 1:
        return f"line {found[0]}"
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return f"lines {', '.join(map(str, found[:_SHOWN]))}{more}"


def _is_known(parsed: ParsedDocument) -> bool:
    """Whether it is an object, or a configuration whose reader is known."""
    data = parsed.root.data if parsed.root is not None else None
    if not isinstance(data, dict):
        return False
    return not data.keys().isdisjoint(_OF_KNOWN) or any(isinstance(data.get(key), list) for key in _LISTS)


def _object_boundaries(parsed: ParsedDocument) -> tuple[Duplicate, ...]:
    """Keys of objects that follow another one without `---`: apiVersion and kind are repeated."""
    entries = parsed.root.entries if parsed.root is not None else None
    if not isinstance(entries, dict):
        return ()
    earlier = {id(duplicate.node): duplicate.first for duplicate in parsed.duplicates}
    of_objects: set[int] = set()
    for key, _ in entries.values():
        while id(key) in earlier:
            of_objects.add(id(key))
            key = earlier[id(key)]
    own = tuple(duplicate for duplicate in parsed.duplicates if id(duplicate.node) in of_objects)
    if not {duplicate.key for duplicate in own} >= _NAMES:
        return ()
    return own[next(number for number, duplicate in enumerate(own) if duplicate.key in _NAMES) :]


def _span(node: Node) -> Span:
    start, end = node.start, node.end
    return Span(start.line + 1, start.column + 1, end.line + 1, end.column + 1)


RULE = Rule(
    code="PK002",
    name="duplicate-key",
    severity=Severity.ERROR,
    subject=SourceDocument,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
