"""The main job on examples/, told to a newcomer: describe, generate, see where pods land, lint."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
POLICY = "examples/policykit.yaml"
_BOLD, _DIM, _PLAIN = ("\033[1m", "\033[2m", "\033[0m") if sys.stdout.isatty() else ("", "", "")


def main() -> int:
    """Runs the four steps; fails where a command does not end as expected."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "generated")
        step(
            1,
            "One file describes the cluster",
            f"{POLICY}: cards, pools and their usage, workload kinds, queues.",
        )
        show(_head(POLICY, 22))

        step(
            2,
            "policykit gen writes what the schedulers and nodes need",
            "Into a folder that a GitOps repository holds.",
        )
        run(["gen", "-p", POLICY, "-o", out], 0, {out: "generated"})
        show(_tree(out))
        show(_section(os.path.join(out, "volcano", "values.yaml")))

        step(
            3,
            "policykit where tells where a pod can land",
            "By the rules of the scheduler itself: taints, affinity, resources.",
        )
        run(["where", "-p", POLICY, "examples/apps/finetune.yaml", "examples/apps/chat.yaml"], 0)

        step(
            4,
            "policykit lint finds what would never run, or run in the wrong place",
            "In CI, or before each commit.",
        )
        run(["lint", "-p", POLICY, "examples/apps"], 1)

        step(
            5,
            "A generated patch mends it",
            "The component workloads/training-h20 on a job without any placement.",
        )
        _patched(out, folder)
    print(
        f"\n{_BOLD}Next:{_PLAIN} policykit init writes a policy to start from; policykit explain PK101 tells about a rule."
    )
    return 0


def step(number: int, title: str, says: str) -> None:
    """A heading."""
    print(f"\n{_BOLD}{number}. {title}{_PLAIN}\n{_DIM}{says}{_PLAIN}\n", flush=True)


def show(text: str) -> None:
    """Indented text."""
    print("\n".join(f"    {line}".rstrip() for line in text.rstrip("\n").split("\n")) + "\n", flush=True)


def run(arguments: list[str], expected: int, names: dict[str, str] | None = None) -> None:
    """Runs policykit as a user would and shows both its streams."""
    shown = " ".join(arguments)
    for path, name in (names or {}).items():
        shown = shown.replace(path, name)
    print(f"  $ policykit {shown}")
    done = subprocess.run(
        [sys.executable, "-m", "policykit", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    text = done.stdout + done.stderr
    for path, name in (names or {}).items():
        text = text.replace(path, name)
    show(text)
    if done.returncode != expected:
        raise SystemExit(f"policykit {shown} ended with {done.returncode}, expected {expected}")


def _head(path: str, lines: int) -> str:
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return "".join(file.readlines()[:lines]) + "..."


def _tree(folder: str) -> str:
    """Folders with their files, one line each; many files of one folder are counted."""
    lines = []
    for here, folders, names in os.walk(folder):
        folders.sort()
        relative = os.path.relpath(here, folder)
        shown = ", ".join(sorted(names)) if len(names) < 7 else f"{len(names)} files"
        if names:
            lines.append(f"{'generated' if relative == '.' else relative + '/':<28} {shown}")
    return "\n".join(lines)


def _section(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def _patched(out: str, folder: str) -> None:
    """Puts the generated Job patch on a bare Job and lints the result."""
    import yaml

    with open(os.path.join(out, "workloads", "training-h20", "job.yaml"), encoding="utf-8") as file:
        patch = yaml.safe_load(file)
    template = {
        "metadata": patch["spec"]["template"]["metadata"],
        "spec": {
            **patch["spec"]["template"]["spec"],
            "restartPolicy": "Never",
            "containers": [
                {
                    "name": "main",
                    "image": "registry.example.com/eval:1.0",
                    "resources": {"limits": {"nvidia.com/gpu": 1}},
                }
            ],
        },
    }
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "eval"},
        "spec": {"template": template},
    }
    path = os.path.join(folder, "eval.yaml")
    with open(path, "w", encoding="utf-8") as file:
        yaml.safe_dump(job, file, sort_keys=False)
    run(["where", "-p", POLICY, path], 0, {path: "eval.yaml"})
    run(["lint", "-p", POLICY, path], 0, {path: "eval.yaml"})


if __name__ == "__main__":
    sys.exit(main())
