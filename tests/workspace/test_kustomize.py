"""What a kustomization that cannot be built is said to fail from."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from policykit.workspace import kustomize

ACCUMULATED = (
    "accumulating resources: accumulation err='accumulating resources from 'base': 'base' must resolve to a "
    "file': recursed accumulation of path 'base': accumulating resources: accumulation err='accumulating "
    "resources from '../store.yaml': security; file '../store.yaml' is not in or below '.'': must build at "
    "directory: '../store.yaml': file is not directory"
)


@pytest.mark.parametrize(
    ("stderr", "failure"),
    [
        ("Error: no such file\n", "no such file"),
        ("# Warning: 'bases' is deprecated.\nError: no such file\n", "no such file"),
        (
            'E1123 07:16:21.767201   31030 run.go:72] "command failed" err="a field \\"x\\" is unknown"\n',
            'a field "x" is unknown',
        ),
        (
            f'E1123 07:16:21.767201   31030 run.go:72] "command failed" err="{ACCUMULATED}"\n',
            "../store.yaml: security; file '../store.yaml' is not in or below '.'",
        ),
        ("", "kustomize gives no reason"),
    ],
    ids=["kustomize", "warnings", "kubectl", "a file outside", "silence"],
)
def test_failure(tmp_path: Path, stderr: str, failure: str) -> None:
    program = tmp_path / "kubectl"
    program.write_text(f"#!{sys.executable}\nimport sys\nsys.stderr.write({stderr!r})\nsys.exit(1)\n")
    program.chmod(0o755)
    (built,) = kustomize.build(str(program), [kustomize.Root(str(tmp_path))])
    assert built.failure == failure
