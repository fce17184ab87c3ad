"""Runs kustomize, only on files of this machine, also on copies of edited ones."""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from policykit.errors import SourceError
from policykit.namedtuple import NamedTuple
from policykit.workspace.programs import limited, program_path, ran_out_of_memory, run, sealed

if TYPE_CHECKING:
    from policykit.linter.input_file import Chart
    from policykit.workspace.gitops.sources import HelmOptions
    from policykit.workspace.helm import KustomizeHelm

Place = Callable[[str], str]
"""A path of the kustomization's folder, as seen from the other folder."""

_PATHS = ("resources", "bases", "components", "patchesStrategicMerge")
_SETTINGS = ("crds", "configurations", "generators", "transformers", "validators")
_WITH_PATH = ("patches", "patchesJson6902", "replacements")
_GENERATORS = ("configMapGenerator", "secretGenerator")
_APPENDED = ("patches", "components", "labels", "replicas")
"""Lists that a controller adds to; it replaces all other fields."""


def edited(data: Mapping[str, Any], added: Mapping[str, Any], place: Place) -> dict[str, Any]:
    """A kustomization with further fields, in the spelling of kustomize; their paths are seen from the other
    folder already.

    Flux and Argo CD edit the kustomization of the folder that they apply. One around it would be another
    thing: what a component adds would be out of reach of the patches there.
    """
    found = {field: _moved(field, value, place) for field, value in data.items()}
    if data.get("helmCharts"):
        own = data.get("helmGlobals")
        home = own.get("chartHome") if isinstance(own, dict) else None
        globals_ = own if isinstance(own, dict) else {}
        found["helmGlobals"] = {**globals_, "chartHome": place(home if isinstance(home, str) else "charts")}
    for field, value in added.items():
        if field in _APPENDED and isinstance(found.get(field), list):
            found[field] = [*found[field], *value]
        elif field == "images" and isinstance(found.get(field), list):
            found[field] = _images(found[field], value)
        elif field == "commonAnnotations" and isinstance(found.get(field), dict):
            found[field] = {**found[field], **value}
        else:
            found[field] = value
    return found


def _images(own: list[Any], added: list[Any]) -> list[Any]:
    """An image of the same name is replaced in place: what one renames, the next may match."""
    names = {each.get("name"): each for each in added if isinstance(each, dict)}
    kept = [names.pop(each.get("name"), each) if isinstance(each, dict) else each for each in own]
    return [*kept, *names.values()]


def _moved(field: str, value: Any, place: Place) -> Any:
    if field in (*_PATHS, *_SETTINGS) and isinstance(value, list):
        return [_path(each, place) for each in value]
    if field in _WITH_PATH and isinstance(value, list):
        return [_with(each, ("path",), place) for each in value]
    if field == "openapi":
        return _with(value, ("path",), place)
    if field in _GENERATORS and isinstance(value, list):
        return [_generator(each, place) for each in value]
    if field == "helmCharts" and isinstance(value, list):
        return [_with(each, ("valuesFile", "additionalValuesFiles"), place) for each in value]
    return value


def _generator(entry: Any, place: Place) -> Any:
    if not isinstance(entry, dict):
        return entry
    entry = _with(entry, ("env", "envs"), place)
    files = entry.get("files")
    if isinstance(files, list):
        entry["files"] = [_file(each, place) for each in files]
    return entry


def _file(value: Any, place: Place) -> Any:
    """`key=path`, or a path whose last part is the key."""
    if not isinstance(value, str):
        return value
    key, equals, path = value.partition("=")
    return f"{key}={place(path)}" if equals else f"{os.path.basename(value)}={place(value)}"


def _with(entry: Any, fields: tuple[str, ...], place: Place) -> Any:
    if not isinstance(entry, dict):
        return entry
    found = dict(entry)
    for field in fields:
        value = found.get(field)
        if isinstance(value, list):
            found[field] = [_path(each, place) for each in value]
        elif value is not None:
            found[field] = _path(value, place)
    return found


def _path(value: Any, place: Place) -> Any:
    """An entry; one of several lines is a text, not a path."""
    return place(value) if isinstance(value, str) and "\n" not in value else value


