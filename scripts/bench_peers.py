"""Compares policykit with kube-linter, kube-score and kubeconform on a large tree; prints medians and ratios.

Nothing is asserted, because timings vary between machines: compare the ratios. Each
program gets the same files and the same number of cores, and they run alternately. The
tree is the corpus repeated under other names, without CustomResourceDefinitions,
and without the few files on which kube-score aborts.
"""

from __future__ import annotations

import json
import os
import pstats
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from scripts.instructions import WALK

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CORPUS = os.path.join(os.path.dirname(ROOT), "shared", "corpus")
TOOLS = os.path.join(ROOT, ".venv", "tools", "peers")
FILES = 20_000
SLICE = 1_000
ROUNDS = 3
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Peer(NamedTuple):
    """Another linter: its source, and how to pass it a tree."""

    name: str
    module: str
    variable: str
    """Environment variable with a binary to use instead of building one."""


PEERS = (
    Peer("kube-linter", "golang.stackrox.io/kube-linter/cmd/kube-linter@v0.8.1", "KUBE_LINTER"),
    Peer("kube-score", "github.com/zegl/kube-score/cmd/kube-score@v1.20.0", "KUBE_SCORE"),
    Peer("kubeconform", "github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0", "KUBECONFORM"),
)


class Tree(NamedTuple):
    """Files to lint, all of them below a folder."""

    folder: str
    files: tuple[str, ...]


def main() -> None:
    """Builds the others, makes the tree, runs everything."""
    if not os.path.isdir(CORPUS):
        print(f"{CORPUS} does not exist: there are no manifests to build a tree from")
        return
    binaries = {peer.name: found for peer in PEERS if (found := binary(peer))}
    with tempfile.TemporaryDirectory() as work:
        tree, size = grown(os.path.join(work, "tree"), sources(binaries.get("kube-score")))
        print(f"{len(tree.files)} files, {size / 1e6:.1f} MB, {CORES} cores, medians of {ROUNDS} rounds")
        schemas = os.path.join(work, "schemas")
        export(schemas)
        commands = {name: peer_command(name, path, tree, schemas) for name, path in binaries.items()}
        compare({"policykit": ours(tree.folder), **commands})
        warm(tree.folder, os.path.join(work, "cache"))
        slice_of_time(tree, os.path.join(work, "slice"))


