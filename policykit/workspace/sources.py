"""What a cluster applies: folders of the repository, each as its controller reads and changes it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from policykit.manifests.path import Path
from policykit.namedtuple import NamedTuple


class Form(Enum):
    """How a folder becomes objects."""

    KUSTOMIZATION = "kustomization"
    FLUX_FOLDER = "folder as Flux reads it"
    """All YAML files and kustomizations below it."""
    ARGO_CD_FOLDER = "folder as Argo CD reads it"
    """YAML and JSON files of the folder itself, or below it with `FolderOptions.recurse`."""
    CHART = "chart"


class Statement(NamedTuple):
    """The place in a file that states that something is applied."""

    file: str
    """Absolute."""
    line: int = 1
    document: int = 0
    at: Path = ()
    """Path of the value that names the folder."""
    resource: str = ""
    """The object, `Kustomization flux-system/apps`; empty: `applies` of a policy."""


class Variables(NamedTuple):
    """Values for `${NAME}` in the text of built objects."""

    known: Mapping[str, str] = {}
    unknown: frozenset[str] = frozenset()
    """Names whose value is unknown, such as those of a Secret."""
    complete: bool = True
    """Whether all other names are undefined; if not, they may have a value too."""


class FolderOptions(NamedTuple):
    """The files of a folder that Argo CD reads."""

    recurse: bool = False
    include: str = ""
    """Glob; empty: all."""
    exclude: str = ""
    """Glob; empty: none."""


class HelmOptions(NamedTuple):
    """How a chart is rendered."""

    release: str = ""
    """Name of the release; empty: that of the chart."""
    namespace: str = ""
    value_files: tuple[str, ...] = ()
    """Absolute; later ones override earlier ones."""
    values: tuple[str, ...] = ()
    """YAML texts that override the files; later ones override earlier ones."""
    parameters: tuple[tuple[str, str], ...] = ()
    """Name and value, as with `--set`."""
    text_parameters: tuple[tuple[str, str], ...] = ()
    """Name and value, as with `--set-string`."""
    file_parameters: tuple[tuple[str, str], ...] = ()
    """Name and absolute path, as with `--set-file`."""
    include_crds: bool = False
    skip_tests: bool = False
    api_versions: tuple[str, ...] = ()
    """API versions in addition to helm's defaults."""
    kubernetes_version: str = ""
    """Kubernetes version; empty: that of the policy."""


class Source(NamedTuple):
    """What a cluster applies from one folder. A policy has a tuple of them."""

    path: str
    """The folder, absolute with links resolved; empty: it is not in this repository."""
    form: Form
    stated: Statement
    added: Mapping[str, Any] = {}
    """Fields that the controller adds to the kustomization: `namespace`, `patches`, `images`, `namePrefix`,
    `components` (absolute paths), ..."""
    variables: Variables | None = None
    """Variables substituted in built objects; None: `${NAME}` is left as it is."""
    folder: FolderOptions = FolderOptions()
    helm: HelmOptions | None = None
    """Options for a chart; None: it is not a chart."""
    namespace: str = ""
    """Namespace of objects that set none; empty: unknown."""
    own_values: bool = True
    """Whether the chart's own values.yaml is used too."""
    unrestricted: bool = False
    """Whether kustomizations may name files outside their folders, as Flux allows."""
    notices: tuple[str, ...] = ()
    """What is judged differently from how it is applied, such as another branch."""
    ignore: str = ""
    """Of a folder as Flux reads it: patterns of files that its GitRepository leaves out."""
    why_not: str = ""
    """Why it is not judged; empty: it is judged."""


Applied = Mapping[str, tuple[Source, ...]]
"""Absolute path of each policy to what its cluster applies."""
