"""The layers hold: a module imports only what stands below it; heavy packages stay where they belong."""

import ast
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from policykit.lazy import Lazy
from policykit.targets import DEFAULT_SCHEDULER, TARGETS
from tests.shared import ROOT

PACKAGE = ROOT / "policykit"

LAYERS = (
    ("__main__",),
    ("cli",),
    ("workspace",),
    ("api", "formats"),
    ("plan",),
    ("rules", "importer", "live"),
    ("policy",),
    ("gates",),
    ("targets",),
    ("linter",),
    ("generator",),
    ("placement",),
    ("kube", "catalogue"),
    ("manifests",),
    ("model",),
    ("errors", "bundled", "__init__"),
    ("extension",),
    ("lazy", "nearest", "patterns", "escape"),
    ("cycles", "durations", "namedtuple", "_compiled"),
)
"""Top to bottom; neighbours on a line do not see each other."""

CODE_FROM_DATA = frozenset({"copyreg", "dbm", "dill", "marshal", "pickle", "shelve"})
"""Modules that make code, or objects of any type, of bytes: nothing here reads bytes by them."""

HEAVY = {
    "pydantic": "policykit.policy",
    "click": "policykit.cli",
    "kubernetes": "policykit.live",
    "urllib3": "policykit.live",
}
"""Third-party package to the only place that may import it."""


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(parsed(path)))


@cache
def imports(path: Path, *, lazily: bool = True) -> tuple[tuple[int, str], ...]:
    """Modules that a module imports; `lazily`: by `Lazy("a.b:c")` or `import_module("a.b")`, too."""
    return tuple(imported(path, lazily))


def imported(path: Path, lazily: bool) -> Iterator[tuple[int, str]]:
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.lineno, node.module
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
        elif lazily and isinstance(node, ast.Call) and called(node) in ("Lazy", "import_module"):
            yield node.lineno, stated(node.args[0]).partition(":")[0]


def called(node: ast.Call) -> str:
    """The name of a function that is called by its name alone."""
    return node.func.id if isinstance(node.func, ast.Name) else ""


def stated(path: ast.expr) -> str:
    """A constant text, or what an f-string begins with, without the part of a name at its end."""
    if isinstance(path, ast.JoinedStr):
        first = path.values[0]
        return stated(first).rpartition(".")[0] if isinstance(first, ast.Constant) else ""
    return path.value if isinstance(path, ast.Constant) and isinstance(path.value, str) else ""


def part(module: str) -> str:
    """`linter` of policykit.linter.engine; `__init__` of policykit itself."""
    pieces = module.split(".")
    return pieces[1] if len(pieces) > 1 else "__init__"


def layer(name: str) -> int | None:
    return next((n for n, line in enumerate(LAYERS) if name in line), None)


def name_of(path: Path) -> str:
    relative = path.relative_to(ROOT).with_suffix("")
    return ".".join(relative.parts[:-1] if relative.name == "__init__" else relative.parts)


def imports_from_above(path: Path) -> Iterator[str]:
    mine = part(name_of(path))
    for line, module in imports(path):
        if not module.startswith("policykit"):
            continue
        theirs = part(module)
        above, below = layer(mine), layer(theirs)
        if below is None or above is None or theirs == mine:
            continue
        if below < above or below == above:
            yield f"line {line}: {mine} imports {module}"


def test_no_modules_import_each_other() -> None:
    """Not even for types, or inside functions. A list of lazy references may name modules that read it."""
    names = {name_of(path) for path in modules()}
    graph: dict[str, set[str]] = {}
    for path in modules():
        named = {module for _, module in imports(path, lazily=False)} & names
        # `from package import module` names both; the package is imported for the module alone.
        graph[name_of(path)] = {
            one for one in named if not any(other.startswith(f"{one}.") for other in named)
        } - {name_of(path)}
    TopologicalSorter(graph).prepare()


def lazy_imports_of_nothing(path: Path) -> Iterator[str]:
    for node in nodes(path):
        if isinstance(node, ast.Call) and called(node) == "Lazy":
            reference = Lazy[object](stated(node.args[0]))
            if reference.load() is None:
                yield f"line {node.lineno}: {reference.path}"


