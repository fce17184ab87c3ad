"""The units of a source: kustomizations to build, and files that are applied as they are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from policykit.linter.builds.kustomization import FileEntry, Kustomization, KustomizationEntry
from policykit.linter.not_judged import SOURCE
from policykit.manifests.shape import pairs
from policykit.namedtuple import NamedTuple
from policykit.workspace import boundary
from policykit.workspace.controller_files import raw_of
from policykit.workspace.disk import cached
from policykit.workspace.entries import NotHereError
from policykit.workspace.files import files_below, repository_root, walk
from policykit.workspace.kustomizations import check_file, is_plain, namespace_of, tree_of
from policykit.workspace.kustomize import Root
from policykit.workspace.scopes import kustomization
from policykit.workspace.source_ignore import is_left_out
from policykit.workspace.sources import Form, HelmOptions, Source, Variables

_YAML = (".yaml", ".yml")


class Unit(NamedTuple):
    """A kustomization to build, or a file that is applied as it is."""

    folder: str
    """Absolute folder that is applied."""
    tree: Kustomization
    """The tree of files, starting at the file that states what is applied."""
    root: Root | None = None
    """How kustomize builds it; None: `file` is applied as it is."""
    variables: Variables | None = None
    file: str = ""
    namespace: str = ""
    """Namespace of objects that set none; empty: unknown."""


class Contents(NamedTuple):
    """The units of a source."""

    units: tuple[Unit, ...] = ()
    why_not: tuple[NotHereError, ...] = ()
    """Why something of it is not judged."""
    releases: tuple[NotHereError, ...] = ()
    """Why charts that its HelmReleases deploy are not judged."""


def contents_of(source: Source) -> Contents:
    """The units of a source. Nothing is built; every path that a build can read is checked."""
    if source.why_not:
        return Contents((), (NotHereError(source.why_not, SOURCE),))
    units: list[Unit] = []
    why_not: list[NotHereError] = []
    for make in _makers(source, why_not):
        try:
            units += make()
        except NotHereError as reason:
            why_not.append(reason)
    charts, releases = _released(units)
    return Contents((*units, *charts), tuple(why_not), releases)


def _makers(source: Source, why_not: list[NotHereError]) -> Iterator[Callable[[], list[Unit]]]:
    """What makes the units of a source, each of which may fail by itself."""
    if source.form is Form.ARGO_CD_FOLDER:
        yield partial(_of_argo_cd_folder, source, why_not)
    elif source.form is Form.CHART:
        yield lambda: [_of_chart(source)]
    elif source.form is Form.KUSTOMIZATION:
        yield partial(_of_kustomization, source, source.path)
    else:
        if not _is_changed(source):
            folders = _files_and_folders(source.path, source.ignore)[1]
            yield from (partial(_of_kustomization, source, folder) for folder in folders)
        yield partial(_of_folder, source)


def _released(units: Sequence[Unit]) -> tuple[list[Unit], tuple[NotHereError, ...]]:
    """Charts that HelmReleases in files of these units deploy, and why others are not judged."""
    from policykit.workspace.helm_releases import helm_releases

    charts: list[Unit] = []
    why_not: list[NotHereError] = []
    for unit in units:
        for source in helm_releases(raw_of(unit.file), unit.file, built=False) if unit.file else ():
            made = contents_of(source)
            charts += made.units
            why_not += (NotHereError(f"{source.stated.resource}: {why}", why.reason) for why in made.why_not)
    return charts, tuple(why_not)


def _is_changed(source: Source) -> bool:
    """Whether the controller changes the objects of the folder."""
    variables = source.variables
    substituted = variables is not None and bool(
        variables.known or variables.unknown or not variables.complete
    )
    return bool(source.added) or substituted


def _of_kustomization(source: Source, folder: str) -> list[Unit]:
    tree = tree_of(folder)
    if not _is_changed(source) and is_plain(tree):
        namespace = namespace_of(tree) or source.namespace
        return [
            Unit(folder, _stated(source, bases=(tree,)), None, None, file, namespace)
            for file in dict.fromkeys(tree.looked_at())
        ]
    root = Root(
        folder,
        tree.order,
        added=dict(source.added),
        unrestricted=source.unrestricted,
    )
    return [Unit(folder, _stated(source, bases=(tree,)), root, source.variables, "", source.namespace)]


def _of_argo_cd_folder(source: Source, why_not: list[NotHereError]) -> list[Unit]:
    from policykit.workspace.argocd.folders import is_jsonnet, is_read

    files = []
    for name in files_below(source.path) if source.folder.recurse else sorted(os.listdir(source.path)):
        path = os.path.join(source.path, name)
        if os.path.isdir(path) or not is_read(name, source.folder):
            continue
        if is_jsonnet(name):
            why_not.append(NotHereError(f"{os.path.relpath(path)} is Jsonnet", SOURCE))
            continue
        check_file(path)
        files.append(path)
    tree = _stated(source, files=tuple(files))
    return [Unit(source.path, tree, None, None, os.path.realpath(file), source.namespace) for file in files]


def _of_chart(source: Source) -> Unit:
    from policykit.workspace.charts import read_chart
    from policykit.workspace.helm import check_options

    options = source.helm or HelmOptions()
    limit = boundary.root_of(os.path.join(source.path, "Chart.yaml"))
    chart = read_chart(source.path, limit)
    if not source.own_values:
        chart = chart._replace(
            files={path: file for path, file in chart.files.items() if path != "values.yaml"}
        )
    values = [FileEntry(source.stated.at, file) for file in check_options(options, limit)]
    options = options._replace(
        value_files=tuple(map(os.path.realpath, options.value_files)),
        file_parameters=tuple((name, os.path.realpath(file)) for name, file in options.file_parameters),
    )
    tree = Kustomization(
        source.stated.file, beside=tuple(values), charts=(chart,), document=source.stated.document
    )
    root = Root(source.path, charts=(chart,), release=options)
    return Unit(source.path, tree, root, source.variables, "", options.namespace)


def _of_folder(source: Source) -> list[Unit]:
    """Its files, and where something is added to them, the kustomizations below it as well."""
    files, folders = _files_and_folders(source.path, source.ignore)
    for file in files:
        check_file(file)
    if not _is_changed(source):
        tree = _stated(source, files=tuple(files))
        return [Unit(source.path, tree, None, None, os.path.realpath(file)) for file in files]
    trees = tuple(tree_of(folder) for folder in folders)
    if not files and not folders:
        return []
    root = Root(
        source.path,
        resources=tuple(sorted((*files, *folders))),
        added=dict(source.added),
        unrestricted=True,
    )
    return [Unit(source.path, _stated(source, files=tuple(files), bases=trees), root, source.variables)]


def _stated(
    source: Source, *, files: tuple[str, ...] = (), bases: tuple[Kustomization, ...] = ()
) -> Kustomization:
    """A tree that starts at the statement of the source, where what it adds is located too."""
    stated = source.stated
    components = source.added.get("components", ())
    patches = source.added.get("patches", ())
    return Kustomization(
        stated.file,
        tuple(FileEntry(stated.at, os.path.realpath(file)) for file in files),
        tuple(
            FileEntry((*stated.at[:-1], "patches", number, "patch"), "", _texts(each.get("target")))
            for number, each in enumerate(patches)
        ),
        bases=tuple(KustomizationEntry(stated.at, tree) for tree in bases),
        components=tuple(
            KustomizationEntry((*stated.at[:-1], "components", number), tree_of(folder))
            for number, folder in enumerate(components)
        ),
        document=stated.document,
    )


def _texts(target: object) -> dict[str, str] | None:
    return pairs(target) if isinstance(target, dict) else None


@cached
def _files_and_folders(folder: str, ignore: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """YAML files below a folder, and the outermost kustomizations there, which are not looked into; without
    what Flux leaves out."""
    root = os.path.realpath(repository_root(folder) or folder)
    files: list[str] = []
    folders: list[str] = []
    for path in walk(folder):
        if is_left_out(path, root, ignore):
            continue
        here = os.path.dirname(path)
        above = next((each for each in folders if boundary.within(here, each)), "")
        if above:
            continue
        root = _outermost(here, folder)
        if root:
            folders.append(root)
        elif path.endswith(_YAML):
            files.append(path)
    return tuple(files), tuple(folders)


def _outermost(here: str, folder: str) -> str:
    """The outermost folder with a kustomization between two folders; empty: there is none."""
    found = ""
    while here != folder and boundary.within(here, folder):
        found = here if kustomization(here) else found
        here = os.path.dirname(here)
    return found
