"""What a fleet costs: `lint` of 1, 10 and 50 clusters that apply one tree, at first and with nothing changed.

Prints files, builds, seconds (without child processes, and those of kustomize and helm), peak memory in MiB,
and the second run as a multiple of walking, reading and hashing the same files.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from typing import NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CLUSTERS = (1, 10, 50)
APPS = 40
_HEAD = {"apiVersion": "policykit.io/v1alpha1", "kind": "Policy"}
_JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {{name: train-{0}, labels: {{policykit.io/workload: training}}}}
spec:
  template:
    spec:
      restartPolicy: Never
      tolerations:
        - {{key: maip.mxsf.io/node.usage, operator: Equal, value: training, effect: NoSchedule}}
        - {{key: nvidia.com/gpu.product, operator: Exists, effect: NoSchedule}}
      containers:
        - name: main
          image: registry.example/train:1
          resources: {{requests: {{cpu: 4, memory: 8Gi}}, limits: {{nvidia.com/gpu: 1}}}}
"""
_SERVICE = """\
apiVersion: v1
kind: Service
metadata: {{name: train-{0}}}
spec: {{selector: {{app: train-{0}}}, ports: [{{port: 80}}]}}
"""


def fleet(clusters: int, apps: int = APPS) -> dict[str, str]:
    """A repository: bases with overlays that all clusters apply, and a policy for each cluster."""
    files = {"base/policykit.yaml": json.dumps({**_HEAD, "extends": ["profile:hybrid-volcano"]})}
    for number in range(apps):
        base, overlay = f"bases/app-{number}", f"apps/app-{number}"
        files[f"{base}/kustomization.yaml"] = "resources: [job.yaml, service.yaml]\n"
        files[f"{base}/job.yaml"] = _JOB.format(number)
        files[f"{base}/service.yaml"] = _SERVICE.format(number)
        files[f"{overlay}/kustomization.yaml"] = f"resources: [../../{base}]\nnamePrefix: gw-\n"
    for number in range(clusters):
        applies = [{"path": f"../../apps/app-{app}"} for app in range(apps)]
        said = {
            "metadata": {"name": f"c{number}"},
            "extends": ["../../base/policykit.yaml"],
            "applies": applies,
        }
        files[f"clusters/c{number}/policykit.yaml"] = json.dumps({**_HEAD, **said})
    return files


def write(folder: str, files: Mapping[str, str]) -> None:
    """Writes them as a git repository."""
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    subprocess.run(["git", "init", "-q", folder], check=True)


class Cost(NamedTuple):
    """What a run took."""

    seconds: float
    own: float
    """CPU seconds of policykit's own processes."""
    children: float
    """CPU seconds of kustomize, helm and git."""
    peak: float
    """MiB of the first process."""
    builds: int


_PROGRAM = """\
import os, resource, sys, threading
from policykit.__main__ import main
code = main()
own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
seconds = (own.ru_utime + own.ru_stime, children.ru_utime + children.ru_stime)
print("\\0", *seconds, own.ru_maxrss, file=sys.stderr)
"""


def run(folder: str) -> Cost:
    """One process that lints the whole repository, with its cache beside it."""
    environment = {**os.environ, "PYTHONPATH": ROOT, "POLICYKIT_CACHE_DIR": f"{folder}.cache"}
    words = [sys.executable, "-c", _PROGRAM, "lint", "--exit-zero", "--show-files", "--output", os.devnull]
    start = time.perf_counter()
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - start
    own, children, peak = map(float, done.stderr.rpartition("\0")[2].split())
    return Cost(seconds, own, children, peak / 1024, done.stderr.count("built "))


def floor(folder: str) -> float:
    """Seconds to walk, read and hash all files, in a process of its own."""
    program = (
        "import hashlib, os, sys\n"
        "for here, _, names in os.walk('.'):\n"
        "    for name in names:\n"
        "        with open(os.path.join(here, name), 'rb') as file:\n"
        "            hashlib.blake2b(file.read()).digest()\n"
    )
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], cwd=folder, check=True)
    return time.perf_counter() - start


_TITLES = ("clusters", "files", "builds", "run", "seconds", "own", "children", "MiB")
_ROW = "{:>8} {:>6} {:>6} {:>7} {:>8.2f} {:>6.2f} {:>9.2f} {:>5.0f}"


def main() -> int:
    """Prints a row for each run."""
    print("{:>8} {:>6} {:>6} {:>7} {:>8} {:>6} {:>9} {:>5}".format(*_TITLES))
    for clusters in CLUSTERS:
        with tempfile.TemporaryDirectory() as made:
            folder = os.path.join(made, "fleet")
            files = fleet(clusters)
            write(folder, files)
            least = min(floor(folder) for _ in range(3))
            for name in ("first", "second"):
                cost = run(folder)
                row = _ROW.format(clusters, len(files), cost.builds, name, *cost[:4])
                print(
                    row + (f"  {cost.seconds / least:.1f} x walking, reading, hashing" * (name == "second"))
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