def binary(peer: Peer) -> str | None:
    """Path of a program: from its variable, built before, on PATH, or built now."""
    built = os.path.join(TOOLS, peer.name)
    for found in (os.environ.get(peer.variable), built, shutil.which(peer.name)):
        if found and os.path.isfile(found):
            return found
    if not shutil.which("go"):
        print(f"{peer.name} is not measured: Go is not installed; set {peer.variable} to a binary")
        return None
    os.makedirs(TOOLS, exist_ok=True)
    print(f"building {peer.name} from {peer.module}", flush=True)
    done = subprocess.run(
        ["go", "install", peer.module],
        env={**os.environ, "GOBIN": TOOLS},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        return built
    why = (done.stderr.strip().splitlines() or ["no reason given"])[-1].strip()
    print(f"{peer.name} is not measured: it could not be built ({why}); set {peer.variable} to a binary")
    return None


def sources(kube_score: str | None) -> list[str]:
    """The manifests of the corpus."""
    found = [
        os.path.join(here, name)
        for here, _, names in os.walk(CORPUS)
        if "crds" not in os.path.relpath(here, CORPUS).split(os.sep)
        for name in names
        if name.endswith(".yaml")
    ]
    return [path for path in sorted(found) if kube_score is None or _is_read(kube_score, path)]


def _is_read(kube_score: str, path: str) -> bool:
    done = subprocess.run([kube_score, "score", path], capture_output=True, text=True, check=False)
    return "Failed to score" not in done.stderr


def grown(folder: str, found: list[str]) -> tuple[Tree, int]:
    """The sources repeated under other names, and their total bytes."""
    files: list[str] = []
    size = 0
    texts = [(os.path.relpath(path, CORPUS), _text(path)) for path in found]
    while len(files) < FILES:
        number = len(files) // len(texts)
        relative, text = texts[len(files) % len(texts)]
        path = os.path.join(folder, f"team-{number:03}", relative)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        text = _NAME.sub(rf"\g<0>-{number}", text)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        files.append(path)
        size += len(text.encode())
    return Tree(folder, tuple(files)), size


_NAME = re.compile(r"^\s*(?:- )?name: [a-z0-9][a-z0-9-]*$", re.MULTILINE)


def _text(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def ours(folder: str, *options: str) -> list[str]:
    """policykit over a folder; without options, as on the first run."""
    options = options or ("--no-cache", "--jobs", str(CORES))
    command = [sys.executable, "-m", "policykit", "lint", "--exit-zero", "--output", os.devnull]
    return [*command, *options, folder]


def peer_command(name: str, path: str, tree: Tree, schemas: str) -> list[str]:
    """Each program as documented for a folder, or on all files if it does not accept one."""
    if name == "kube-linter":
        return [path, "lint", tree.folder]
    if name == "kube-score":
        # It holds every file open, and there are limits: xargs gives it some hundreds at a time.
        return ["xargs", "-a", listed(tree), path, "score"]
    where = os.path.join(schemas, "{{.Group}}", "{{.ResourceKind}}_{{.ResourceAPIVersion}}.json")
    options = ["-n", str(CORES), "-summary", "-ignore-missing-schemas", "-schema-location", where]
    return [path, *options, tree.folder]


def listed(tree: Tree) -> str:
    """A file with the names of all files."""
    path = f"{tree.folder}.list"
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(tree.files))
    return path


def compare(commands: Mapping[str, list[str]]) -> None:
    """Everything in turn."""
    timed(ours(CORPUS))  # leaves policykit compiled, as installing it does
    taken: dict[str, list[Taken]] = {name: [] for name in commands}
    for turn in range(ROUNDS):
        for name, command in commands.items():
            one, output = timed(command)
            taken[name].append(one)
            if turn == 0:
                print(f"  {name} said: {output}", flush=True)
    medians = {name: Taken(*map(statistics.median, zip(*all_, strict=True))) for name, all_ in taken.items()}
    mine = medians["policykit"]
    for name, (seconds, processor) in medians.items():
        ratio = f"  policykit takes {mine.seconds / seconds:.2f} and {mine.processor / processor:.2f} of it"
        shown = "" if name == "policykit" else f"{ratio} (goal below 1)"
        print(f"{name:12} {seconds:7.2f} s, {processor:7.2f} s of CPU{shown}", flush=True)


class Taken(NamedTuple):
    """What a command took."""

    seconds: float
    processor: float
    """CPU seconds of all its processes."""


def timed(command: list[str], **environment: str) -> tuple[Taken, str]:
    """The time of a command, and the last line it wrote or how many there were."""
    with tempfile.TemporaryFile() as output:
        before = _processor_time()
        started = time.perf_counter()
        subprocess.run(
            command,
            stdout=output,
            stderr=output,
            check=False,
            cwd=ROOT,
            env={**_ENVIRONMENT, **environment},
        )
        taken = Taken(time.perf_counter() - started, _processor_time() - before)
        output.seek(0)
        lines = output.read().decode("utf-8", errors="replace").splitlines()
    return taken, f"{len(lines)} lines, the last: {lines[-1][:120] if lines else ''}"


def _processor_time() -> float:
    """CPU seconds of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


_ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
    "GOMAXPROCS": str(CORES),
}


def warm(folder: str, cache: str) -> None:
    """The first run against a second run on the unchanged tree."""
    command = ours(folder, "--jobs", str(CORES))
    cold, again = [], []
    for turn in range(ROUNDS):
        place = os.path.join(cache, str(turn))
        cold.append(timed(command, XDG_CACHE_HOME=place)[0].processor)
        again.append(timed(command, XDG_CACHE_HOME=place)[0].processor)
    first, second = statistics.median(cold), statistics.median(again)
    walked = timed([*WALK, folder])[0].processor
    print(f"first run, filling the cache: {first:.2f} s of CPU; nothing changed: {second:.2f} s")
    print(
        f"nothing changed takes {second / walked:.2f} of walking, reading and hashing (goal 1.5)", flush=True
    )


STAGES = (
    ("finding the files", "files.py", "files_of"),
    ("parsing", "parser.py", "parse"),
    ("pod templates", "reading.py", "pod_sets"),
    ("structure", "apply_rules.py", "_structure"),
    ("rules of objects", "apply_rules.py", "_by_kind"),
    ("placement", "review.py", "review"),
    ("rules of pods", "apply_rules.py", "causes"),
    ("facts for scopes", "apply_rules.py", "facts_of"),
    ("rules of scopes", "scope_pass.py", "scope_findings"),
    ("output", "reports.py", "write"),
)
"""The parts of a run, by function."""


_WATCHED = """
import cProfile, sys
from policykit.cli import run
watch = cProfile.Profile()
watch.runcall(run, sys.argv[2:])
watch.dump_stats(sys.argv[1])
"""


def slice_of_time(tree: Tree, folder: str) -> None:
    """Profile of a part of the tree on one core."""
    for path in tree.files[:SLICE]:
        place = os.path.join(folder, os.path.relpath(path, tree.folder))
        os.makedirs(os.path.dirname(place), exist_ok=True)
        shutil.copy(path, place)
    kept = os.path.join(folder, "profile")
    arguments = ours(folder, "--no-cache", "--jobs", "1")[3:]
    timed([sys.executable, "-c", _WATCHED, kept, *arguments])
    stats: Any = pstats.Stats(kept)
    total = stats.total_tt
    print(f"time by part, {SLICE} files on one core (profiling doubles the time):")
    for title, file, function in STAGES:
        seconds = sum(
            entry[3]
            for (where, _, name), entry in stats.stats.items()
            if os.path.basename(where) == file and name == function and "policykit" in where
        )
        print(f"  {title:20} {seconds / total:6.1%}")


def export(folder: str) -> None:
    """Our schemas as kubeconform reads them: a self-contained file for each version of a kind."""
    with open(os.path.join(ROOT, "schemas", "kinds.json"), encoding="utf-8") as file:
        shapes = json.load(file)["shapes"]
    for api_version, kinds in shapes.items():
        group, _, version = api_version.rpartition("/")
        os.makedirs(os.path.join(folder, group), exist_ok=True)
        for kind, file_name in kinds.items():
            path = os.path.join(folder, group, f"{kind.lower()}_{version}.json")
            with open(path, "w", encoding="utf-8") as out:
                json.dump({"$ref": _local(file_name, kind), "$defs": dict(_reached(file_name, kind))}, out)


def _local(file: str, name: str) -> str:
    return "#/$defs/" + re.sub(r"\W", "-", f"{file}-{name}")


def _reached(file: str, name: str) -> Iterable[tuple[str, Any]]:
    """A definition and everything it refers to, under names that are unique in one file."""
    pending, seen = [(file, name)], {(file, name)}
    while pending:
        file, name = pending.pop()

        def led(reference: str, file: str = file) -> str:
            other, _, inner = reference.partition("#/$defs/")
            target = (os.path.normpath(os.path.join(os.path.dirname(file), other)) if other else file, inner)
            if target not in seen:
                seen.add(target)
                pending.append(target)
            return _local(*target)

        yield _local(file, name).rpartition("/")[2], _with_references(_definitions(file)[name], led)


def _with_references(schema: Any, led: Any) -> Any:
    if isinstance(schema, dict):
        return {
            key: led(value) if key == "$ref" and isinstance(value, str) else _with_references(value, led)
            for key, value in schema.items()
        }
    return [_with_references(each, led) for each in schema] if isinstance(schema, list) else schema


def _definitions(file: str) -> Any:
    if file not in _read:
        with open(os.path.join(ROOT, "schemas", file), encoding="utf-8") as opened:
            _read[file] = json.load(opened)["$defs"]
    return _read[file]


_read: dict[str, Any] = {}


if __name__ == "__main__":
    main()
