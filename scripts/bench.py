"""Measures speed against yamllint and PyYAML in one run; prints medians and ratios, then instruction counts.

Nothing is asserted here, because timings vary between machines: compare the ratios. A test holds the
instruction counts to `budget.toml`.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

import yaml
from yaml.cyaml import CSafeDumper

from scripts import instructions

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIN = os.path.dirname(sys.executable)
POLICYKIT = os.path.join(BIN, "policykit")
SMALL = os.path.join(ROOT, "tests", "seeds", "inference-deployment.yaml")
RUNS = 9
LINT_TREE = [POLICYKIT, "lint", "--exit-zero", "--output", os.devnull]


def main() -> None:
    """Runs every comparison."""
    print(f"{os.cpu_count()} processors, Python {sys.version.split()[0]}, medians of {RUNS} runs in turn\n")
    os.environ["POLICYKIT_EXTENSION"] = "0"
    start_up()
    small_file()
    with tempfile.TemporaryDirectory() as folder:
        large_tree(folder)
    generation()
    instruction_counts()


def start_up() -> None:
    """`--version` against an empty program."""
    ours, theirs = turns([POLICYKIT, "--version"], [sys.executable, "-c", "pass"])
    row("policykit --version / python -c pass", ours, theirs, 3.0)


def small_file() -> None:
    """`lint` of one small file against yamllint."""
    yamllint = [os.path.join(BIN, "yamllint"), "-d", "relaxed", SMALL]
    ours, theirs = turns([POLICYKIT, "lint", "--exit-zero", SMALL], yamllint)
    row("lint of one small file, no policy / yamllint", ours, theirs, 1.0)
    governed = [POLICYKIT, "lint", "--exit-zero", "-p", "profile:hybrid-volcano", SMALL]
    ours, theirs = turns(governed, yamllint)
    row("lint of one small file, policy compiled before / yamllint", ours, theirs, 1.2)
    ours, theirs = turns([*governed, "--no-cache"], yamllint)
    row("lint of one small file, policy compiled cold / yamllint", ours, theirs, None)


def large_tree(folder: str) -> None:
    """`lint` of many files against PyYAML's C composer on the same bytes on one core."""
    size = write_tree(folder, 3000)
    floor = [*instructions.COMPOSE, folder]
    for jobs, policy in (
        ("0", []),
        ("0", ["-p", "profile:hybrid-volcano"]),
        ("1", ["-p", "profile:hybrid-volcano"]),
    ):
        ours, theirs = turns(
            [*LINT_TREE, "--no-cache", "--jobs", jobs, *policy, folder],
            floor,
            runs=3,
        )
        label = "all cores" if jobs == "0" else "one core"
        with_policy = "with policy" if policy else "no policy"
        row(
            f"lint of 3000 files ({size / 1e6:.1f} MB), {label}, {with_policy} / compose_all",
            ours,
            theirs,
            4.0 if jobs == "0" else None,
        )
    again, walked = turns([*LINT_TREE, folder], [*instructions.WALK, folder], runs=3)
    row("lint of 3000 files, nothing changed / walking, reading and hashing", again, walked, 1.5)
    if instructions.has_extension():
        whole = [*LINT_TREE, "--no-cache", "--jobs", "1", folder]
        with_it, without = turns(["env", "POLICYKIT_EXTENSION=1", *whole], whole, runs=3)
        row("lint of 3000 files, one core, with the extension / pure Python", with_it, without, None)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"  peak memory of the largest process so far: {peak:.0f} MB")


def generation() -> None:
    """`gen` of a large policy against dumping the same objects with PyYAML's C dumper."""
    from policykit import api
    from policykit.generator.bundle import bundle
    from policykit.policy.load import load_text
    from policykit.workspace.files import read

    text = _large_policy().encode()
    started = time.perf_counter()
    cluster = load_text(text, "policykit.yaml", read).cluster
    compiled = time.perf_counter() - started
    files: dict[str, str] = {}

    def ours() -> None:
        files.clear()
        files.update(bundle(cluster, api.generate(cluster)))

    mine = _timed(ours, 3)
    objects = [
        list(yaml.load_all(t, Loader=yaml.CSafeLoader)) for p, t in files.items() if p.endswith(".yaml")
    ]
    theirs = _timed(lambda: [yaml.dump_all(o, Dumper=CSafeDumper, sort_keys=False) for o in objects], 3)
    total = sum(map(len, files.values()))
    row(f"gen, 1,000 queues, 200 pools, 10,000 nodes ({total / 1e6:.1f} MB) / C dumper", mine, theirs, 4.0)
    print(f"  reading and compiling that policy: {compiled:.2f} s")


