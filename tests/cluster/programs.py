"""The programs of a control plane, built once from their Go modules and kept outside the checkout."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).parent
PROGRAMS = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
    "kubectl": "k8s.io/kubernetes/cmd/kubectl",
}
"""Name to the package that it is built from; go.mod pins the releases."""
_FLAGS = ("-trimpath", "-gcflags=all=-dwarf=false", "-ldflags=-s -w")
"""Nothing for debuggers is written: a fifth of the time of compiling."""
OTHERS = (
    "volcano-scheduler",
    "volcano-controller-manager",
    "volcano-webhook-manager",
    "koord-scheduler",
    "yunikorn-scheduler",
)
"""Never built here: a variable of the environment has the path of each, as POLICYKIT_KOORD_SCHEDULER."""

DEFINITIONS = {
    "volcano.sh/volcano@v1.15.1": ("config/crd/volcano/bases", "config/crd/jobflow/bases"),
    "github.com/koordinator-sh/koordinator@v1.8.0": ("config/crd/bases",),
    "sigs.k8s.io/kueue@v0.19.2": ("config/components/crd/bases",),
}
"""Modules to their folders of CustomResourceDefinitions, which are read where the module cache has them."""


def folder() -> Path:
    """Where the programs are: another folder for other releases. POLICYKIT_CLUSTER_BIN overrides it."""
    stated = os.environ.get("POLICYKIT_CLUSTER_BIN")
    if stated:
        return Path(stated)
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    pinned = hashlib.sha256((HERE / "go.mod").read_bytes()).hexdigest()[:12]
    return base / "policykit-tests" / f"cluster-{pinned}"


def path_of(name: str) -> str:
    """Path of a program, empty where it was not built, or not given."""
    path = os.environ.get(variable(name), "") if name in OTHERS else str(folder() / name)
    return path if os.access(path, os.X_OK) else ""


def variable(name: str) -> str:
    """The variable that has the path of a program that is not built here."""
    return f"POLICYKIT_{name.replace('-', '_').upper()}"


def missing() -> list[str]:
    """The programs that were not built."""
    return [name for name in PROGRAMS if not path_of(name)]


def build(until: float | None = None) -> list[str]:
    """Builds what is missing: about 14 minutes of CPU time in all. Returns what could not be built.

    `until`: the time at which it stops, in seconds since the epoch; what is built by then stays.
    """
    go = shutil.which("go")
    for name in missing() if go else ():
        print(f"building {name}", flush=True)
        part = folder() / f"{name}.part"
        command = [str(go), "build", *_FLAGS, "-o", str(part), PROGRAMS[name]]
        if _built(command, until):
            part.rename(folder() / name)
    return missing()


def _built(command: list[str], until: float | None) -> bool:
    """Whether a build succeeded in time; its compilers end with it."""
    environment = {**os.environ, "CGO_ENABLED": "0"}
    with subprocess.Popen(command, cwd=HERE, env=environment, start_new_session=True) as built:
        try:
            return built.wait(max(0, until - time.time()) if until else None) == 0
        except subprocess.TimeoutExpired:
            os.killpg(built.pid, signal.SIGKILL)
            return False


def definitions() -> list[Path]:
    """Files of CustomResourceDefinitions. Empty where a module cannot be had."""
    go, found = shutil.which("go"), []
    for module, folders in DEFINITIONS.items() if go else ():
        done = subprocess.run([str(go), "mod", "download", "-json", module], capture_output=True, check=False)
        if done.returncode:
            return []
        root = Path(json.loads(done.stdout)["Dir"])
        found += [file for each in folders for file in sorted((root / each).glob("*.yaml"))]
    return found