ALL_TARGETS = {
    target.name: {target.name, *target.schedulers} - {DEFAULT_SCHEDULER}
    for target in TARGETS
    if target.name not in ("nodes", "workloads")
}
"""Every system, and the constants by which code may branch on it."""
HOMES = ("targets", "rules", "catalogue", "policy.models.targets", "policy.compile.targets")
"""Packages with a folder or a module for each system."""
KNOWING = {
    "policykit.targets": "the list of all systems",
    "policykit.policy.models.targets": "the fields of `targets` in a policy, typed",
    "policykit.policy.compile.targets": "Kubernetes is part of every policy",
    "policykit.policy.compile.cluster": "`kubernetes` is a key of the policy: its version",
    "policykit.catalogue.amounts": "a vendor in the catalogue has that name",
    "policykit.rules.resources.exclusive_card_resources": "a vendor in the catalogue has that name",
    "policykit.formats.sarif": "a tag for whoever reads the report",
    "policykit.rules.catalogue": "names the folder of each rule",
    "policykit.rules.system_checks": "the parts of rules that one system needs",
    "policykit.targets.koordinator": "koord-scheduler is built on kube-scheduler",
}
"""Modules and packages that know a system which they are not the home of, and why."""


def is_home(module: str, target_name: str) -> bool:
    """Whether a module belongs to a system: it stands in a folder with its name, or begins with it."""
    parts = [module.removeprefix(f"policykit.{home}.").partition(".")[0] for home in HOMES]
    return any(part == target_name or part.startswith(f"{target_name}_") for part in parts)


@cache
def known_systems(path: Path) -> tuple[str, ...]:
    return tuple(systems_named(path))


def systems_named(path: Path) -> Iterator[str]:
    """Where a module names or imports a system that it does not belong to."""
    module = name_of(path)
    for target_name, names in ALL_TARGETS.items():
        if is_home(module, target_name):
            continue
        for line, imported in imports(path):
            if any(f"{imported}.".startswith(f"policykit.{home}.{target_name}.") for home in HOMES):
                yield f"line {line} imports {imported}"
        for node in nodes(path):
            if isinstance(node, ast.Constant) and node.value in names:
                yield f"line {node.lineno}: {node.value!r}"


def allowed(module: str) -> str | None:
    """The entry of KNOWING that allows a module to know a system; the list of all systems is no package."""
    lists = ("policykit.targets", "policykit.policy.compile.targets")
    above = (entry for entry in KNOWING if module.startswith(f"{entry}.") and entry not in lists)
    return module if module in KNOWING else next(above, None)


def systems_of_other_modules(path: Path) -> tuple[str, ...]:
    return () if allowed(name_of(path)) else known_systems(path)


def test_every_exception_is_still_needed() -> None:
    used = {allowed(name_of(path)) for path in modules() if known_systems(path)}
    assert set(KNOWING) - used == set()


def no_layer(path: Path) -> Iterator[str]:
    if layer(part(name_of(path))) is None:
        yield "belongs to no layer"


def heavy_packages(path: Path) -> Iterator[str]:
    for line, module in imports(path):
        home = HEAVY.get(module.partition(".")[0])
        if home is not None and not name_of(path).startswith(home):
            yield f"line {line} imports {module}, which stays in {home}"


def slow_named_tuples(path: Path) -> Iterator[str]:
    names = [module for _, module in imports(path)]
    if "typing.NamedTuple" in names and name_of(path) != "policykit.namedtuple":
        yield "import NamedTuple from policykit.namedtuple: it is faster to define"


def code_from_data(path: Path) -> Iterator[str]:
    for line, module in imports(path):
        if module.partition(".")[0] in CODE_FROM_DATA:
            yield f"line {line} imports {module}"
    for node in nodes(path):
        if isinstance(node, ast.Call) and called(node) in ("eval", "exec", "compile", "__import__"):
            yield f"line {node.lineno} calls {called(node)}"


def length_or_caption(path: Path) -> Iterator[str]:
    lines = path.read_text(encoding="utf-8").count("\n")
    if lines > 400:
        yield f"has {lines} lines, the limit is 400"
    if not ast.get_docstring(parsed(path)):
        yield "has no docstring, which is its caption in the tree"


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        (["--version"], ["click", "yaml", "pydantic"]),
        (["lint", "EMPTY"], ["pydantic", "kubernetes", "jsonschema", "click", "yaml.reader", "inspect"]),
        (["rules"], ["pydantic", "kubernetes", "jsonschema"]),
        (["gen", "-p", "profile:hybrid-volcano", "-o", "-"], ["kubernetes", "jsonschema"]),
        (["where", "-p", "profile:hybrid-volcano", "EMPTY"], ["kubernetes", "jsonschema"]),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else value,
)
def test_commands_load_only_what_they_need(arguments: list[str], absent: list[str], tmp_path: Path) -> None:
    empty = tmp_path / "empty.yaml"
    empty.write_text("")
    words = [str(empty) if word == "EMPTY" else word for word in arguments]
    program = (
        "import sys; sys.argv = ['policykit'] + sys.argv[1:]\n"
        "from policykit.__main__ import main\n"
        "code = main()\n"
        f"loaded = [name for name in {absent!r} if name in sys.modules]\n"
        "print(loaded, file=sys.stderr); sys.exit(code or bool(loaded))"
    )
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr


