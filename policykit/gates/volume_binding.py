"""Whether a PersistentVolume of the files can be bound to a claim.

Source: `checkVolumeSatisfyClaim` and `FindMatchingVolume` of the PersistentVolume controller (v1.36).
"""

from __future__ import annotations

from collections.abc import Sequence

from policykit.model.quantity import amount_text
from policykit.model.volumes import DeclaredClaim, DeclaredVolume


def misfit(claim: DeclaredClaim, volume: DeclaredVolume) -> tuple[str, str]:
    """Why the volume is never bound to the claim, and what to do; empty: it may be."""
    if volume.claim and volume.claim != f"{claim.namespace}/{claim.name}":
        return f"is for claim {volume.claim}", f"write {claim.namespace}/{claim.name} in its claimRef"
    if volume.claim:
        return "", ""  # bound as it is
    if claim.storage_class and volume.storage_class != claim.storage_class:
        has = f"has class {volume.storage_class}" if volume.storage_class else "has no class"
        return f"{has}, but the claim {claim.storage_class}", "write the same storageClassName in both"
    if volume.capacity is not None and claim.requested is not None and volume.capacity < claim.requested:
        has, wants = (amount_text("storage", size) for size in (volume.capacity, claim.requested))
        return f"has {has}, but the claim requests {wants}", f"request at most {has}"
    lacking = [mode for mode in claim.access_modes if mode not in volume.access_modes]
    if lacking and volume.access_modes:
        modes = ", ".join(volume.access_modes)
        return (
            f"has {modes}, but the claim requests {lacking[0]}",
            f"write accessModes: [{modes}] in the claim",
        )
    return "", ""


def unbound(claim: DeclaredClaim, volumes: Sequence[DeclaredVolume]) -> tuple[str, str]:
    """Why none of the volumes is bound to the claim, and what to do; empty: one may be, or there is none."""
    faults = [misfit(claim, volume) for volume in volumes]
    if not faults or not all(fault for fault, _ in faults):
        return "", ""
    fault, help_ = faults[0]
    first = volumes[0]
    if claim.volume or len(volumes) == 1:
        return f"PersistentVolume {first.name} {fault}", help_
    count = f"none of the {len(volumes)} PersistentVolumes of class {first.storage_class}"
    return f"{count} fits: {first.name} {fault}", help_