def instruction_counts() -> None:
    """The same comparisons by instructions, with what the budget allows."""
    if not instructions.available():
        print(instructions.MISSING)
        return
    budgets = instructions.budgets()
    print("millions of instructions, pure Python")
    pure = instructions.comparisons()
    for name, ours, theirs in pure:
        budget = budgets[name]
        print(
            f"{name.replace('-', ' ')}\n  {ours / 1e6:8.2f} M  / {theirs / 1e6:8.2f} M  = {ours / theirs:.2f}"
            f"  (goal {budget.goal}, at most {budget.most})",
            flush=True,
        )
    if not instructions.has_extension():
        print("the extension is not built: `make extension` builds it")
        return
    print("millions of instructions, with the extension / pure Python")
    for compiled, plain in zip(instructions.comparisons(extension=True), pure, strict=True):
        ours, theirs = compiled.ours / 1e6, plain.ours / 1e6
        print(f"{plain.name.replace('-', ' ')}\n  {ours:8.2f} M  / {theirs:8.2f} M  = {ours / theirs:.2f}")


def turns(ours: Sequence[str], theirs: Sequence[str], runs: int = RUNS) -> tuple[float, float]:
    """Medians of two commands run alternately, after one warm-up run of each."""
    taken: tuple[list[float], list[float]] = ([], [])
    for turn in range(runs + 1):
        for command, times in zip((ours, theirs), taken, strict=True):
            started = time.perf_counter()
            subprocess.run(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, cwd=ROOT
            )
            if turn:
                times.append(time.perf_counter() - started)
    return statistics.median(taken[0]), statistics.median(taken[1])


def row(name: str, ours: float, theirs: float, goal: float | None) -> None:
    """One line of the table."""
    aim = f"goal {goal:.1f}" if goal else "no goal"
    print(
        f"{name}\n  {ours * 1000:8.1f} ms / {theirs * 1000:8.1f} ms = {ours / theirs:.2f}  ({aim})",
        flush=True,
    )


def _timed(work: Callable[[], object], runs: int) -> float:
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def write_tree(folder: str, files: int) -> int:
    """Manifests of the tests and examples, renamed, `files` of them; their bytes."""
    sources = []
    for place in (os.path.join(ROOT, "tests", "seeds"), os.path.join(ROOT, "examples", "apps")):
        for name in sorted(os.listdir(place)):
            with open(os.path.join(place, name), encoding="utf-8") as file:
                text = file.read()
            if "gang-job" not in name:
                sources.append((name, text))
    size = 0
    for number in range(files):
        name, text = sources[number % len(sources)]
        where = os.path.join(folder, f"team-{number % 40:02}")
        os.makedirs(where, exist_ok=True)
        text = text.replace("  name: ", f"  name: n{number}-", 1)
        size += len(text)
        with open(os.path.join(where, f"{number:05}-{name}"), "w", encoding="utf-8") as file:
            file.write(text)
    return size


def _large_policy() -> str:
    lines = [
        "apiVersion: policykit.io/v1alpha1",
        "kind: Policy",
        "metadata: {name: large}",
        "domain: ai.example.com",
    ]
    lines += ["cards:", "  h20: {product: NVIDIA-H20}", "pools:"]
    for pool in range(200):
        names = ", ".join(f"node-{pool:03}-{node:02}" for node in range(50))
        usage = ("training", "inference", "hybrid")[pool % 3]
        lines.append(f"  pool-{pool:03}: {{usage: {usage}, card: h20, nodes: {{names: [{names}]}}}}")
    lines += [
        "workloads:",
        "  training: {usages: [training, hybrid], prefer: {training: 100}, scheduler: volcano}",
        "queues:",
    ]
    lines += [
        f"  team-{queue:04}: {{weight: 1, limit: {{cpu: 64, memory: 512Gi, nvidia.com/gpu: 8}}}}"
        for queue in range(1000)
    ]
    lines += ["targets:", "  volcano: {delivery: manifest}"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
