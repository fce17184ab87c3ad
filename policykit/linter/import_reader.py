"""ImportReader: reads the objects and the configuration of one target for `policykit import`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from policykit.manifests.parser import parse
from policykit.manifests.shape import mapping, mappings, text
from policykit.model.release import is_release
from policykit.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policykit.manifests.document import Manifest
    from policykit.model.cluster import Cluster
    from policykit.model.inventory import Inventory, LevelBound

_HELM_NAMESPACE = re.compile(r"`helm upgrade \S+ \S+ -n (\S+) ")
"""The Helm command in a README, with its namespace."""


class WorkloadComponent(NamedTuple):
    """A generated kustomize component of a workload kind, as far as targets write to it."""

    owner: Mapping[str, Any]
    """Metadata of the object that creates the pods."""
    pods: Mapping[str, Any]
    """Metadata of its pods."""
    job_fields: Mapping[str, object]
    """Path to value of the JSON patches of jobs of a target's own kinds: `/spec/queue`."""


class ImportReader:
    """Reads the files of one target into an inventory; each import creates its own."""

    target_name: ClassVar[str] = ""
    """Name of the target."""
    namespace: ClassVar[str] = ""
    """Namespace that a policy need not state."""

    def __init__(self, inventory: Inventory) -> None:
        self.inventory = inventory

    def read_generated(self, path: tuple[str, ...], source: str) -> bool:
        """Reads a file that `gen` wrote to the target's folder. True: it has no objects to read.

        `path`: names of folders and file below that folder.
        """
        if path == ("README.md",):
            self.read_readme(source)
        return False

    def read_readme(self, source: str) -> None:
        """Reads version and namespace: `# Volcano 1.15.1` and a Helm command."""
        command = _HELM_NAMESPACE.search(source)
        self.add_target(version=version_in_title(source), namespace=command[1] if command else "")

    def read_object(self, manifest: Manifest, path: str) -> bool:
        """Reads an object; False: it is none of the target's. If True, no other target gets it."""
        return False

    def read_values(self, data: Mapping[str, Any], path: str) -> bool:
        """Reads a mapping without kind, such as Helm values; False: they are not the target's."""
        return False

    def finish(self) -> None:
        """Called when all files are read."""

    def name_cards(self, cards: Mapping[str, str]) -> None:
        """Replaces resources in the target's options by names of cards; `cards`: resource to name."""

    def add_options(self, policy: dict[str, Any], cluster: Cluster) -> None:
        """Adds options to a policy with the target; `cluster`: the policy compiled without them."""

    @classmethod
    def component_queue(cls, component: WorkloadComponent) -> str:
        """The queue that a component gives the pods; empty: none of the target's."""
        return ""

    @classmethod
    def component_level(cls, component: WorkloadComponent) -> LevelBound | None:
        """The level within which a component keeps the pods of a job; None: none of the target's."""
        return None

    def add_target(self, namespace: str = "", **fields: Any) -> None:
        """Adds the target to the policy, with fields that are neither empty nor known yet."""
        other = namespace if namespace != self.namespace else ""
        self.inventory.target(self.target_name, namespace=other, **fields)

    def read_image(self, manifest: Manifest, image: str, prefix: str = "") -> bool:
        """Reads the version of an image that a Deployment runs; False: it does not run it.

        The version is in the tag, after `prefix`, or else in labels from the chart.
        """
        if manifest.kind != "Deployment":
            return False
        found = [(name, tag) for name, tag in images(manifest.data) if _basename(name) == image]
        tags = [tag.partition("@")[0] for _, tag in found if tag.startswith(prefix)]
        if not found or (prefix and not tags):
            return False
        labels = manifest.labels
        stated = [*(tag.removeprefix(prefix) for tag in tags), labels.get("app.kubernetes.io/version", "")]
        stated.append(labels.get("helm.sh/chart", "").rpartition("-")[2])
        version = next((each.removeprefix("v") for each in stated if is_release(each)), "")
        if not version:
            self.inventory.add_remark(
                f"Deployment {manifest.name}: no release in the tag of image {image} or in the labels; set "
                f"targets.{self.target_name}.version"
            )
        self.add_target(version=version)
        return True


def version_in_title(page: str) -> str:
    """1.8.0 of `# Koordinator 1.8.0: ...`, the title of a README; empty: none."""
    title = next((line for line in page.splitlines() if line.startswith("# ")), "").split()
    return title[2].rstrip(":") if len(title) > 2 else ""


def images(deployment: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(name, tag) of each image that a Deployment runs. The tag includes the digest; empty: there is none."""
    spec = mapping(mapping(mapping(deployment.get("spec")).get("template")).get("spec"))
    for container in mappings(spec.get("containers")):
        image = text(container.get("image"))
        plain, at, digest = image.partition("@")
        name, colon, tag = plain.rpartition(":")
        if not colon or "/" in tag:  # the port of a registry
            yield image, ""
        else:
            yield name, f"{tag}{at}{digest}"


def _basename(image: str) -> str:
    """`vc-scheduler` of registry.example:5000/volcanosh/vc-scheduler@sha256:..."""
    return image.partition("@")[0].rpartition("/")[2]


def documents(source: str) -> list[Mapping[str, Any]]:
    """The documents of a YAML text; those with syntax errors are left out."""
    return [mapping(document.root.data) for document in parse(source) if document.root is not None]
