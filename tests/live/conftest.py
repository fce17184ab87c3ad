"""An API server in this process, and a shell whose kubeconfig names it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.commands import Shell
from tests.live.api_server import ApiServer, api_server, kubeconfig


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with api_server() as running:
        yield running


@pytest.fixture
def shell(
    server: ApiServer,
    tmp_path: Path,
    capsysbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> Shell:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig(home, server.url)))
    repository = tmp_path / "repository"
    repository.mkdir()
    return Shell(repository, capsysbinary, monkeypatch)
