"""Settings of policykit itself: linting and generation."""

from typing import Literal

from pydantic import Field

from policykit.policy.models.base import Model

NodeForm = Literal["labels", "taints", "kubelet", "kubeadm", "provider", "karpenter", "nfd"]


class Lint(Model):
    """Settings of `policykit lint`. Rules are given as PK101 or missing-toleration; PK1 is a family."""

    preset: Literal["minimal", "recommended", "strict"] = Field(
        "recommended",
        description="Rules to run if select is not set. minimal: errors; recommended: errors, warnings and "
        "info; strict: also preview rules and rules that are off by default.",
    )
    select: tuple[str, ...] = Field((), description="Run only these rules. Default: those of the preset.")
    ignore: tuple[str, ...] = Field((), description="Rules not to run.")
    severity: dict[str, Literal["error", "warning", "info"]] = Field(
        {}, description="Rule to its severity in this policy."
    )
    per_path: dict[str, tuple[str, ...]] = Field(
        {}, description="Path glob to rules not to run on matching files."
    )
    exclude: tuple[str, ...] = Field((), description="Path globs of files not to lint.")
    extra_plugins: tuple[str, ...] = Field(
        (), description="Out-of-tree scheduler plugins that your schedulers include."
    )
    crds: tuple[str, ...] = Field(
        (), description="Files and folders with your CustomResourceDefinitions, relative to the policy."
    )


class Generate(Model):
    """Output folder and forms of `policykit gen`."""

    out: str = Field("", description="Folder for generated files, relative to the policy.")
    nodes: tuple[NodeForm, ...] | None = Field(
        None, description="Forms in which to write node labels and taints. Default: all that apply."
    )
