"""Running kustomize: what a kustomization comes to, from files on this machine only."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from policykit.errors import SourceError
from policykit.workspace.programs import found, run, sealed

if TYPE_CHECKING:
    from policykit.linter.builds.kustomization import Chart
    from policykit.workspace.helm import KustomizeHelm

_SECONDS = 30
"""Beyond, a build is given up."""


_LEADING = re.compile(r"^Error: (?:.*(?:accumulation of path|target for path) '[^']*': )?")
"""Kustomize tells each folder that it went through before the cause."""
_OF_FILE = re.compile(
    r"^accumulating resources: .*accumulating resources from '([^']*)': (.*)': must build .*$"
)
"""A file that is no resources might be a folder, it says after the cause."""


class Build(NamedTuple):
    """What came of building a kustomization."""

    text: bytes = b""
    """Its objects, each with an annotation that says where it comes from."""
    folder: str = ""
    """Absolute folder that those origins are relative to."""
    failure: str = ""
    """Why there is none, as kustomize says it."""
    rendered: bytes = b""
    """Objects of its charts as helm renders them, below comments that name their templates."""


_SUBCOMMANDS = {"kustomize": "build", "kubectl": "kustomize"}
"""Programs that build kustomizations, the one that is preferred first, and how they are asked to."""


def binary() -> str:
    """The program, empty where there is none on PATH: kustomize, or else kubectl, which has it built in."""
    return next(filter(None, map(found, _SUBCOMMANDS)), "")


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
    """Builds kustomizations, as many at once as there are processors.

    No plugin, function or chart is run, and nothing is fetched: kustomize finds neither a network
    nor git. The folders are left as they are: a kustomization beside them asks for the origins.
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
    """The last part of what kustomize says, which names the cause, without our own folder."""
    line = _LEADING.sub("", " ".join(text.split()))
    line = _OF_FILE.sub(r"\1: \2", line)
    for path in (os.path.relpath(folder, wrapper), folder):
        line = line.replace(path + os.sep, "").replace(path, ".")
    return line or "kustomize does not say why"
