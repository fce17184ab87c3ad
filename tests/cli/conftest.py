"""The folder that commands run in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.commands import Shell


@pytest.fixture
def shell(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> Shell:
    return Shell(tmp_path, capsysbinary, monkeypatch)