LATE = "the builds of this run take longer than --build-seconds allows"
"""Why a build was not begun."""
_SECONDS = 30
"""After so many seconds, a build is aborted."""
_MEMORY = 2 << 30
_OUTPUT = 256 << 20
"""Most bytes of its memory and of its objects."""


_LOGGED = re.compile(r'^[EF]\d{4} .*?\] "command failed" err=(?:"(?P<quoted>.*)"|<(?P<lines>.*)>)$')
"""How kubectl logs an error: with the time and its process, and the error in quotes, or its lines in <>."""
_LEADING = re.compile(r"^(?:Error: )?(?:.*(?:accumulation of path|target for path) '[^']*': )?")
"""kustomize prefixes the cause with every folder on the way."""
_OF_FILE = re.compile(
    r"^accumulating resources: .*(?:accumulating|merging) resources from '([^']*)': (.*)': must build .*$"
)
"""kustomize adds that a broken resource file might have been a folder."""


class Build(NamedTuple):
    """The result of building a kustomization."""

    text: bytes = b""
    """Its objects, each with an annotation of its origin."""
    folder: str = ""
    """Absolute folder that those origins are relative to."""
    failure: str = ""
    """Why there are none, from kustomize's error message."""
    rendered: bytes = b""
    """Objects of its charts as helm renders them, below comments that name their templates."""


_CONFIGURED = re.compile(rb"(config\.kubernetes\.io/origin: \|\n +configuredIn: )kustomization\.yaml$", re.M)


_SUBCOMMANDS = {"kustomize": "build", "kubectl": "kustomize"}
"""Programs that build kustomizations, in order of preference, with their subcommands."""


def binary() -> str:
    """Path of kustomize, else of kubectl, which has it built in; empty: neither is on PATH."""
    return next(filter(None, map(program_path, _SUBCOMMANDS)), "")


def _command(program: str) -> list[str]:
    name = os.path.basename(program).partition(".")[0]
    return [program, _SUBCOMMANDS.get(name, "build")]


class Root(NamedTuple):
    """A kustomization to build."""

    folder: str
    """Absolute."""
    order: object = None
    """Its `sortOptions`, which kustomize only reads in the outermost kustomization."""
    resources: tuple[str, ...] = ()
    """Absolute paths of files that are built instead of the folder."""
    added: Mapping[str, Any] = {}
    """Further fields: of the kustomization itself, or of the one around `resources`; components are absolute
    paths."""
    unrestricted: bool = False
    """Whether kustomizations may name files outside their folders. All of them have been checked."""
    charts: tuple[Chart, ...] = ()
    """All its charts, which `helm` renders."""
    helm: str = ""
    """Path of helm, if there are charts."""
    kubernetes: str = ""
    """Kubernetes version for which charts are rendered; empty: helm's default."""
    release: HelmOptions | None = None
    """Options with which its only chart is rendered; None: kustomize builds it."""


def build(program: str, roots: Sequence[Root], until: float = math.inf) -> list[Build]:
    """Builds kustomizations in parallel, one per processor; after a time of `time.monotonic` none is begun.

    Runs no plugin or function and fetches nothing: kustomize has neither network nor git.
    Origins are requested by a kustomization in a temporary folder, so the built folders are unchanged.
    """
    if not roots:
        return []
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(len(roots), os.cpu_count() or 1)) as pool:
        return list(
            pool.map(
                lambda root: _build(program, root) if time.monotonic() < until else Build(failure=LATE), roots
            )
        )


