"""Runs helm: only `helm template`, on copies of checked files, within limits and with a stable result."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator

from policykit.linter.input_file import Chart
from policykit.linter.not_judged import CHART, OUTSIDE
from policykit.namedtuple import NamedTuple
from policykit.workspace import safe_paths
from policykit.workspace.files import relative
from policykit.workspace.gitops.sources import HelmOptions
from policykit.workspace.kustomization_entries import NotHereError
from policykit.workspace.programs import (
    SHELL,
    limited,
    limits,
    program_path,
    ran_out_of_memory,
    run,
    sealed,
)

_KEY_PAIR = 'dict "Cert" "certificate" "Key" "key"'
_CONSTANTS = {
    "randAlphaNum": 'printf "%08d"',
    "randAlpha": 'printf "%08d"',
    "randNumeric": 'printf "%08d"',
    "randAscii": 'printf "%08d"',
    "randBytes": 'printf "%08d"',
    "randInt": "max",
    "shuffle": 'printf "%s"',
    "uuidv4": '"00000000-0000-4000-8000-000000000000"',
    "now": '(toDate "2006-01-02" "2020-01-01")',
    "ago": 'printf "%v"',
    "genPrivateKey": 'printf "key of type %s"',
    "genCA": _KEY_PAIR,
    "genCAWithKey": _KEY_PAIR,
    "genSelfSignedCert": _KEY_PAIR,
    "genSelfSignedCertWithKey": _KEY_PAIR,
    "genSignedCert": _KEY_PAIR,
    "genSignedCertWithKey": _KEY_PAIR,
    "htpasswd": 'printf "%s:%s"',
    "bcrypt": 'printf "%s"',
    "encryptAES": 'printf "%s%s"',
}
"""Template functions whose results vary, and what replaces them. They take the same arguments, also through
a pipe."""
_WORDS = re.compile(
    r'"(?:[^"\\]|\\.)*"|`[^`]*`|(?<![\w.$])('
    + "|".join(sorted(_CONSTANTS, key=len, reverse=True))
    + r")(?!\w)",
    re.DOTALL,
)


def steady(text: str) -> str:
    """A template, or text that may be used as one, without such functions. Lines keep their numbers."""
    if "{{" not in text or not any(word in text for word in _CONSTANTS):
        return text
    return "".join(_parts(text))


def _parts(text: str) -> Iterator[str]:
    done = 0
    while (start := text.find("{{", done)) >= 0 and (end := text.find("}}", start)) >= 0:
        yield text[done:start]
        yield _WORDS.sub(_constant, text[start:end])
        done = end
    yield text[done:]


def _constant(match: re.Match[str]) -> str:
    return _CONSTANTS[match[1]] if match[1] else match[0]


SECONDS = 30
"""After so many seconds, rendering is aborted."""
_MEMORY = 1 << 30
_OUTPUT = 64 << 20
_TOO_MUCH = f"it renders to more than {_OUTPUT >> 20} MB"
_LONGEST_REASON = 500
"""Most characters of an error."""
_LARGEST_TEMPLATE = 1 << 20
"""Size of a template above which its functions are not replaced: nobody writes one so large."""
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
            output = _content(errors).decode("utf-8", errors="replace")
            return failure_of(output, rendered).replace(self.folder + os.sep, "")
        return ""

    def _all(self, beginning: str) -> list[str]:
        names = sorted(name for name in os.listdir(self.folder) if name.startswith(beginning))
        return [os.path.join(self.folder, name) for name in names]


def binary() -> str:
    """Path of helm; empty: it is not on PATH, or cannot be limited."""
    return program_path("helm") if os.path.exists(SHELL) and os.path.exists(_CAT) else ""


def render(program: str, chart: Chart, options: HelmOptions) -> RenderedChart:
    """Renders a chart with options whose files have been checked. Raises SourceError."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="policykit-") as made:
        here = os.path.realpath(made)
        copy = _copy(chart, os.path.join(here, "chart"))
        words = [*_arguments(options, here), "--", options.release or chart.name, copy]
        target = os.path.join(here, "out")
        command = limited([program, "template", *words], target, _MEMORY, _OUTPUT)
        try:
            done = run(command, environment(here), SECONDS, here)
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
        f"#!{SHELL}",
        'case "$1" in version) echo v3.0.0; exit 0 ;; template) ;; *) echo refused >&2; exit 1 ;; esac',
        limits(_MEMORY, _OUTPUT),
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
        _write(place, _steady(safe_paths.read(file)))
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
        *(safe_paths.read(file) for file in options.value_files),
        *(text.encode("utf-8", errors="replace") for text in options.values),
    ]
    for number, raw in enumerate(texts):
        words.append(f"--values={_kept(folder, f'values-{number}.yaml', _steady(raw))}")
    words += [f"--set={name}={value}" for name, value in options.parameters]
    words += [f"--set-string={name}={value}" for name, value in options.text_parameters]
    for number, (name, file) in enumerate(options.file_parameters):
        words.append(f"--set-file={name}={_kept(folder, f'file-{number}', safe_paths.read(file))}")
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
        if not safe_paths.contains(limit, place):
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


def failure_of(output: str, target: str) -> str:
    """Why helm failed to render to a file, from its error message."""
    first = next((line for line in output.splitlines() if line.startswith("Error:")), "")
    if _is_full(target):
        return _TOO_MUCH
    if ran_out_of_memory(output) and not first:
        return f"helm needs more than {_MEMORY >> 30} GB of memory to render it"
    whole = first.removeprefix("Error:") or output
    return " ".join(whole.split())[:_LONGEST_REASON] or "helm gives no reason"


def _write(path: str, raw: bytes, *, executable: bool = False) -> None:
    with open(path, "wb") as file:
        file.write(raw)
    if executable:
        os.chmod(path, 0o700)


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
