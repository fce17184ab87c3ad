"""The policy file, with the settings of policykit itself."""

from typing import Annotated, Literal

from pydantic import Field, Tag

from policykit.policy.models.base import BY_FORM, Model
from policykit.policy.models.pool import Card, Pool, SchemeChoice
from policykit.policy.models.queue import Preemption, Priority, Queue, Quota, Reservation, Tenant
from policykit.policy.models.targets import Targets
from policykit.policy.models.workload import Placement, Workload

NodeForm = Literal["labels", "taints", "kubelet", "kubeadm", "provider", "karpenter", "nfd"]
NotJudgedReason = Literal[
    "no-program",
    "remote",
    "chart",
    "program",
    "outside",
    "generated",
    "encrypted",
    "unknown-variable",
    "over-limits",
    "build-failed",
    "no-policy",
    "empty-input",
    "not-yaml",
    "source",
]


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
        (), description="Plugins, and actions of Volcano, that your schedulers are built with."
    )
    crds: tuple[str, ...] = Field(
        (), description="Files and folders with your CustomResourceDefinitions, relative to the policy."
    )
    accept_not_judged: dict[NotJudgedReason, tuple[str, ...]] = Field(
        {},
        description="Reason to globs of files and kustomizations that `lint --require-judged` does not "
        "require to be judged.",
    )


class Generate(Model):
    """Output folder and forms of `policykit gen`."""

    out: str = Field("", description="Folder for generated files, relative to the policy.")
    nodes: tuple[NodeForm, ...] | None = Field(
        None, description="Forms in which to write node labels and taints. Default: all that apply."
    )


class Chart(Model):
    """How a chart of the repository is rendered."""

    values: tuple[str, ...] = Field(
        (), description="Values files, relative to the policy; later ones override earlier ones."
    )
    release: str = Field("", description="Name of the release. Default: that of the chart's folder.")
    namespace: str = Field("", description="Namespace of the release. Default: default.")


class AppliedFolder(Model):
    """A folder whose objects the cluster applies: a kustomization, a folder of manifests, or a chart."""

    path: str = Field(description="Folder, relative to the policy.")
    substitute: dict[str, str] = Field(
        {},
        description="Variables to their values: ${NAME} is replaced in the built objects, as Flux does it.",
    )
    substitute_from: tuple[str, ...] = Field(
        (),
        description="Files with variables, relative to the policy: ConfigMaps, or maps of names to values. "
        "Later ones override earlier ones; substitute overrides all of them.",
    )
    helm: Chart | None = Field(None, description="Makes it a chart, and says how it is rendered.")


class ArgoCluster(Model):
    """What Argo CD calls the cluster."""

    name: str = Field("", description="Its name in Argo CD. Default: metadata.name.")
    server: str = Field("", description="Address of its API server, as in destinations of Applications.")


class Applies(Model):
    """What the cluster applies, and how GitOps controllers refer to it."""

    folders: tuple[AppliedFolder, ...] | None = Field(
        None, description="All that the cluster applies. Default: what objects of Flux and Argo CD say."
    )
    argocd: ArgoCluster | None = Field(None, description="What Argo CD calls the cluster.")
    repositories: tuple[str, ...] = Field(
        (),
        description="Further URLs of this repository, besides those of its git remotes; or names of "
        "GitRepositories of Flux that are defined elsewhere.",
    )


AppliesChoice = Annotated[
    Annotated[tuple[AppliedFolder, ...], Tag("<list>")] | Annotated[Applies, Tag("<map>")], BY_FORM
]


class Metadata(Model):
    """Name, labels and annotations of the policy."""

    name: str = Field("", description="Name of the cluster that the policy describes.")
    labels: dict[str, str] = Field({}, description="For your own use.")
    annotations: dict[str, str] = Field({}, description="For your own use.")


