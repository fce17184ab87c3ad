"""What a source contains: kustomizations and charts to build, and files that are applied as they are."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import partial

from policykit.errors import SourceError
from policykit.linter.input_file import KUSTOMIZATIONS, FileEntry, Kustomization, KustomizationEntry
from policykit.linter.not_judged import SOURCE
from policykit.manifests.shape import pairs
from policykit.namedtuple import NamedTuple
from policykit.workspace import filesystem, safe_paths
from policykit.workspace.command_state import cached
from policykit.workspace.files import files_below, is_there, read, repository_root, walk
from policykit.workspace.gitignore import Gitignore
from policykit.workspace.gitops.controller_files import raw_of
from policykit.workspace.gitops.sources import FolderOptions, HelmOptions, Source, SourceType, Variables
from policykit.workspace.kustomization_entries import NotHereError
from policykit.workspace.kustomizations import check_file, is_plain, namespace_of, tree_of
from policykit.workspace.kustomize import Root
from policykit.workspace.scopes import kustomization

_NAME = ".sourceignore"
_DEFAULT = b"""\
*.jpg
*.jpeg
*.gif
*.png
*.wmv
*.flv
*.tar.gz
*.zip
.github/
.circleci/
.travis.yml
.gitlab-ci.yml
appveyor.yml
.drone.yml
cloudbuild.yaml
codeship-services.yml
codeship-steps.yml
**/.goreleaser.yml
**/.sops.yaml
**/.flux.yaml
"""
"""What is left out where nobody says what is. Source: sourceignore of source-controller."""


class _Patterns(NamedTuple):
    base: str
    """Their folder, with `/` at the end; empty: the root."""
    patterns: Gitignore


def is_left_out(path: str, root: str, ignore: str) -> bool:
    """Whether Flux leaves out a file of a repository. `ignore`: `spec.ignore` of its GitRepository.

    Unlike with git, the last pattern counts that matches the file or any folder above it.
    """
    parts = os.path.relpath(path, root).replace(os.sep, "/").split("/")
    stated = [*_stated_patterns(parts[:-1], root, ignore)]
    if not stated and not _has_patterns(root):
        stated = [_Patterns("", _default())]
    paths = ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]
    for base, patterns in stated:
        below = (path for path in paths if path.startswith(base) and path != base)
        found = (patterns.last(path[len(base) :], path != paths[-1]) for path in below)
        last = max(filter(None, found), key=lambda rule: rule.number, default=None)
        if last is not None:
            return last.ignores
    return False


def _stated_patterns(folders: Sequence[str], root: str, ignore: str) -> Iterator[_Patterns]:
    """The strongest first."""
    own = _patterns_in(ignore.encode("utf-8", errors="replace"))
    if own:
        yield _Patterns("", own)
    for depth in range(len(folders), -1, -1):
        base = "".join(f"{folder}/" for folder in folders[:depth])
        patterns = _patterns(os.path.join(root, base))
        if patterns:
            yield _Patterns(base, patterns)


@cached
def _has_patterns(root: str) -> bool:
    """Whether any folder of a repository says what is left out: the default holds for none of them then."""
    files = (path for path in files_below(filesystem.realpath(root)) if path.rpartition("/")[2] == _NAME)
    return any(_patterns(os.path.dirname(os.path.join(root, path))) for path in files)


@cached
def _default() -> Gitignore:
    return Gitignore(_DEFAULT)


@cached
def _patterns(folder: str) -> Gitignore | None:
    path = os.path.join(folder, _NAME)
    if not is_there(path):
        return None
    try:
        return _patterns_in(read(path, most=safe_paths.SMALL))
    except SourceError:
        return None


def _patterns_in(text: bytes) -> Gitignore | None:
    """None: it has only comments."""
    lines = text.splitlines()
    return Gitignore(text) if any(line.strip() and not line.startswith(b"#") for line in lines) else None


_SUFFIXES = (".yaml", ".yml", ".json")
_JSONNET = ".jsonnet"
_CHOICE = re.compile(r"\{([^{}]*)\}")
_MOST = 100
"""Most patterns that the braces of one pattern may expand to."""


def is_read(path: str, options: FolderOptions) -> bool:
    """Whether Argo CD reads a file; `path`: relative to the folder."""
    name = path.rpartition("/")[2]
    if not name.endswith((*_SUFFIXES, _JSONNET)) or name in KUSTOMIZATIONS:
        return False
    if options.exclude and _matches(path, options.exclude):
        return False
    return not options.include or _matches(path, options.include)


def is_jsonnet(path: str) -> bool:
    """Whether a file is Jsonnet, which policykit does not evaluate."""
    return path.endswith(_JSONNET)


def _matches(path: str, pattern: str) -> bool:
    """Whether a path matches: `*` is any text, including slashes; `{a,b}` is one of several texts."""
    return any(fnmatchcase(path, each) for each in _choices(pattern))


def _choices(pattern: str) -> list[str]:
    done: list[str] = []
    pending = [pattern]
    while pending and len(done) + len(pending) <= _MOST:
        here = pending.pop()
        match = _CHOICE.search(here)
        if match is None:
            done.append(here)
        else:
            parts = match[1].split(",")
            pending += [f"{here[: match.start()]}{part}{here[match.end() :]}" for part in parts]
    return done


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
    if source.form is SourceType.ARGO_CD_FOLDER:
        yield partial(_of_argo_cd_folder, source, why_not)
    elif source.form is SourceType.CHART:
        yield lambda: [_of_chart(source)]
    elif source.form is SourceType.KUSTOMIZATION:
        yield partial(_of_kustomization, source, source.path)
    else:
        if not _is_changed(source):
            folders = _files_and_folders(source.path, source.ignore)[1]
            yield from (partial(_of_kustomization, source, folder) for folder in folders)
        yield partial(_of_folder, source)


def _released(units: Sequence[Unit]) -> tuple[list[Unit], tuple[NotHereError, ...]]:
    """Charts that HelmReleases in files of these units deploy, and why others are not judged."""
    from policykit.workspace.gitops.flux import helm_releases

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
    substituted = variables is not None and variables.change_texts
    return bool(source.added) or substituted


def _of_kustomization(source: Source, folder: str) -> list[Unit]:
    tree = tree_of(folder)
    if not _is_changed(source) and is_plain(tree) and not (source.literal and _has_variables(tree)):
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


_VARIABLE_AS_VALUE = re.compile(rb"""[:-] +["']?\$\{[A-Za-z_][^{}\n]*\}["']?[ \r]*$""", re.MULTILINE)


def _has_variables(tree: Kustomization) -> bool:
    """Whether a value in its files is a variable: others may apply the same files and replace it."""
    return any(_VARIABLE_AS_VALUE.search(raw_of(file)) for file in tree.looked_at())


def _of_argo_cd_folder(source: Source, why_not: list[NotHereError]) -> list[Unit]:

    files = []
    for name in files_below(source.path) if source.folder.recurse else sorted(filesystem.names(source.path)):
        path = os.path.join(source.path, name)
        if filesystem.isdir(path) or not is_read(name, source.folder):
            continue
        if is_jsonnet(name):
            why_not.append(NotHereError(f"{os.path.relpath(path)} is Jsonnet", SOURCE))
            continue
        check_file(path)
        files.append(path)
    tree = _stated(source, files=tuple(files))
    return [
        Unit(source.path, tree, None, None, filesystem.realpath(file), source.namespace) for file in files
    ]


def _of_chart(source: Source) -> Unit:
    from policykit.workspace.charts import read_chart
    from policykit.workspace.helm import check_options

    options = source.helm or HelmOptions()
    limit = safe_paths.root_of(os.path.join(source.path, "Chart.yaml"))
    chart = read_chart(source.path, limit)
    if not source.own_values:
        chart = chart._replace(
            files={path: file for path, file in chart.files.items() if path != "values.yaml"}
        )
    values = [FileEntry(source.stated.at, file) for file in check_options(options, limit)]
    options = options._replace(
        value_files=tuple(map(filesystem.realpath, options.value_files)),
        file_parameters=tuple((name, filesystem.realpath(file)) for name, file in options.file_parameters),
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
        return [Unit(source.path, tree, None, None, filesystem.realpath(file)) for file in files]
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
        tuple(FileEntry(stated.at, filesystem.realpath(file)) for file in files),
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
    root = filesystem.realpath(repository_root(folder) or folder)
    files: list[str] = []
    folders: list[str] = []
    for path in walk(folder):
        if is_left_out(path, root, ignore):
            continue
        here = os.path.dirname(path)
        above = next((each for each in folders if safe_paths.is_within(here, each)), "")
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
    while here != folder and safe_paths.is_within(here, folder):
        found = here if kustomization(here) else found
        here = os.path.dirname(here)
    return found
