"""The cpu and memory that Spark's operator requests for a driver or an executor."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from policykit.kube.podsets.podset import DeviceRequest
from policykit.kube.podsets.walk import value
from policykit.manifests.path import Path
from policykit.model.quantity import amount

_MEMORY = re.compile(r"([0-9]{1,12})([kmgtp]?)b?\Z", re.IGNORECASE)
_UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40, "p": 50}
"""Powers of two."""
_LEAST_OVERHEAD = 384 << 20
_DEFAULT_MEMORY = 1 << 30


def requests(found: Any, path: Path) -> Iterator[DeviceRequest]:
    """Of `driver` or `executor`; the least that Spark asks for, since its configuration may add more.

    Source: `BasicDriverFeatureStep` and `BasicExecutorFeatureStep` (Spark 3.5).
    """
    if not isinstance(found, dict) or "template" in found:
        return
    cores = "cores" if found.get("coreRequest") is None else "coreRequest"
    written = found.get(cores)
    asked = amount("cpu", 1 if written is None else written)
    if asked:
        yield DeviceRequest(_written(found, path, cores), "cpu", asked)
    heap, overhead = _bytes(found, "memory", _DEFAULT_MEMORY), _bytes(found, "memoryOverhead", None)
    if heap is not None:
        added = max(heap // 10, _LEAST_OVERHEAD) if overhead is None else overhead
        yield DeviceRequest(_written(found, path, "memory"), "memory", heap + added)


def _written(found: dict[str, Any], path: Path, field: str) -> Path:
    return path if found.get(field) is None else (*path, field)


def _bytes(found: dict[str, Any], field: str, default: int | None) -> int | None:
    """An amount in the form of the JVM: 512m, 5g; the default where none can be read."""
    written = value(found, (field,))
    if written is None:
        return default
    match = _MEMORY.match(written.strip()) if isinstance(written, str) else None
    return int(match[1]) << _UNITS[match[2].lower()] if match and match[2] else None