def _build(program: str, root: Root) -> Build:
    if root.release is not None:
        return _rendered(root, root.release)
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="policykit-") as made:
        here = os.path.realpath(made)
        wrapper = os.path.join(here, "build")
        os.mkdir(wrapper)
        with open(os.path.join(wrapper, "kustomization.yaml"), "w", encoding="utf-8") as file:
            file.write(_wrapper(root, wrapper))
        restrictor = ["--load-restrictor", "LoadRestrictionsNone"] if root.unrestricted else []
        try:
            helm = _helm(root, here)
            words = [*_command(program), *(helm.options if helm else ()), *restrictor, wrapper]
            target = os.path.join(here, "out")
            done = run(limited(words, target, _MEMORY, _OUTPUT), sealed(here), _SECONDS, here)
            out = _content(target) if os.path.exists(target) else done.out
        except OSError as error:
            return Build(failure=f"kustomize cannot be run: {error.strerror}")
        except SourceError as error:
            return Build(failure=str(error))
        failure = helm.failure() if helm else ""
        if failure:
            return Build(failure=failure)
        if done.late:
            return Build(failure=f"kustomize took more than {_SECONDS} seconds")
        if len(out) >= _OUTPUT:
            return Build(failure=f"kustomize builds more than {_OUTPUT >> 20} MB")
        if done.status and ran_out_of_memory(done.errors):
            return Build(failure=f"kustomize needs more than {_MEMORY >> 30} GB of memory")
        if done.status:
            return Build(failure=_cause(done.errors, wrapper, root.folder))
        if root.added and not root.resources:
            out = _configured(out, root.folder, wrapper)
        return Build(out, wrapper, rendered=helm.rendered() if helm else b"")


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _configured(text: bytes, folder: str, wrapper: str) -> bytes:
    """Origins in the edited kustomization as origins in the one of the folder."""
    from policykit.workspace.scopes import kustomization

    file = os.path.relpath(os.path.realpath(kustomization(folder)), wrapper)
    return _CONFIGURED.sub(lambda match: match[1] + os.fsencode(file), text)


def _rendered(root: Root, release: HelmOptions) -> Build:
    """A build that only renders a chart."""
    from policykit.workspace.helm import render

    options = release._replace(kubernetes_version=release.kubernetes_version or root.kubernetes)
    try:
        found = render(root.helm, root.charts[0], options)
    except SourceError as error:
        return Build(failure=str(error))
    return Build(found.text, root.folder, found.failure, found.text)


def _helm(root: Root, folder: str) -> KustomizeHelm | None:
    if not root.charts:
        return None
    from policykit.workspace.helm import for_kustomize

    return for_kustomize(root.helm, root.charts, root.kubernetes, os.path.join(folder, "charts"))


def _wrapper(root: Root, folder: str) -> str:
    """The text of the kustomization that wraps what is built, for the folder it is written to."""
    import json

    def named(paths: Iterable[str]) -> list[str]:
        return [os.path.relpath(path, folder) for path in paths]

    fields: dict[str, object] = {**root.added}
    if "components" in root.added:
        fields["components"] = named(root.added["components"])
    if root.added and not root.resources:
        from policykit.workspace.kustomization_entries import first_document
        from policykit.workspace.scopes import kustomization

        def place(path: str) -> str:
            return os.path.relpath(os.path.realpath(os.path.join(root.folder, path)), folder)

        fields = edited(first_document(kustomization(root.folder)), fields, place)
    else:
        fields["resources"] = named(root.resources or (root.folder,))
    fields |= {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
    fields["buildMetadata"] = ["originAnnotations"]
    if root.order is not None:
        fields["sortOptions"] = root.order
    return json.dumps(fields)


_REMARK = re.compile(r"# Warning: |(?:[IW]\d{4}|\d{4}/\d\d/\d\d) \d\d:\d\d:\d\d")
"""The beginning of a line that is no error; what is logged also has the time, which differs in each run."""


def _cause(text: str, wrapper: str, folder: str) -> str:
    """The cause in kustomize's error message, without the temporary folder."""
    messages = (one for one in text.splitlines() if not _REMARK.match(one))
    line = " ".join(" ".join(messages).split())
    if logged := _LOGGED.match(line):
        quoted, lines = logged["quoted"], logged["lines"]
        line = lines.strip() if quoted is None else quoted.replace("\\n", " ").replace('\\"', '"')
    line = _LEADING.sub("", line)
    line = _OF_FILE.sub(r"\1: \2", line)
    for path in (os.path.relpath(folder, wrapper), folder):
        line = line.replace(path + os.sep, "").replace(path, ".")
    top = re.escape(folder[: folder.find(os.sep, 1) + 1])
    if top:
        line = re.sub(rf"(?<=[' ]){top}[^' ]+", lambda found: os.path.relpath(found[0], folder), line)
    return line or "kustomize gives no reason"
