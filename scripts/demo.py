"""A tour of policykit on examples/: describe, generate, see where pods can run, lint, patch."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
POLICY = "examples/policykit.yaml"
PROGRAM = (sys.executable, "-m", "policykit")
COLOURS = sys.stdout.isatty() and "NO_COLOR" not in os.environ
BOLD, CYAN, DIM, PLAIN = ("\033[1m", "\033[36m", "\033[2m", "\033[0m") if COLOURS else ("", "", "", "")


def main() -> int:
    """Runs the five steps; stops if a command does not exit as expected."""
    with tempfile.TemporaryDirectory() as folder:
        describe()
        generate(folder)
        where()
        lint()
        mend(folder)
    print(f"{BOLD}Next{PLAIN}")
    show(
        "policykit init            create a commented policy\n"
        "policykit explain PK206   what a rule finds, why it matters, bad and good examples\n"
        "README.md                 the policy file, suppressing findings, CI and GitOps"
    )
    return 0


def describe() -> None:
    """The policy, its middle part."""
    step(1, "Describe: one file with the desired state of the cluster", f"This is {POLICY}.")
    show(_between(_read(os.path.join(ROOT, POLICY)), "cards:", "# Shares"))


def generate(folder: str) -> None:
    """Files for a GitOps repository."""
    step(
        2,
        "Generate: configuration for nodes, scheduler and workloads",
        "Look at the files: labels and taints, scheduler configuration, queues, patches.",
    )
    out = os.path.join(folder, "generated")
    run(["gen", "-p", POLICY, "-o", out], 0, (out, "generated"))
    show(_tree(out))
    note("The scheduler's weights are computed; generated/volcano/values.yaml explains how:")
    show(_between(_read(os.path.join(out, "volcano", "values.yaml")), "    # Every part", "    # Not in"))


def where() -> None:
    """A pod set with a suitable pool and one without."""
    step(
        3,
        "Where: which pools accept a pod, and why the others refuse it",
        "Look at chat, the first: every pool refuses it, with the reason. finetune is correct.",
    )
    run(["where", "-p", POLICY, "examples/apps/chat.yaml", "examples/apps/finetune.yaml"], 1)


def lint() -> None:
    """The findings in the applications."""
    step(
        4,
        "Lint: what would never run, never count, or run in the wrong place",
        "Look at examples/apps: an API server accepts all these files without a warning.\n"
        "finetune.yaml is correct and portal.yaml requests no card: they have no findings.",
    )
    run(["lint", "-p", POLICY, "examples/apps"], 1)


def mend(folder: str) -> None:
    """A bare Job before and after it is patched."""
    step(
        5,
        "Patch: a job is placed in the right pool",
        "Compare the verdicts before and after. The job itself has no node placement.",
    )
    bare = "examples/bare/evaluate.yaml"
    run(["where", "-p", POLICY, bare], 1)
    patched = os.path.join(folder, "evaluate.yaml")
    note(f"After `policykit patch {bare}`, which adds affinity, tolerations and scheduler:")
    with open(patched, "w", encoding="utf-8") as file:
        subprocess.run([*PROGRAM, "patch", "-p", POLICY, bare], cwd=ROOT, stdout=file, check=True)
    run(["where", "-p", POLICY, patched], 0, (patched, "patched.yaml"))
    run(["lint", "-p", POLICY, patched], 0, (patched, "patched.yaml"))


def step(number: int, title: str, says: str) -> None:
    """Prints a heading, and what to look at."""
    print(f"{BOLD}{number}. {title}{PLAIN}")
    note(says)


def note(text: str) -> None:
    """Prints a remark."""
    for line in text.split("\n"):
        print(f"{DIM}   {line}{PLAIN}")
    print(flush=True)


def show(text: str) -> None:
    """Indented text."""
    print("\n".join(f"    {line}".rstrip() for line in text.rstrip("\n").split("\n")) + "\n", flush=True)


def run(arguments: list[str], expected: int, name: tuple[str, str] = ("", "")) -> None:
    """Runs policykit and shows both output streams; `name`: (path, name to show for it)."""
    done = subprocess.run([*PROGRAM, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    shown, text = " ".join(arguments), done.stdout + done.stderr
    if name[0]:
        shown, text = shown.replace(*name), text.replace(*name)
    print(f"  {CYAN}$ policykit {shown}{PLAIN}")
    show(text)
    if done.returncode != expected:
        raise SystemExit(f"policykit {shown} exited with {done.returncode}, expected {expected}")


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def _between(text: str, first: str, after: str) -> str:
    """The lines from the one that starts with `first` up to the one that starts with `after`."""
    lines = text.split("\n")
    start = next(n for n, line in enumerate(lines) if line.startswith(first))
    end = next(n for n, line in enumerate(lines) if n > start and line.startswith(after))
    return "\n".join(lines[start:end])


def _tree(folder: str) -> str:
    """Folders with their files, one line each; many files of one folder are counted."""
    lines = []
    for here, folders, names in os.walk(folder):
        folders.sort()
        relative = os.path.relpath(here, folder)
        shown = ", ".join(sorted(names)) if len(names) < 6 else f"{len(names)} files"
        if names:
            lines.append(f"{'generated' if relative == '.' else relative:<27} {shown}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
