"""A mapping contains the same key twice.

kubectl and other tools silently use the last value and ignore the first, also with --validate=strict;
the API server refuses such a document under strict validation only if it is sent as it is written. If
apiVersion and kind are repeated, a `---` line is missing before another object.
"""

from __future__ import annotations

from collections.abc import Iterator

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

_NAMES = frozenset({"apiVersion", "kind"})
"""Keys whose repetition marks the start of another object."""


def check(reading: SourceDocument, context: Context) -> Iterator[Violation]:
    joined = _object_boundaries(reading.parsed)
    reported = {id(each.node) for each in joined}
    for duplicate in reading.parsed.duplicates:
        key, line = duplicate.key, duplicate.first.start.line + 1
        if id(duplicate.node) not in reported:
            message = f"duplicate key `{key}`: the same mapping also has it on line {line}"
            advice = "keep one of them, or merge their values"
        elif key == joined[0].key:
            message = f"another object begins here without `---` after the one on line {line}"
            advice = "add a `---` line before it"
        else:
            continue  # reported with the object that begins above
        yield Violation(_span(duplicate.node), message, advice)


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
