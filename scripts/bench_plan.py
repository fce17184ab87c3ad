"""What `policykit plan` costs: a change of one pool in clusters of growing size, from a revision.

Prints pools, nodes, manifests, seconds of CPU time and peak memory in MiB; the largest has 50 pools, 10,000
nodes and 5,000 manifests.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SIZES = ((5, 1_000, 500), (25, 5_000, 2_500), (50, 10_000, 5_000))
_MANIFEST = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: app-{0}, namespace: ml}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: app-{0}}}}}
  template:
    metadata: {{labels: {{app: app-{0}, policykit.io/workload: kind-{1}}}}}
    spec:
      tolerations:
        - {{key: ai.example.com/node.usage, operator: Equal, value: usage-{1}, effect: NoSchedule}}
        - {{key: nvidia.com/gpu.product, operator: Exists, effect: NoSchedule}}
      containers:
        - name: main
          image: registry.example/app:1
          resources: {{requests: {{cpu: 1, memory: 1Gi}}, limits: {{nvidia.com/gpu: 1}}}}
"""


def policy(pools: int, nodes: int) -> str:
    """A policy in which each pool has a usage and a workload kind of its own, and its nodes by name."""
    each = nodes // pools
    listed = {
        f"pool-{number}": {
            "usage": f"usage-{number}",
            "card": "h20",
            "nodes": {"names": [f"n{number}-[{1:04}-{each:04}]"]},
        }
        for number in range(pools)
    }
    kinds = {f"kind-{number}": {"usages": [f"usage-{number}"]} for number in range(pools)}
    said = {
        "apiVersion": "policykit.io/v1alpha1",
        "kind": "Policy",
        "metadata": {"name": "demo"},
        "domain": "ai.example.com",
        "cards": {"h20": {"product": "NVIDIA-H20"}},
        "pools": listed,
        "workloads": kinds,
    }
    return json.dumps(said)


def moved(text: str) -> str:
    """The policy after one node in ten of the first pool has moved to the second."""
    data = json.loads(text)
    first, second = (data["pools"][name]["nodes"]["names"] for name in ("pool-0", "pool-1"))
    prefix, _, last = first[0].removesuffix("]").partition("[0001-")
    kept = int(last) * 9 // 10
    first[:] = [f"{prefix}[0001-{kept:04}]"]
    second.append(f"{prefix}[{kept + 1:04}-{last}]")
    return json.dumps(data)


def write(folder: str, pools: int, nodes: int, manifests: int) -> None:
    """A repository with the policy and manifests committed, and the change in the work tree."""
    os.makedirs(os.path.join(folder, "apps"))
    for number in range(manifests):
        with open(os.path.join(folder, "apps", f"app-{number}.yaml"), "w", encoding="utf-8") as file:
            file.write(_MANIFEST.format(number, number % pools))
    text = policy(pools, nodes)
    place = os.path.join(folder, "policykit.yaml")
    for content, words in ((text, ["add", "."]), (moved(text), [])):
        with open(place, "w", encoding="utf-8") as file:
            file.write(content)
        if words:
            _git(folder, "init", "-q")
            _git(folder, *words)
            _git(folder, "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-qm", "x")


def _git(folder: str, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True)


_PROGRAM = """\
import resource, sys
from policykit.__main__ import main
sys.argv[1:] = ["plan", "--from", "HEAD", "--format", "json", "--no-cache"]
try:
    code = main()
finally:
    used = resource.getrusage(resource.RUSAGE_SELF)
    print("\\0", used.ru_utime + used.ru_stime, used.ru_maxrss, file=sys.stderr)
"""


def measured(folder: str) -> tuple[float, float]:
    """Seconds of CPU time, and peak memory in MiB, of one run; without those of git."""
    environment = {**os.environ, "PYTHONPATH": ROOT}
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if not json.loads(done.stdout)["steps"]:
        raise SystemExit(f"no plan was made: {done.stderr}")
    seconds, peak = done.stderr.rpartition("\0")[2].split()
    return float(seconds), int(peak) / 1024


def main() -> int:
    """Prints a row for each size."""
    print(f"{'pools':>6} {'nodes':>6} {'manifests':>9} {'CPU s':>8} {'MiB':>5}")
    for size in SIZES:
        with tempfile.TemporaryDirectory() as made:
            folder = os.path.join(made, "cluster")
            write(folder, *size)
            seconds, peak = measured(folder)
            print("{:>6} {:>6} {:>9} {:>8.1f} {:>5.0f}".format(*size, seconds, peak), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