def test_a_run_is_repeated_before_anything_is_imported(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    (repository / ".git").mkdir(parents=True)
    (repository / "large.yaml").write_text(f"# {'x' * 120_000}\n")
    absent = [
        "typing",
        "re",
        "json",
        "hashlib",
        "yaml",
        "click",
        "policykit.cli",
        "policykit.workspace.files",
    ]
    program = (
        "import sys; sys.argv = ['policykit', 'lint', '.', '--output', '/dev/null']\n"
        "from policykit.__main__ import main\n"
        "code = main()\n"
        f"print([name for name in {absent!r} if name in sys.modules])"
    )
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "POLICYKIT_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", program]
    first, second = (
        subprocess.run(command, capture_output=True, text=True, cwd=repository, env=variables, check=True)
        for _ in range(2)
    )
    assert first.stderr == second.stderr != ""
    assert second.stdout == "[]\n"


OPENERS = {
    "policykit.workspace.safe_paths": "judges every path and reads what may be read",
    "policykit.workspace.filesystem": "reads again what a run of the same command line read",
    "policykit.workspace.git": "writes the files of a revision to a folder of its own",
    "policykit.workspace.writing": "replaces and deletes what was judged",
    "policykit.workspace.cache.folder": "keeps results in a folder of its own",
    "policykit.workspace.kustomize": "makes a folder of its own for a build",
    "policykit.workspace.helm": "makes a folder of its own for a chart",
    "policykit.workspace.programs": "finds git, kustomize and helm",
    "policykit.live.connection": "reads the namespace of the pod that it runs in",
    "policykit.bundled": "reads what ships with policykit",
}
"""The only modules that open, replace or delete files, and why."""
CHANGES = {
    "os": "open fdopen replace rename renames remove unlink rmdir removedirs makedirs mkdir link symlink"
    " truncate chmod chown lchown mkfifo mknod utime popen system spawnv execv",
    "io": "open open_code FileIO",
    "codecs": "open",
}
METHODS = {"read_text", "read_bytes", "write_text", "write_bytes", "unlink", "rmdir", "mkdir", "touch"}
PACKAGES = {"pathlib", "shutil", "tempfile", "fileinput", "mmap", "glob"}


def opens(path: Path) -> Iterator[str]:
    """What in a module touches files itself; `/dev/null` is none."""
    for node in nodes(path):
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Name) and function.id == "open":
                yield f"line {node.lineno}: open"
            elif isinstance(function, ast.Attribute) and function.attr in METHODS:
                yield f"line {node.lineno}: {function.attr}"
            elif isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
                words = CHANGES.get(function.value.id, "").split()
                if function.attr in words and "os.devnull" not in ast.unparse(node):
                    yield f"line {node.lineno}: {function.value.id}.{function.attr}"
    for line, module in imports(path):
        if module.partition(".")[0] in PACKAGES or module in {
            f"{package}.{name}" for package, names in CHANGES.items() for name in names.split()
        }:
            yield f"line {line}: imports {module}"


def files_opened_elsewhere(path: Path) -> Iterator[str]:
    """Files are opened and changed only where paths are judged."""
    return iter(()) if name_of(path) in OPENERS else opens(path)


@pytest.mark.parametrize("module", OPENERS)
def test_modules_that_open_files_are_still_there(module: str) -> None:
    assert list(opens(PACKAGE.parent / f"{module.replace('.', '/')}.py"))


ASKERS = {
    "policykit.workspace.filesystem": "notes what is asked",
    "policykit.workspace.cache.folder": "asks about the cache",
    "policykit.workspace.cache.runs": "asks about the record of a run",
    "policykit.workspace.cache.builds": "asks about programs, which are noted where they are found",
    "policykit.workspace.programs": "notes the programs that it finds",
    "policykit.workspace.writing": "asks about what it writes",
    "policykit.workspace.helm": "asks about a copy of a chart, noted where it is read",
    "policykit.workspace.kustomize": "asks about a kustomization, noted where it is read",
    "policykit.workspace.git": "runs with --since are not recorded; remotes are noted",
    "policykit.workspace.linting.since": "runs with --since or --hook are not recorded",
    "policykit.workspace.linting.committed_files": "asks only to find out whether a kept run tells the same",
    "policykit.workspace.linting.request": "POLICYKIT_TODAY is part of the command line",
    "policykit.cli": "_POLICYKIT_COMPLETE is of shells that complete",
    "policykit.cli.options": "asks about the cache",
    "policykit.cli.output": "asks about what it writes",
    "policykit.cli.reports": "variables about colours and the summary are part of the command line",
    "policykit.errors": "POLICYKIT_TRACEBACK is part of the command line",
    "policykit.extension": "the extension changes no output",
    "policykit.workspace.cache.revisions": "asks about what is recorded, and variables of revisions",
    "policykit.bundled": "reads what ships with policykit",
}
"""The only modules of `lint` that ask about files or the environment themselves: with any other, a recorded
run might be repeated although the answer has changed.
"""
ASKING = {
    "os": "stat lstat listdir scandir walk readlink access environ getenv",
    "os.path": "exists lexists isdir isfile islink realpath samefile getsize getmtime",
}
OTHER_COMMANDS = ("policykit.live", "policykit.plan", "policykit.cli.")
OF_LINT = ("policykit.cli.lint", "policykit.cli.options", "policykit.cli.output")


