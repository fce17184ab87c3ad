"""The label and taint scheme in effect: a preset, the changes of the policy and of a pool to it."""

from __future__ import annotations

from policykit.model.taint import Taint
from policykit.namedtuple import NamedTuple
from policykit.policy.models.scheme import KeyPart, PoolScheme, Scheme, TaintPart
from policykit.policy.presets import PRESETS, USAGE_KEY, Preset


class EffectiveTaint(NamedTuple):
    """A taint of the scheme. Empty parts follow from the label it belongs to."""

    key: str = ""
    value: str | None = None
    effect: str = "NoSchedule"
    explicit: bool = False
    """Whether the policy sets it; otherwise it comes from the preset."""


class EffectivePart(NamedTuple):
    """A label key and its taint."""

    key: str = ""
    """Empty for the product, whose key follows from the card."""
    label: bool = True
    taint: EffectiveTaint | None = None


class EffectiveScheme(NamedTuple):
    """The labels and taints of nodes for their usage and cards."""

    preset: Preset
    usage: EffectivePart
    product: EffectivePart
    discovery: str = ""
    """gfd, vendor or manual; empty: chosen by card and cloud."""
    resource_tolerations: bool = False

    @property
    def taints(self) -> tuple[EffectiveTaint, ...]:
        """Those of pools."""
        return tuple(part.taint for part in (self.usage, self.product) if part.taint)


def cluster_scheme(scheme: str | Scheme, domain: str) -> EffectiveScheme:
    """The scheme of pools that set none themselves."""
    if isinstance(scheme, str):
        return _from_preset(scheme, domain)
    return _override(_from_preset(scheme.preset or "seed", domain), scheme)


def pool_scheme(cluster: EffectiveScheme, scheme: str | PoolScheme | None, domain: str) -> EffectiveScheme:
    """The scheme of a pool: the cluster's with parts replaced, or another preset."""
    if scheme is None:
        return cluster
    if isinstance(scheme, str):
        return _from_preset(scheme, domain)
    return _override(_from_preset(scheme.preset, domain) if scheme.preset else cluster, scheme)


def control_plane_taint(scheme: str | Scheme, domain: str) -> Taint | None:
    """Taint of the control plane nodes; None if there is none or it is unknown."""
    stated = None if isinstance(scheme, str) else scheme.control_plane
    if stated is False:
        return None
    preset = PRESETS[scheme if isinstance(scheme, str) else scheme.preset or "seed"]
    template = preset.control_plane or (PRESETS["seed"].control_plane if stated else "")
    key = template.format(domain=domain) if domain else ""
    if isinstance(stated, TaintPart):
        return Taint(stated.key or key, stated.value or "", stated.effect) if stated.key or key else None
    return Taint(key) if key else None


def _from_preset(name: str, domain: str) -> EffectiveScheme:
    preset = PRESETS[name]
    return EffectiveScheme(
        preset,
        EffectivePart(
            USAGE_KEY.format(domain=domain) if domain else "",
            True,
            EffectiveTaint() if preset.usage_taint else None,
        ),
        EffectivePart("", True, EffectiveTaint() if preset.product_taint else None),
        resource_tolerations=preset.resource_tolerations,
    )


def _override(base: EffectiveScheme, changes: PoolScheme) -> EffectiveScheme:
    tolerations = changes.resource_tolerations
    return base._replace(
        usage=_override_part(base.usage, changes.usage),
        product=_override_part(base.product, changes.product),
        discovery=changes.discovery or base.discovery,
        resource_tolerations=base.resource_tolerations if tolerations is None else tolerations,
    )


def _override_part(part: EffectivePart, stated: bool | KeyPart | None) -> EffectivePart:
    if stated is None:
        return part
    if stated is False:
        return EffectivePart(part.key, False, None)
    if stated is True:
        return EffectivePart(part.key, True, part.taint or EffectiveTaint(explicit=True))
    return EffectivePart(
        stated.key or part.key,
        part.label if stated.label is None else stated.label,
        _override_taint(part.taint, stated.taint),
    )


def _override_taint(taint: EffectiveTaint | None, stated: bool | TaintPart | None) -> EffectiveTaint | None:
    if stated is None:
        return taint
    if stated is False:
        return None
    if stated is True:
        return taint or EffectiveTaint(explicit=True)
    return EffectiveTaint(stated.key, stated.value, stated.effect, explicit=True)
