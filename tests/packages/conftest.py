"""Wheels of policykit and of all it needs, fetched once for all tests of this folder."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.shared import ROOT


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Variables that let pip find those wheels, and what policykit is built with, without a network."""
    folder = tmp_path_factory.mktemp("wheels")
    fetch = [sys.executable, "-m", "pip", "wheel", "--quiet", "--retries=1", "--wheel-dir", str(folder)]
    done = subprocess.run([*fetch, str(ROOT), "hatchling"], capture_output=True, text=True, check=False)
    if "No matching distribution" in done.stderr or "NewConnectionError" in done.stderr:
        pytest.skip("pip reaches no package index")
    assert done.returncode == 0, done.stderr
    # False is how pip is told the option: what is installed is compiled when it is imported, not all of it.
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), "PIP_NO_COMPILE": "false"}
