"""The text that configures kube-scheduler, and every scheduler built on it."""

from __future__ import annotations

from policykit.linter.configurations import Configuration

KIND = "KubeSchedulerConfiguration"

CONFIGURATION = Configuration(
    KIND, (KIND,), lambda data: isinstance(data, dict) and data.get("kind") == KIND, kind=KIND
)
