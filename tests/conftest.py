"""What all tests share: golden files, property tests, and that nothing is left of a test.

`make golden` rewrites golden files; `make fuzz` draws new examples where tests repeat the same ones.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.processes import HUNG, hang_guard, kill_all, now_open

# How long an example takes says more of the machine than of the code.
_ANY_MACHINE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", _ANY_MACHINE, derandomize=True, database=None)
settings.register_profile("new", _ANY_MACHINE)
settings.load_profile("new" if os.environ.get("POLICYKIT_FUZZ") else "same")

# Tests find what there is to find; those about what is kept between runs say where.
os.environ["POLICYKIT_CACHE_DIR"] = ""

# The reader in Python is what most users have; `make test-extension` sets the variable.
os.environ.setdefault("POLICYKIT_EXTENSION", "0")

FOLDER = Path(__file__).parent
GOLDEN = FOLDER / "golden"

LONGEST = (
    "growth/test_growth.py",
    "scripts/test_budget.py",
    "packages/test_github_action.py",
    "test_gitops_safety.py",
    "manifests/test_same_trees.py",
    "targets/workloads/test_stream.py",
    "test_docs.py",
    "workspace/linting/test_continued.py",
    "workspace/linting/test_since.py",
    "plan/test_simulation.py",
    "cli/test_determinism.py",
    "rules/test_cases.py",
    "workspace/cache/test_hostile.py",
    "mutation/test_mutation.py",
    "packages/test_hostile_checkout.py",
    "test_interrupted_writing.py",
    "workspace/linting/test_since_fleet.py",
    "rules/test_unstated_release.py",
    "linter/test_remains_responsive.py",
    "rules/test_any_input.py",
    "workspace/cache/test_codec.py",
    "test_kustomize.py",
    "linter/test_failures.py",
    "plan/test_small_policies.py",
    "placement/test_placement_patches.py",
    "policies/test_policies.py",
    "cli/lsp/test_server.py",
    "plan/test_twenty_changes.py",
    "test_hooks.py",
    "fleet/test_limits.py",
    "test_boundary_property.py",
)
"""Files that take more than ten seconds, and those with few tests that take more than five; longest first."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite golden files instead of comparing")


def pytest_configure() -> None:
    from policykit.manifests import compiled_reader

    if os.environ["POLICYKIT_EXTENSION"] == "1" and not compiled_reader.available():
        pytest.exit("POLICYKIT_EXTENSION=1, but the extension is not built: run extension/build.py", 2)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where processes share the files, the longest come first: none goes on when all others have ended."""
    if hasattr(config, "workerinput"):
        order = {FOLDER / name: number for number, name in enumerate(LONGEST)}
        tests = Counter(item.path for item in items)
        items.sort(key=lambda item: (order.get(item.path, len(order)), -tests[item.path]))


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden(path, text)` holds a text to a file below tests/golden."""
    update = bool(request.config.getoption("--update-golden"))

    def compare(path: str, text: str) -> None:
        file = GOLDEN / path
        if update:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        assert file.is_file(), f"no golden file {path}: run `make golden` and read what it writes"
        assert text == file.read_text(encoding="utf-8")

    return compare


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """Fails a test that leaves a process or a pipe open, kills its processes and awaits its threads."""
    before = now_open()
    yield
    left = now_open() - before
    kill_all(left.children)
    for thread in left.threads:
        thread.join()
    assert not left.children
    assert not left.pipes or not (now_open() - before).pipes


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Iterator[None]:
    def hung() -> None:
        pytest.fail(f"did not end in {HUNG // 60} minutes")

    with hang_guard(hung):
        return (yield)
