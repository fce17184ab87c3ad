"""Volumes of a Job: where each is mounted, and which claim it has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.kube.names import dns_subdomain_problem
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.shape import text
from policykit.targets.volcano.checks.specs import Spec


def faults(spec: Spec) -> Iterator[Violation]:
    """Source: `validateIO` in `webhooks/admission/jobs/validate/util.go` (1.8 to 1.15)."""
    listed = spec.data.get("volumes")
    seen: set[str] = set()
    for number, volume in enumerate(listed if isinstance(listed, list) else ()):
        if not isinstance(volume, Mapping):
            continue
        path = (*spec.path, "volumes", number)
        mount, name = text(volume.get("mountPath")), text(volume.get("volumeClaimName"))
        claim = volume.get("volumeClaim") is not None
        if mount and mount in seen:
            yield Violation(
                (*path, "mountPath"), f"two volumes are mounted at {mount}", "give each a path of its own"
            )
        seen.add(mount)
        if claim and name:
            yield Violation(
                (*path, "volumeClaim"),
                f"the volume names claim {name} and describes one too: it may have one of them",
                "keep volumeClaimName for a claim that exists, volumeClaim for a new one",
                key=True,
            )
        elif not claim and volume.get("volumeClaimName") in (None, ""):
            yield Violation(
                path, "the volume has neither volumeClaimName nor volumeClaim", "say which claim it is"
            )
        elif name and not is_placeholder(name) and (problem := dns_subdomain_problem(name)):
            yield Violation((*path, "volumeClaimName"), f"volumeClaimName {name!r} {problem}", "correct it")
