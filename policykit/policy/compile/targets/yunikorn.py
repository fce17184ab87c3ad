"""YuniKorn's own part of the policy."""

from __future__ import annotations

from typing import Any

from policykit.manifests.path import Path
from policykit.policy.compile.draft import Draft
from policykit.policy.compile.targets.stated import Stated
from policykit.policy.models.targets.yunikorn import Yunikorn


def options(draft: Draft, path: Path, stated: Yunikorn, given: Stated) -> dict[str, Any]:
    """`Target.options` of YuniKorn: nothing so far."""
    return {}
