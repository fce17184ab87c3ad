"""Paths: keys and indices from the root of a document."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from policykit.extension import compiled

Step = str | int
Path = tuple[Step, ...]


def pointer(path: Sequence[Step]) -> str:
    """RFC 6901 JSON pointer: ("metadata", "labels", "a/b") is /metadata/labels/a~1b."""
    plain = "".join([f"/{step}" for step in path])
    if "~" not in plain and plain.count("/") == len(path):
        return plain  # most
    return "".join([f"/{escaped(step)}" if isinstance(step, str) else f"/{step}" for step in path])


def escaped(step: str) -> str:
    """A key as a step of a JSON pointer."""
    return step.replace("~", "~0").replace("/", "~1") if "~" in step or "/" in step else step


def dotted(path: Sequence[Step]) -> str:
    """For messages: spec.tasks[0].template, with keys that hold dots in brackets."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif "." in step or "/" in step or not step:
            text += f"[{step!r}]"
        else:
            text += f".{step}" if text else step
    return text or "(document)"


def lookup_in_python(data: object, path: Sequence[Step]) -> object:
    """Value at `path` in plain data, None where a step is missing or of another shape."""
    for step in path:
        if isinstance(data, dict):
            data = data.get(step)
        elif isinstance(data, list) and isinstance(step, int) and -len(data) <= step < len(data):
            data = data[step]
        else:
            return None
    return data


lookup: Callable[[object, Sequence[Step]], object] = compiled.lookup if compiled else lookup_in_python
"""The same, with the extension where it is there."""
