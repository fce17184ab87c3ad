"""Runs kustomize on files of this machine only."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from policykit.workspace.programs import program_path

_SECONDS = 30
"""Time limit of a build."""
_NOWHERE = "http://127.0.0.1:9"
"""A proxy that never answers: port 9 is reserved for discarding data."""


_LOGGED = re.compile(r'^[EF]\d{4} .*?\] "command failed" err="(.*)"$')
"""How kubectl logs an error: with the time and its process, and the error in quotes."""
_LEADING = re.compile(r"^(?:Error: )?(?:.*(?:accumulation of path|target for path) '[^']*': )?")
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
    """The error of kustomize; empty: the build succeeded."""


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
    resources: tuple[str, ...] = ()
    """Absolute paths of what is built instead of the folder."""
    added: Mapping[str, Any] = {}
    """Further fields of the kustomization around it; components are absolute paths."""
    unrestricted: bool = False
    """Kustomizations may name files outside of their folders. All that they name has been checked."""


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
    import subprocess
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="policykit-") as made:
        here = os.path.realpath(made)
        wrapper = os.path.join(here, "build")
        os.mkdir(wrapper)
        with open(os.path.join(wrapper, "kustomization.yaml"), "w", encoding="utf-8") as file:
            file.write(_wrapper(root, wrapper))
        restrictor = ["--load-restrictor", "LoadRestrictionsNone"] if root.unrestricted else []
        try:
            done = subprocess.run(
                [*_command(program), *restrictor, wrapper],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                env=_environment(here),
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Build(failure=f"kustomize took more than {_SECONDS} seconds")
        except OSError as error:
            return Build(failure=f"kustomize cannot be run: {error.strerror}")
    if done.returncode:
        return Build(failure=_said(done.stderr.decode("utf-8", errors="replace"), wrapper, root.folder))
    return Build(done.stdout, wrapper)


def _wrapper(root: Root, folder: str) -> str:
    """The kustomization around what is built, for a folder that it is written to."""
    import json

    def named(paths: Iterable[str]) -> list[str]:
        return [os.path.relpath(path, folder) for path in paths]

    said: dict[str, object] = {
        **root.added,
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": named(root.resources or (root.folder,)),
        "buildMetadata": ["originAnnotations"],
    }
    if "components" in root.added:
        said["components"] = named(root.added["components"])
    if root.order is not None:
        said["sortOptions"] = root.order
    return json.dumps(said)


def _environment(home: str) -> dict[str, str]:
    """Without PATH there is no git; proxies that never answer block the rest of the network."""
    kept = {name: os.environ[name] for name in ("SYSTEMROOT", "TMPDIR", "TEMP", "TMP") if name in os.environ}
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "https_proxy", "http_proxy"), _NOWHERE)
    return {
        **kept,
        **proxies,
        "PATH": "",
        "HOME": home,
        "XDG_CONFIG_HOME": home,
        "GIT_ALLOW_PROTOCOL": "none",
    }


def _said(text: str, wrapper: str, folder: str) -> str:
    """The cause in the error of kustomize, without the temporary folder."""
    told = (one for one in text.splitlines() if not one.startswith("# Warning: "))
    line = " ".join(" ".join(told).split())
    if logged := _LOGGED.match(line):
        line = logged[1].replace("\\n", " ").replace('\\"', '"')
    line = _LEADING.sub("", line)
    line = _OF_FILE.sub(r"\1: \2", line)
    for path in (os.path.relpath(folder, wrapper), folder):
        line = line.replace(path + os.sep, "").replace(path, ".")
    return line or "kustomize gives no reason"
