"""One control plane for the whole run; each test begins without objects of another."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.control_plane import GIVEN, ControlPlane, NotForTestsError, control_plane, given
from tests.cluster.programs import definitions, missing

collect_ignore_glob = [] if os.environ.get("POLICYKIT_CLUSTER") else ["test_*.py"]


UNTIL = float(os.environ.get("POLICYKIT_CLUSTER_UNTIL") or "inf")
"""When the tests must have ended, in seconds since the epoch."""
# The tests that take minutes come last.
_LAST = (
    "test_apply.py",
    "test_agreement.py",
    "test_kube_scheduler.py",
    "test_other_schedulers.py",
    "test_fills.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    ours = [item for item in items if item.path.parent == Path(__file__).parent]
    ours.sort(key=lambda item: item.path.name in _LAST and _LAST.index(item.path.name) + 1)
    items[:] = [*(item for item in items if item not in ours), *ours]


@pytest.fixture(autouse=True)
def in_time() -> None:
    if time.time() > UNTIL:
        pytest.skip("left out: no time left")


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    absent = missing()
    if absent:
        pytest.skip(f"{', '.join(absent)} not built: `make test-cluster` builds them, with Go")
    folder = tmp_path_factory.mktemp("control-plane")
    if kubeconfig := os.environ.get(GIVEN):
        try:
            running = given(folder, Path(kubeconfig))
        except NotForTestsError as error:
            pytest.exit(str(error), 2)
        yield running
        Cluster(running, folder).sweep()
        return
    with control_plane(folder) as running:
        yield running


@pytest.fixture
def cluster(plane: ControlPlane, tmp_path: Path) -> Cluster:
    made = Cluster(plane, tmp_path)
    made.sweep()
    return made


@pytest.fixture(scope="session")
def defined(plane: ControlPlane) -> None:
    """The kinds of Volcano, Koordinator and Kueue."""
    files = definitions()
    if not files:
        pytest.skip("the definitions of Volcano, Koordinator and Kueue cannot be had: no Go, or no registry")
    words = [word for file in files for word in ("-f", str(file))]
    plane.kubectl("apply", "--server-side", "--force-conflicts", *words)
    plane.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
