"""One control plane for the whole run; each test begins without objects of another."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.control_plane import ControlPlane, control_plane
from tests.cluster.programs import missing

collect_ignore_glob = [] if os.environ.get("POLICYKIT_CLUSTER") else ["test_*.py"]


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    absent = missing()
    if absent:
        pytest.skip(f"{', '.join(absent)} not built: `make test-cluster` builds them, with Go")
    with control_plane(tmp_path_factory.mktemp("control-plane")) as running:
        yield running


@pytest.fixture
def cluster(plane: ControlPlane, tmp_path: Path) -> Cluster:
    made = Cluster(plane, tmp_path)
    made.sweep()
    return made
