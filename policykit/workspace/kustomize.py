"""Runs kustomize on files of this machine only."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from policykit.errors import SourceError
from policykit.workspace.programs import program_path, run, sealed

if TYPE_CHECKING:
    from policykit.linter.builds.kustomization import Chart
    from policykit.workspace.helm import KustomizeHelm

_SECONDS = 30
"""Beyond, a build is given up."""


_LEADING = re.compile(r"^Error: (?:.*(?:accumulation of path|target for path) '[^']*': )?")
"""kustomize prefixes the cause with every folder on the way."""
_OF_FILE = re.compile(
    r"^accumulating resources: .*accumulating resources from '([^']*)': (.*)': must build .*$"
)
"""kustomize adds that a broken resource file might have been a folder."""


class Build(NamedTuple):
    """The result of building a kustomization."""

    text: bytes = b""
    """Its objects, each with an annotation of its origin."""
    folder: str = ""
    """Absolute folder that those origins are relative to."""
    failure: str = ""
    """Why there is none, as kustomize says it."""
    rendered: bytes = b""
    """Objects of its charts as helm renders them, below comments that name their templates."""


_SUBCOMMANDS = {"kustomize": "build", "kubectl": "kustomize"}
"""Programs that build kustomizations, the preferred one first, with their subcommands."""


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
    """Its `sortOptions`: kustomize heeds them only in what it is asked to build."""
    charts: tuple[Chart, ...] = ()
    """All charts of it, to be rendered by `helm`."""
    helm: str = ""
    """Path of the program; only where there are charts."""
    kubernetes: str = ""
    """Version that charts are rendered for; empty: the one that helm assumes."""


def build(program: str, roots: Sequence[Root]) -> list[Build]:
    """Builds kustomizations in parallel, one per processor.

    Runs no plugin, function or chart, and fetches nothing: kustomize has neither network nor git.
    Origins are requested by a kustomization in a temporary folder, so the built folders are unchanged.
    """
    if not roots:
        return []
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(len(roots), os.cpu_count() or 1)) as pool:
        return list(pool.map(lambda root: _build(program, root), roots))


def _build(program: str, root: Root) -> Build:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="policykit-") as made:
        here = os.path.realpath(made)
        wrapper = os.path.join(here, "build")
        os.mkdir(wrapper)
        with open(os.path.join(wrapper, "kustomization.yaml"), "w", encoding="utf-8") as file:
            file.write(_wrapper(os.path.relpath(root.folder, wrapper), root.order))
        try:
            helm = _helm(root, here)
            done = run(
                [*_command(program), *(helm.options if helm else ()), wrapper], sealed(here), _SECONDS, here
            )
        except OSError as error:
            return Build(failure=f"kustomize cannot be run: {error.strerror}")
        except SourceError as error:
            return Build(failure=str(error))
        failure = helm.failure() if helm else ""
        if failure:
            return Build(failure=failure)
        if done.late:
            return Build(failure=f"kustomize took more than {_SECONDS} seconds")
        if done.status:
            return Build(failure=_said(done.errors, wrapper, root.folder))
        return Build(done.out, wrapper, rendered=helm.rendered() if helm else b"")


def _helm(root: Root, folder: str) -> KustomizeHelm | None:
    if not root.charts:
        return None
    from policykit.workspace.helm import for_kustomize

    return for_kustomize(root.helm, root.charts, root.kubernetes, os.path.join(folder, "charts"))


def _wrapper(path: str, order: object) -> str:
    import json

    said: dict[str, object] = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": [path],
        "buildMetadata": ["originAnnotations"],
    }
    return json.dumps(said if order is None else {**said, "sortOptions": order})


def _said(text: str, wrapper: str, folder: str) -> str:
    """The cause in the error of kustomize, without the temporary folder."""
    line = _LEADING.sub("", " ".join(text.split()))
    line = _OF_FILE.sub(r"\1: \2", line)
    for path in (os.path.relpath(folder, wrapper), folder):
        line = line.replace(path + os.sep, "").replace(path, ".")
    return line or "kustomize gives no reason"
