"""Kueue's own configuration has a section that is not enabled.

In v1beta1 of the configuration, waitForPodsReady has no effect without `enable: true`: workloads are admitted
while others still wait for their pods, whatever its timeout and blockAdmission say.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.shape import mapping
from policykit.model.severity import Severity
from policykit.targets.kueue.names import CONFIGURATION, CONFIGURATION_GROUP

BAD = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: kueue-manager-config
  namespace: kueue-system
data:
  controller_manager_config.yaml: |
    apiVersion: config.kueue.x-k8s.io/v1beta1
    kind: Configuration
    waitForPodsReady:
      timeout: 10m
      blockAdmission: true
"""

GOOD = BAD.replace("waitForPodsReady:\n", "waitForPodsReady:\n      enable: true\n")

_FIELD, _SWITCH = "waitForPodsReady", "enable"


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Source: `WaitForPodsReady` in `apis/config/v1beta1` (0.9 to 0.19)."""
    if manifest.api_version != f"{CONFIGURATION_GROUP}/v1beta1":
        return
    section = mapping(manifest.data.get(_FIELD))
    if section and _SWITCH not in section:
        yield Violation(
            (_FIELD,),
            f"{_FIELD} has {', '.join(sorted(section))}, but not {_SWITCH}: true: it has no effect",
            f"add {_SWITCH}: true, or delete the section",
            key=True,
        )


RULE = Rule(
    code="PK930",
    name="inert-setting",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({CONFIGURATION}),
    substrings=(CONFIGURATION_GROUP,),
)
