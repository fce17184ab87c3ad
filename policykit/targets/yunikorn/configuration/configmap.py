"""What carries a configuration: ConfigMap yunikorn-configs, or Helm values of the chart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.manifests.path import Path, Step
from policykit.manifests.shape import mapping

CONFIGS = "yunikorn-configs"
"""The user's ConfigMap: its keys override those of DEFAULTS."""
DEFAULTS = "yunikorn-defaults"
"""The chart's ConfigMap."""
VALUES = "yunikornDefaults"
"""Chart value with the keys of DEFAULTS."""
NAMESPACE = "yunikorn"
POLICY_GROUP = "service.policyGroup"
GZIP_SUFFIX = ".gz"
"""Suffix of keys in binaryData: gzip in base64."""
_MAX_UNPACKED = 1 << 22
"""In bytes. A ConfigMap holds 1 MiB, and a queue configuration compresses about tenfold."""


def is_read(name: object) -> bool:
    """Whether the scheduler reads a ConfigMap of this name."""
    return name in (CONFIGS, DEFAULTS)


def entries(queues: str, policy_group: str, settings: Mapping[str, str]) -> dict[str, str]:
    """Data of either ConfigMap. `queues` is the text of queues.yaml."""
    stated = dict(settings) if policy_group == "queues" else {**settings, POLICY_GROUP: policy_group}
    return {**dict(sorted(stated.items())), f"{policy_group}.yaml": queues}


def manifest(data: Mapping[str, str], namespace: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": CONFIGS, "namespace": namespace or NAMESPACE},
        "data": dict(data),
    }


def values(data: Mapping[str, str]) -> dict[str, Any]:
    return {VALUES: dict(data)}


def policy_group(data: Mapping[str, Any]) -> str:
    """Name of the configuration that the scheduler uses."""
    stated = data.get(POLICY_GROUP)
    return stated if isinstance(stated, str) and stated else "queues"


def source(data: object) -> tuple[Path, str]:
    """Path and text of the configuration in a ConfigMap or in Helm values; empty if there is none."""
    where, data_entries = _entries(mapping(data))
    key = f"{policy_group(data_entries)}.yaml"
    text = data_entries.get(key)
    return ((*where, key), text) if isinstance(text, str) else ((), "")


def _entries(data: Mapping[str, Any]) -> tuple[tuple[Step, ...], Mapping[str, Any]]:
    """Keys of a ConfigMap of YuniKorn, or of the chart values that become one."""
    if data.get("kind") == "ConfigMap":
        ours = is_read(mapping(data.get("metadata")).get("name"))
        return (("data",), mapping(data.get("data"))) if ours else ((), {})
    if "kind" in data:
        return (), {}
    return (VALUES,), mapping(data.get(VALUES))


def unpack(text: str) -> str | None:
    """The text; None if it is not gzip in base64, not UTF-8, or too large."""
    import zlib
    from base64 import b64decode

    try:
        packed = b64decode("".join(text.split()), validate=True)
        reader = zlib.decompressobj(wbits=31)
        raw = reader.decompress(packed, _MAX_UNPACKED)
        return raw.decode("utf-8") if reader.eof else None
    except (ValueError, zlib.error):
        return None
