"""Schemas of CI services, as the check-jsonschema package carries them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def valid(schema: str, file: Path) -> None:
    """Fails where the file is not valid by the schema of that name."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
