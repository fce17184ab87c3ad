"""Fingerprints, which identify a finding across versions of its file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import sha256

from policykit.linter.finding import Finding


def fingerprints(findings: Iterable[tuple[str, Finding]]) -> Iterator[str]:
    """A fingerprint for each (path, finding): from the rule, the object and the field, not the line.

    Equal findings of one field are numbered.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    for path, finding in findings:
        resource = finding.resource
        key = (
            finding.code,
            path,
            "/".join((resource.api_version, str(resource))) if resource else "",
            finding.field or finding.pointer,
            finding.message,
        )
        text = "\0".join((*key, str(seen[key])))
        seen[key] += 1
        yield sha256(text.encode("utf-8", errors="backslashreplace")).hexdigest()[:32]
