"""Runs helm: only `helm template`, on copies of checked files, within limits."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator

from policykit.linter.builds.kustomization import Chart
from policykit.linter.not_judged import CHART, OUTSIDE
from policykit.namedtuple import NamedTuple
from policykit.workspace import boundary
from policykit.workspace.chart_texts import steady
from policykit.workspace.entries import NotHereError
from policykit.workspace.files import relative
from policykit.workspace.programs import program_path, run, sealed
from policykit.workspace.sources import HelmOptions

SECONDS = 30
"""After so many seconds, rendering is aborted."""
_MEMORY = 1 << 30
_OUTPUT = 64 << 20
_TOO_MUCH = f"it renders to more than {_OUTPUT >> 20} MB"
_MOST_SAID = 500
"""Most characters of an error."""
_LARGEST_TEMPLATE = 1 << 20
"""Size of a template above which its functions are not replaced: nobody writes one so large."""
_LIMITS = f"ulimit -d {_MEMORY >> 10}; ulimit -f {_OUTPUT >> 9}; ulimit -c 0"
"""Memory in kilobytes, and file size in blocks of 512 bytes."""
_CRASHES = ("out of memory", "cannot allocate memory", "goroutine ", "SIGSEGV")
"""Messages with which programs in Go end when they run out of memory."""
_SHELL = "/bin/sh"
_CAT = "/bin/cat"
_RENDERED, _ERRORS, _FAILED = "rendered-", "errors-", "failed-"
"""Prefixes of the files of a run of helm by kustomize, followed by its process id."""
_OPTIONS = (
    "template|--namespace|-f|--values|--name-template|-g|--generate-name|--kube-version|--api-versions"
    "|--include-crds|--skip-tests|--no-hooks|--debug|--devel"
)
"""Options that kustomize may pass to helm. `--post-renderer` could run any program."""
_NAME = re.compile(r"[^=,\s]+")


class RenderedChart(NamedTuple):
    """The result of rendering a chart."""

    text: bytes = b""
    """Its objects, below comments that name their templates."""
    failure: str = ""
    """Why there are none; empty: there are."""


class KustomizeHelm(NamedTuple):
    """The script that kustomize runs instead of helm, and the folder with what it rendered."""

    options: tuple[str, ...]
    """Of kustomize."""
    folder: str

    def rendered(self) -> bytes:
        """Everything that helm rendered."""
        return b"\n---\n".join(_content(path) for path in self._all(_RENDERED))

    def failure(self) -> str:
        """Why a chart could not be rendered; empty: none failed."""
        if any(_is_full(path) for path in self._all(_RENDERED)):
            return _TOO_MUCH
        for path in self._all(_FAILED):
            rendered, errors = (path.replace(_FAILED, name) for name in (_RENDERED, _ERRORS))
            said = _content(errors).decode("utf-8", errors="replace")
            return failure_of(said, rendered).replace(self.folder + os.sep, "")
        return ""

    def _all(self, beginning: str) -> list[str]:
        names = sorted(name for name in os.listdir(self.folder) if name.startswith(beginning))
        return [os.path.join(self.folder, name) for name in names]


def binary() -> str:
    """Path of helm; empty: it is not on PATH, or cannot be limited."""
    return program_path("helm") if os.path.exists(_SHELL) and os.path.exists(_CAT) else ""


def render(program: str, chart: Chart, options: HelmOptions) -> RenderedChart:
    """Renders a chart with options whose files have been checked. Raises SourceError."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="policykit-") as made:
        here = os.path.realpath(made)
        copy = _copy(chart, os.path.join(here, "chart"))
        words = [*_arguments(options, here), "--", options.release or chart.name, copy]
        target = os.path.join(here, "out")
        script = f'{_LIMITS}; exec "$@" > {shlex.quote(target)}'
        try:
            done = run(
                [_SHELL, "-c", script, "helm", program, "template", *words], environment(here), SECONDS, here
            )
        except OSError as error:
            return RenderedChart(failure=f"helm cannot be run: {error.strerror}")
        if done.late:
            return RenderedChart(failure=f"helm took more than {SECONDS} seconds")
        if done.status or _is_full(target):
            failure = failure_of(done.errors, target)
            return RenderedChart(failure=failure.replace(copy + os.sep, "").replace(copy, chart.name))
        return RenderedChart(_content(target))


def environment(home: str) -> dict[str, str]:
    """Environment variables for helm without plugins, settings, cluster and network."""
    folders = {f"HELM_{name}": home for name in ("CACHE_HOME", "CONFIG_HOME", "DATA_HOME")}
    return {
        **sealed(home),
        **folders,
        "HELM_PLUGINS": os.path.join(home, "no-plugins"),
        "HELM_NO_PLUGINS": "1",
        "KUBECONFIG": os.devnull,
    }


