"""Settings of the tool itself: linting and generation."""

from typing import Literal

from pydantic import Field

from policykit.policy.models.base import Model

NodeForm = Literal["labels", "taints", "kubelet", "kubeadm", "provider", "karpenter", "nfd"]


class Lint(Model):
    """What `policykit lint` reports. Rules are named PK101 or missing-toleration; PK1 is a family."""

    preset: Literal["minimal", "recommended", "strict"] = Field(
        "recommended",
        description="How much is told where nothing is selected. minimal: errors; recommended: errors, "
        "warnings and advice; strict: preview rules too, and those that are off unless asked for.",
    )
    select: tuple[str, ...] = Field((), description="Only these rules, in full. Default: as preset says.")
    ignore: tuple[str, ...] = Field((), description="Rules that stay silent.")
    severity: dict[str, Literal["error", "warning", "info"]] = Field(
        {}, description="Rule to the severity it has here."
    )
    per_path: dict[str, tuple[str, ...]] = Field({}, description="Path glob to rules silent there.")
    exclude: tuple[str, ...] = Field((), description="Path globs that are not linted.")
    extra_plugins: tuple[str, ...] = Field(
        (), description="Plugins, and actions of Volcano, that your schedulers are built with."
    )
    crds: tuple[str, ...] = Field(
        (), description="Files and folders with CustomResourceDefinitions of yours, relative to the policy."
    )


class Generate(Model):
    """What `policykit gen` writes."""

    out: str = Field("", description="Folder for generated files, relative to the policy.")
    nodes: tuple[NodeForm, ...] | None = Field(
        None, description="Forms in which node labels and taints are written. Default: all that apply."
    )
