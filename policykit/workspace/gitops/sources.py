"""What a cluster applies: folders of the repository, each as its controller reads and changes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any

from policykit.manifests.document import manifests
from policykit.manifests.parser import parse
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping
from policykit.namedtuple import NamedTuple
from policykit.workspace.files import read
from policykit.workspace.safe_paths import SMALL


class SourceType(Enum):
    """How a folder becomes objects."""

    KUSTOMIZATION = "kustomization"
    FLUX_FOLDER = "folder as Flux reads it"
    """All YAML files and kustomizations below it."""
    ARGO_CD_FOLDER = "folder as Argo CD reads it"
    """YAML and JSON files of the folder itself, or below it with `FolderOptions.recurse`."""
    CHART = "chart"


class SourceLocation(NamedTuple):
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
    always: bool = False
    """Whether texts are changed without any variable too: defaults count, other expressions become empty."""

    @property
    def change_texts(self) -> bool:
        """Whether Flux substitutes at all: without any variable it does not, unless told to."""
        return self.always or not self.complete or bool(self.known or self.unknown)


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
    form: SourceType
    stated: SourceLocation
    added: Mapping[str, Any] = {}
    """Fields that the controller adds to the kustomization: `namespace`, `patches`, `images`, `namePrefix`,
    `components` (absolute paths), ..."""
    variables: Variables | None = None
    """Variables substituted in built objects; None: none are, as far as is stated."""
    literal: bool = False
    """Whether nothing replaces `${NAME}` in its objects before they are applied."""
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


class UnreadableError(Exception):
    """Why an Application or ApplicationSet is not judged."""


class TargetCluster(NamedTuple):
    """A policy as a cluster of Argo CD."""

    policy: str
    """Absolute path."""
    name: str
    server: str = ""
    """Empty: unknown."""
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}


class Repository(NamedTuple):
    """What generators and sources use of a repository."""

    root: str
    """Absolute, links resolved."""
    urls: frozenset[str] = frozenset()
    """Its normalised URLs."""
    clusters: tuple[TargetCluster, ...] = ()
    folders: Callable[[], tuple[str, ...]] = lambda: ()
    """Paths of its folders, relative to the root."""
    files: Callable[[], tuple[str, ...]] = lambda: ()
    """Paths of its files, relative to the root."""
    data: Callable[[str], Any] = lambda path: None
    """The first document of a YAML or JSON file; None: it cannot be read."""


def merge_variables(parts: Iterable[Variables]) -> Variables:
    """All variables together; later ones override earlier ones."""
    known: dict[str, str] = {}
    unknown: set[str] = set()
    complete = True
    for part in parts:
        if not part.complete:
            # It may define anything, and overrides earlier variables.
            unknown.update(known)
            known.clear()
            complete = False
        unknown.difference_update(part.known)
        known.update(part.known)
        unknown.update(part.unknown)
        for name in part.unknown:
            known.pop(name, None)
    return Variables(known, frozenset(unknown), complete)


def variables_of_file(path: str, by: str) -> Variables:
    """The variables of a file with ConfigMaps, or with a map of names to values. Raises SourceError.

    `by`: the file that names it. Values of Secrets are never read.
    """
    text = read(path, by, SMALL).decode("utf-8", errors="replace")
    found: list[Variables] = []
    for parsed in parse(text):
        if parsed.root is None or not isinstance(parsed.root.data, dict):
            continue
        objects = [*manifests(parsed.root, 0)]
        if "kind" in parsed.root.data and "apiVersion" in parsed.root.data:
            found += [variables_of_object(each.data) for each in objects if isinstance(each.data, dict)]
        else:
            found.append(Variables(texts(parsed.root.data)))
    return merge_variables(found)


def variables_of_object(data: Mapping[str, Any]) -> Variables:
    """The variables of a ConfigMap; of a Secret only the names, encrypted or not."""
    kind = data.get("kind")
    if kind == "Secret":
        names = {name for field in ("data", "stringData") for name in mapping(data.get(field))}
        return Variables({}, frozenset(names))
    return Variables(texts(mapping(data.get("data")))) if kind == "ConfigMap" else Variables()


def texts(data: Mapping[Any, Any]) -> dict[str, str]:
    """Names to texts: scalars as they are written, without line breaks."""
    found = {}
    for name, value in data.items():
        if isinstance(name, str) and isinstance(value, str | int | float | bool):
            text = str(value).lower() if isinstance(value, bool) else str(value)
            found[name] = text.replace("\n", "")
    return found