def for_kustomize(program: str, charts: Iterable[Chart], kubernetes: str, folder: str) -> KustomizeHelm:
    """A script that renders copies of some charts and refuses everything else."""
    os.mkdir(folder)
    cases = []
    for number, chart in enumerate({each.path: each for each in charts}.values()):
        copy = _copy(chart, os.path.join(folder, f"chart-{number}"))
        cases.append(f"{shlex.quote(chart.path)}) each={shlex.quote(copy)} known=1 ;;")
    errors, failed = (shlex.quote(os.path.join(folder, name)) for name in (_ERRORS, _FAILED))
    version = (
        f'case "$*" in *--kube-version*) ;; *) set -- "$@" --kube-version {shlex.quote(kubernetes)} ;; esac'
    )
    lines = [
        f"#!{_SHELL}",
        'case "$1" in version) echo v3.0.0; exit 0 ;; template) ;; *) echo refused >&2; exit 1 ;; esac',
        _LIMITS,
        "known=",
        "for each do",
        "shift",
        'case "$each" in',
        *cases,
        f"{_OPTIONS}) ;;",
        '-*) echo "$each is not allowed" >&2; exit 1 ;;',
        "esac",
        'set -- "$@" "$each"',
        "done",
        '[ "$known" ] || { echo "the chart is not in the repository" >&2; exit 1; }',
        version if kubernetes else "",
        f"out={shlex.quote(os.path.join(folder, _RENDERED))}$$",
        f'{shlex.quote(program)} "$@" > "$out" 2> {errors}$$ || {{ : > {failed}$$; exit 1; }}',
        f'exec {shlex.quote(_CAT)} "$out"',
    ]
    script = os.path.join(folder, "helm")
    _write(script, "\n".join(lines).encode("utf-8", errors="surrogateescape"), executable=True)
    # Needed for charts above their kustomization; all files have been checked.
    options = ("--enable-helm", "--helm-command", script, "--load-restrictor", "LoadRestrictionsNone")
    return KustomizeHelm(options, folder)


def _copy(chart: Chart, folder: str) -> str:
    """Copies the files of a chart, with templates made deterministic."""
    os.mkdir(folder)
    for path, file in chart.files.items():
        place = os.path.join(folder, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        _write(place, _steady(boundary.read(file)))
    return folder


def _steady(raw: bytes) -> bytes:
    if len(raw) > _LARGEST_TEMPLATE or b"{{" not in raw:
        return raw
    try:
        return steady(raw.decode("utf-8")).encode("utf-8")
    except UnicodeDecodeError:
        return raw


def _arguments(options: HelmOptions, folder: str) -> list[str]:
    words = []
    texts = [
        *(boundary.read(file) for file in options.value_files),
        *(text.encode("utf-8", errors="replace") for text in options.values),
    ]
    for number, raw in enumerate(texts):
        words.append(f"--values={_kept(folder, f'values-{number}.yaml', _steady(raw))}")
    words += [f"--set={name}={value}" for name, value in options.parameters]
    words += [f"--set-string={name}={value}" for name, value in options.text_parameters]
    for number, (name, file) in enumerate(options.file_parameters):
        words.append(f"--set-file={name}={_kept(folder, f'file-{number}', boundary.read(file))}")
    words += [f"--api-versions={version}" for version in options.api_versions]
    words += [f"--namespace={options.namespace}"] if options.namespace else []
    words += [f"--kube-version={options.kubernetes_version}"] if options.kubernetes_version else []
    words += ["--include-crds"] if options.include_crds else []
    return words + (["--skip-tests"] if options.skip_tests else [])


def check_options(options: HelmOptions, limit: str) -> Iterator[str]:
    """The files that options name, each a regular file within a boundary. Raises NotHereError."""
    for name, _ in options.file_parameters:
        if not _NAME.fullmatch(name):  # otherwise it could name another file
            raise NotHereError(f"{name} is not the name of a value", CHART)
    for file in (*options.value_files, *(path for _, path in options.file_parameters)):
        place = os.path.realpath(file)
        if not boundary.contains(limit, place):
            raise NotHereError(f"{relative(file)} is outside of the repository", OUTSIDE)
        if not os.path.isfile(place):
            raise NotHereError(f"{relative(file)} does not exist", CHART)
        yield place


def _kept(folder: str, name: str, raw: bytes) -> str:
    path = os.path.join(folder, name)
    _write(path, raw)
    return path


def _is_full(path: str) -> bool:
    """Whether a file has reached its limit: helm does not fail if it cannot write."""
    return os.path.exists(path) and os.stat(path).st_size >= _OUTPUT


def failure_of(said: str, target: str) -> str:
    """Why helm failed to render to a file, from its error message."""
    first = next((line for line in said.splitlines() if line.startswith("Error:")), "")
    if _is_full(target):
        return _TOO_MUCH
    if any(word in said for word in _CRASHES) and not first:
        return f"helm needs more than {_MEMORY >> 30} GB of memory to render it"
    whole = first.removeprefix("Error:") or said
    return " ".join(whole.split())[:_MOST_SAID] or "helm gives no reason"


def _write(path: str, raw: bytes, *, executable: bool = False) -> None:
    with open(path, "wb") as file:
        file.write(raw)
    if executable:
        os.chmod(path, 0o700)


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