def asks(path: Path) -> Iterator[str]:
    for node in nodes(path):
        if isinstance(node, ast.Attribute) and node.attr in ASKING.get(ast.unparse(node.value), "").split():
            yield f"line {node.lineno}: {ast.unparse(node)}"


def questions_not_noted(path: Path) -> Iterator[str]:
    name = name_of(path)
    of_lint = not name.startswith(OTHER_COMMANDS) or name.startswith(OF_LINT)
    return asks(path) if of_lint and name not in ASKERS else iter(())


@pytest.mark.parametrize("module", ASKERS)
def test_modules_that_ask_are_still_there(module: str) -> None:
    file = PACKAGE.parent / f"{module.replace('.', '/')}.py"
    assert list(asks(file if file.exists() else file.with_suffix("") / "__init__.py"))


@pytest.mark.parametrize(
    "faults",
    [
        code_from_data,
        files_opened_elsewhere,
        heavy_packages,
        imports_from_above,
        lazy_imports_of_nothing,
        length_or_caption,
        no_layer,
        questions_not_noted,
        slow_named_tuples,
        systems_of_other_modules,
    ],
)
def test_no_module_has(faults: Callable[[Path], Iterable[str]]) -> None:
    assert [f"{name_of(path)}: {fault}" for path in modules() for fault in faults(path)] == []


WHOLE = "chart cluster extension fleet growth live mutation packages policies reports rules seeds"
"""Folders of tests about the whole program, and of rules, which have cases."""
BEHAVIOURS = {
    "one behaviour of several commands": (
        "cli/test_bad_files cli/test_boundary cli/test_caching cli/test_components cli/test_crd_option "
        "cli/test_determinism cli/test_hostile cli/test_kustomize cli/test_main cli/test_not_judged "
        "cli/test_repeated_runs cli/test_workload_kinds cli/lsp/test_documents cli/lsp/test_held_policy"
    ),
    "one behaviour of several modules of the folder": (
        "formats/test_clusters gates/test_pending importer/test_node_health importer/test_virtual_cards "
        "linter/test_failures linter/test_remains_responsive manifests/test_same_trees plan/test_simulation "
        "plan/test_small_policies plan/test_twenty_changes "
        "policy/test_golden policy/test_hints policy/test_mistakes policy/test_profiles "
        "policy/test_vocabulary targets/test_groups targets/koordinator/test_upgrade "
        "targets/kubernetes/test_objects targets/nodes/test_joining targets/nodes/test_places "
        "targets/workloads/test_shapes "
        "workspace/linting/test_since_fleet"
    ),
    "any input, or any value": (
        "formats/test_hostile generator/test_hostile_policies importer/test_loop importer/test_round_trip "
        "importer/test_unusual_nodes kube/podsets/test_properties policy/test_any_input "
        "workspace/cache/test_hostile"
    ),
    "facts from outside the repository": (
        "catalogue/test_shared_facts kube/podsets/test_corpus kube/structure/test_parity "
        "kube/structure/test_upstream kube/test_shared_vectors kube/test_vectors"
    ),
    "the tests' own models of other programs": (
        "kube/test_kubelet targets/test_scores targets/koordinator/scheduler/test_scores "
        "targets/volcano/test_node_scores"
    ),
    "files that several scripts write": "policy/test_reference scripts/test_budget scripts/test_exports",
}
"""Tests that are named after what they test, where that is no module."""
TESTS = ROOT / "tests"


def named_for_nothing() -> Iterator[str]:
    """Test files in folders that mirror the package whose name is that of no module or folder."""
    for path in TESTS.rglob("test_*.py"):
        folder, name = path.parent.relative_to(TESTS), path.stem.removeprefix("test_")
        if folder.parts and folder.parts[0] not in WHOLE.split():
            mirrored = (ROOT if folder.parts[0] == "scripts" else PACKAGE) / folder
            if not any((mirrored / other).exists() for other in (f"{name}.py", f"{name}_.py", name)):
                yield (folder / path.stem).as_posix()


def test_tests_are_named_for_modules() -> None:
    assert sorted(named_for_nothing()) == sorted(" ".join(BEHAVIOURS.values()).split())
