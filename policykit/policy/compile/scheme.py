"""The label and taint scheme in effect: a preset, the changes of the policy and of a pool to it."""

from __future__ import annotations

from typing import NamedTuple

from policykit.model.taint import Taint
from policykit.policy.models.scheme import KeyPart, PoolScheme, Scheme, TaintPart
from policykit.policy.presets import PRESETS, USAGE_KEY, Preset


class TaintDesign(NamedTuple):
    """A taint of the scheme. Empty parts follow from the label it belongs to."""

    key: str = ""
    value: str | None = None
    effect: str = "NoSchedule"
    stated: bool = False
    """Whether the policy sets it; else it is the preset's."""


class Part(NamedTuple):
    """A label key and its taint."""

    key: str = ""
    """Empty for the product, whose key follows from the card."""
    label: bool = True
    taint: TaintDesign | None = None


class Design(NamedTuple):
    """The labels and taints of nodes for their usage and cards."""

    preset: Preset
    usage: Part
    product: Part
    discovery: str = ""
    """gfd, vendor or manual; empty: chosen by card and cloud."""
    resource_tolerations: bool = False

    @property
    def taints(self) -> tuple[TaintDesign, ...]:
        """Those of pools."""
        return tuple(part.taint for part in (self.usage, self.product) if part.taint)


def cluster_design(scheme: str | Scheme, domain: str) -> Design:
    """The design of pools without a scheme of their own."""
    if isinstance(scheme, str):
        return _of_preset(scheme, domain)
    return _changed(_of_preset(scheme.preset or "seed", domain), scheme)


def pool_design(cluster: Design, scheme: str | PoolScheme | None, domain: str) -> Design:
    """The design of a pool: the cluster's with parts replaced, or another preset."""
    if scheme is None:
        return cluster
    if isinstance(scheme, str):
        return _of_preset(scheme, domain)
    return _changed(_of_preset(scheme.preset, domain) if scheme.preset else cluster, scheme)


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


def _of_preset(name: str, domain: str) -> Design:
    preset = PRESETS[name]
    return Design(
        preset,
        Part(
            USAGE_KEY.format(domain=domain) if domain else "",
            True,
            TaintDesign() if preset.usage_taint else None,
        ),
        Part("", True, TaintDesign() if preset.product_taint else None),
        resource_tolerations=preset.resource_tolerations,
    )


def _changed(design: Design, scheme: PoolScheme) -> Design:
    tolerations = scheme.resource_tolerations
    return design._replace(
        usage=_changed_part(design.usage, scheme.usage),
        product=_changed_part(design.product, scheme.product),
        discovery=scheme.discovery or design.discovery,
        resource_tolerations=design.resource_tolerations if tolerations is None else tolerations,
    )


def _changed_part(part: Part, stated: bool | KeyPart | None) -> Part:
    if stated is None:
        return part
    if stated is False:
        return Part(part.key, False, None)
    if stated is True:
        return Part(part.key, True, part.taint or TaintDesign(stated=True))
    return Part(
        stated.key or part.key,
        part.label if stated.label is None else stated.label,
        _changed_taint(part.taint, stated.taint),
    )


def _changed_taint(taint: TaintDesign | None, stated: bool | TaintPart | None) -> TaintDesign | None:
    if stated is None:
        return taint
    if stated is False:
        return None
    if stated is True:
        return taint or TaintDesign(stated=True)
    return TaintDesign(stated.key, stated.value, stated.effect, stated=True)
