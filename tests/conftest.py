"""Golden files: compared, or rewritten with --update-golden (`make golden`)."""

from collections.abc import Callable
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite golden files instead of comparing")


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
