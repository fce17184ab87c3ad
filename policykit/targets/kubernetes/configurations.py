"""The text that configures kube-scheduler, and every scheduler built on it."""

from __future__ import annotations

import re

from policykit.linter.configurations import Configuration
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup

KIND = "KubeSchedulerConfiguration"
_STATED = re.compile(rf"^kind: *{KIND} *$", re.MULTILINE)
_HEAD = re.compile(r"(?:[ ]*(?:#.*)?\n|---.*\n)*(?:apiVersion|kind):")
_TEMPLATE = ("{{", "<%", "${")


def _is_named(holder: Manifest, path: Path) -> bool:
    """A ConfigMap string that states this kind is a configuration, even if it cannot be parsed."""
    text = lookup(holder.data, path)
    if holder.kind != "ConfigMap" or not isinstance(text, str) or any(sign in text for sign in _TEMPLATE):
        return False
    return bool(_HEAD.match(text) and _STATED.search(text))


CONFIGURATION = Configuration(
    KIND, (KIND,), lambda data: isinstance(data, dict) and data.get("kind") == KIND, _is_named, kind=KIND
)