class Formerly(Model):
    """Former names, by the present ones. Nodes and pods may have either until the entry is removed."""

    domain: dict[str, tuple[str, ...]] = Field(
        {}, description="Former domains: nodes carry both labels, and pods accept either."
    )
    usages: dict[str, tuple[str, ...]] = Field(
        {}, description="Former usages: pods accept either, and a node has one of them."
    )
    products: dict[str, tuple[str, ...]] = Field(
        {}, description="Former values of the product label: pods accept either, and a node has one of them."
    )
    queues: dict[str, tuple[str, ...]] = Field(
        {}, description="Former queues: they stay, without a share of their own, until they are empty."
    )
    name: dict[str, tuple[str, ...]] = Field(
        {}, description="Former names of the policy: files generated under them are replaced and pruned."
    )


class Policy(Model):
    """Desired state of an AI cluster.

    Every key is optional: a base sets some, an overlay others. Required keys are checked
    after all files are merged.
    """

    api_version: Literal["policykit.io/v1alpha1"] = Field(
        "policykit.io/v1alpha1", description="Version of this format."
    )
    kind: Literal["Policy"] = Field("Policy", description="Always Policy.")
    metadata: Metadata = Field(Metadata.model_construct(), description="Name of the policy.")
    extends: tuple[str, ...] = Field(
        (),
        description="Policies to extend: files or profile:NAME. Later ones override earlier ones; this file "
        "overrides all of them.",
    )
    policykit: str = Field("", description='Versions of policykit that can read this policy: ">=0.1,<0.2".')
    domain: str = Field("", description="Your label domain: maip.example.com.")
    kubernetes: str = Field("", description='Kubernetes version of the cluster, in quotes: "1.36".')
    feature_gates: dict[str, bool] = Field(
        {},
        description="Feature gates of Kubernetes that the cluster has switched on (true) or off. Default: "
        "those that its version has on.",
    )
    provider: Literal["gke", "eks", "aks", "ack"] | None = Field(
        None,
        description="Cloud that the cluster runs on. Default: that of the scheme, if it is a cloud's.",
    )
    coverage: Literal["partial", "complete"] = Field(
        "partial", description="complete: the policy lists all pools; partial: the cluster may have others."
    )
    scheme: SchemeChoice = Field(
        "seed", description="Label and taint design: a preset, optionally with parts replaced."
    )
    cards: dict[str, Card] = Field({}, description="Accelerator cards, by the names this policy gives them.")
    pools: dict[str, Pool] = Field({}, description="Node pools by name.")
    placements: dict[str, Placement] = Field(
        {}, description="Placements by name, in addition to the built-in binpack and spread."
    )
    workloads: dict[str, Workload] = Field(
        {}, description="Workload kinds by name; the order matters for match."
    )
    queues: dict[str, Queue] = Field({}, description="Queues by name.")
    tenants: dict[str, Tenant] = Field({}, description="Teams by name.")
    priorities: dict[str, Priority] = Field({}, description="PriorityClasses by name.")
    preemption: Preemption = Field(
        Preemption.model_construct(), description="Which pods may be preempted for which."
    )
    quotas: dict[str, Quota] = Field({}, description="ResourceQuotas and LimitRanges by name.")
    reservations: dict[str, Reservation] = Field({}, description="Capacity kept free, by name.")
    schedulers: tuple[str, ...] = Field(
        (), description="schedulerNames served by other schedulers, in addition to those of the targets."
    )
    placed_elsewhere: tuple[str, ...] = Field(
        (),
        description="Namespaces whose pods something else places, such as a webhook: no finding says that no "
        "pool takes them.",
    )
    targets: Targets | None = Field(
        None, description="Systems to generate for. Default: those of the schedulers that workload kinds use."
    )
    formerly: Formerly = Field(
        Formerly.model_construct(),
        description="Former names, valid next to the present ones while a change is under way.",
    )
    lint: Lint = Field(Lint.model_construct(), description="Settings of `policykit lint`.")
    generate: Generate = Field(Generate.model_construct(), description="Settings of `policykit gen`.")
    applies: AppliesChoice | None = Field(
        None,
        description="All that the cluster applies. Default: what objects of Flux and Argo CD say, else the "
        "files whose nearest policy it is.",
    )
