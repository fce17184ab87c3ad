"""Which files Flux leaves out of a repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from policykit.workspace import safe_paths
from policykit.workspace.gitops.source_contents import is_left_out


@pytest.mark.parametrize(
    ("stated", "ignore", "path", "expected"),
    [
        ({}, "", "a/b.yaml", False),
        ({}, "", ".github/ci.yaml", True),
        ({}, "", "a/.sops.yaml", True),
        ({".sourceignore": "/a\n"}, "", "a/b.yaml", True),
        ({".sourceignore": "/a\n"}, "", ".github/ci.yaml", False),
        ({".sourceignore": "/*\n!/clusters\n"}, "", "clusters/b.yaml", False),
        ({".sourceignore": "/*\n!/clusters\n"}, "", "apps/b.yaml", True),
        ({".sourceignore": "a/\n!a/b.yaml\n"}, "", "a/b.yaml", False),
        ({"a/.sourceignore": "b.yaml\n"}, "", "a/b.yaml", True),
        ({"a/.sourceignore": "b.yaml\n"}, "", "c/b.yaml", False),
        ({".sourceignore": "/a\n"}, "!/a\n", "a/b.yaml", False),
        ({}, "/*\n!/deploy\n", "docs/b.yaml", True),
        ({}, "/*\n!/deploy\n", "deploy/b.yaml", False),
        # The default is for repositories without any pattern.
        ({"a/.sourceignore": "b.yaml\n"}, "", ".github/ci.yaml", False),
        ({".sourceignore": "# nothing\n\n"}, "", ".github/ci.yaml", True),
        # A later pattern for a folder counts more than one for the file.
        ({".sourceignore": "*.yaml\n!*/\n"}, "", "a/b.yaml", False),
        ({".sourceignore": "*.yaml\n!*/\n"}, "", "b.yaml", True),
        ({".sourceignore": "!*/\n*.yaml\n"}, "", "a/b.yaml", True),
    ],
)
def test_patterns(tmp_path: Path, stated: dict[str, str], ignore: str, path: str, expected: bool) -> None:
    safe_paths.begin((str(tmp_path),))
    for name, text in stated.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert is_left_out(str(tmp_path / path), str(tmp_path), ignore) is expected
