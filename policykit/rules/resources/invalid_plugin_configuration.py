"""The configuration of NVIDIA's device plugin does not load, or a part of it has no effect.

The plugin does not start with fewer than two replicas of a card, without a number of them, or with a MIG
strategy that it does not know: the nodes then offer no card. Keys that it does not know, and `rename`, are
ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, text
from policykit.model.severity import Severity
from policykit.nearest import nearest
from policykit.targets.nodes import PLUGIN_CONFIGURATION

BAD = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: device-plugin
  namespace: gpu-operator
data:
  any: |
    version: v1
    sharing:
      timeSlicing:
        resources:
        - name: nvidia.com/gpu
          replicas: 1
"""

GOOD = BAD.replace("replicas: 1", "replicas: 4")

_SHARING = ("renameByDefault", "failRequestsGreaterThanOne", "resources")
_RESOURCE = ("name", "rename", "devices", "replicas")
_STRATEGIES = ("none", "single", "mixed")
_LEAST = 2


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Source: `api/config/v1` of k8s-device-plugin (0.12 to 0.18)."""
    flags, sharing = mapping(manifest.data.get("flags")), mapping(manifest.data.get("sharing"))
    strategy = text(flags.get("migStrategy"))
    if strategy and strategy not in _STRATEGIES and not is_placeholder(strategy):
        near = nearest(strategy, _STRATEGIES)
        yield Violation(
            ("flags", "migStrategy"),
            f"migStrategy is {strategy!r}, which the device plugin does not know: it does not start",
            f"did you mean {near}?" if near else "write none, single or mixed",
        )
    for kind in ("timeSlicing", "mps"):
        shared = mapping(sharing.get(kind))
        yield from _unknown(shared, ("sharing", kind), _SHARING)
        listed = shared.get("resources")
        for number, each in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(each, Mapping):
                yield from _resource(each, ("sharing", kind, "resources", number))


def _resource(written: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    yield from _unknown(written, path, _RESOURCE)
    replicas = written.get("replicas")
    if "replicas" not in written:
        yield Violation(
            path,
            "the resource has no replicas: the device plugin does not start",
            f"add the number of pods that share a card, at least {_LEAST}",
        )
    elif isinstance(replicas, int) and not isinstance(replicas, bool) and replicas < _LEAST:
        yield Violation(
            (*path, "replicas"),
            f"replicas is {replicas}, but must be at least {_LEAST}: the device plugin does not start",
            "raise it, or delete the resource if its cards are not shared",
        )
    if text(written.get("rename")):
        yield Violation(
            (*path, "rename"),
            "the device plugin ignores rename: only renameByDefault changes the name, "
            "to one ending in .shared",
            "delete it, or set renameByDefault: true",
            Severity.WARNING,
            key=True,
        )


def _unknown(written: Mapping[str, Any], path: Path, known: tuple[str, ...]) -> Iterator[Violation]:
    for key in written:
        likely = nearest(key, known) if isinstance(key, str) and key not in known else ""
        if likely and likely not in written:
            yield Violation(
                (*path, key),
                f"the device plugin does not read {key}",
                f"did you mean {likely}?",
                Severity.WARNING,
                key=True,
            )


RULE = Rule(
    code="PK220",
    name="invalid-plugin-configuration",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({PLUGIN_CONFIGURATION}),
)
