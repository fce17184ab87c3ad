"""What a cluster applies: folders of the repository, each as its controller reads and changes it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, NamedTuple

from policykit.manifests.path import Path


class Form(Enum):
    """How a folder becomes objects."""

    KUSTOMIZATION = "kustomization"
    FLUX_FOLDER = "folder as Flux reads it"
    """Every YAML file below it, and the kustomizations there; nothing else is left out."""
    ARGO_CD_FOLDER = "folder as Argo CD reads it"
    """YAML and JSON files of the folder itself, or below it with `FolderOptions.recurse`."""
    CHART = "chart"


class Statement(NamedTuple):
    """Where a file says that something is applied."""

    file: str
    """Absolute."""
    line: int = 1
    document: int = 0
    at: Path = ()
    """The value in that document that names the folder."""
    resource: str = ""
    """The object that says so, `Kustomization flux-system/apps`; empty: the policy's `applies`."""


class Variables(NamedTuple):
    """Values for `${NAME}` in the text of built objects."""

    known: Mapping[str, str] = {}
    unknown: frozenset[str] = frozenset()
    """Names that have a value nobody here knows, such as that of a Secret."""
    complete: bool = True
    """Names that are neither known nor unknown are absent; else they may have a value as well."""


class FolderOptions(NamedTuple):
    """Which files of a folder Argo CD reads."""

    recurse: bool = False
    include: str = ""
    """Glob; empty: all."""
    exclude: str = ""
    """Glob; empty: none."""


class HelmOptions(NamedTuple):
    """How a chart is rendered."""

    release: str = ""
    """Empty: the name of the chart."""
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
    """Versions that the API server serves in addition to those that helm assumes."""
    kubernetes_version: str = ""
    """Empty: that of the policy."""


class Source(NamedTuple):
    """What a cluster applies from one folder. A policy has a tuple of them."""

    path: str
    """The folder, absolute with links resolved; empty: it is not in this repository."""
    form: Form
    stated: Statement
    added: Mapping[str, Any] = {}
    """Fields that the controller adds to the kustomization, in the spelling of kustomize: `namespace`,
    `patches`, `images`, `components` (absolute paths), `namePrefix`, ..."""
    variables: Variables | None = None
    """Substituted in the built objects; None: `${NAME}` stays as it is."""
    folder: FolderOptions = FolderOptions()
    helm: HelmOptions | None = None
    """Of a chart, else None."""
    namespace: str = ""
    """Of objects that name none; empty: none is stated."""
    own_values: bool = True
    """A chart's own values.yaml counts as well."""
    unrestricted: bool = False
    """Kustomizations may name files outside of their folders, as Flux lets them."""
    notices: tuple[str, ...] = ()
    """What is judged differently from how it is applied, such as another branch."""
    ignore: str = ""
    """Of a folder as Flux reads it: patterns of files that its GitRepository leaves out."""
    why_not: str = ""
    """Why it is not judged; empty: it is."""


Applied = Mapping[str, tuple[Source, ...]]
"""Absolute path of each policy to what its cluster applies."""
