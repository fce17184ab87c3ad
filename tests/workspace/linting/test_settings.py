"""`[tool.policykit.lint]` of the nearest pyproject.toml that has something to say."""

from __future__ import annotations

from pathlib import Path

import pytest

from policykit.errors import UsageError
from policykit.model.cluster import LintSettings
from policykit.workspace.linting.settings import nearest_settings, pyproject_settings

HEAD = "[tool.policykit.lint]\n"


@pytest.mark.parametrize(
    ("files", "nearest"),
    [
        ({}, ""),
        ({"pyproject.toml": HEAD}, "pyproject.toml"),
        ({"pyproject.toml": HEAD, "a/pyproject.toml": HEAD}, "a/pyproject.toml"),
        ({"pyproject.toml": HEAD, "a/pyproject.toml": "[project]\n"}, "pyproject.toml"),
        ({"../pyproject.toml": HEAD}, ""),
    ],
    ids=["none", "root", "nearest", "the nearest says nothing", "outside"],
)
def test_nearest_settings(tmp_path: Path, files: dict[str, str], nearest: str) -> None:
    root = tmp_path / "repository"
    (root / ".git").mkdir(parents=True)
    (root / "a").mkdir()
    for name, text in files.items():
        (root / name).write_text(text)
    assert nearest_settings(str(root / "a")) == (str(root / nearest) if nearest else "")


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("", LintSettings()),
        ("[tool]\npolicykit = 3\n", LintSettings()),
        ("tool = 3\n", LintSettings()),
        ("[tool.policykit]\nlint = 3\n", LintSettings()),
        (HEAD, LintSettings()),
        (
            HEAD + "select = ['PK1']\nignore = ['PK101']\nexclude = ['gen']\n"
            "extra-plugins = ['Mine']\npreset = 'strict'\ncrds = ['crds']\n"
            "severity = {PK103 = 'info'}\nper-path = {'a/*' = ['PK2']}\n",
            LintSettings(
                ("PK1",),
                ("PK101",),
                {"PK103": "info"},
                (("a/*", ("PK2",)),),
                ("gen",),
                ("Mine",),
                "strict",
                ("crds",),
            ),
        ),
    ],
    ids=["empty", "policykit is a number", "tool is a number", "lint is a number", "empty table", "all"],
)
def test_settings(tmp_path: Path, text: str, settings: LintSettings) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text(text)
    assert pyproject_settings(str(path)) == settings


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            "x = 1",
            "[tool.policykit.lint] has no setting 'x'",
            "known: accept-not-judged, crds, exclude, extra-plugins, ignore, per-path, preset, select,"
            " severity",
        ),
        ("select = 'a'", "[tool.policykit.lint] select must be a list of strings", "write it in brackets"),
        ("ignore = [1]", "[tool.policykit.lint] ignore must be a list of strings", "write it in brackets"),
        (
            "per-path = ['a']",
            "[tool.policykit.lint] per-path must be a table",
            "write it as [tool.policykit.lint.per-path]",
        ),
        (
            "per-path = {a = 'b'}",
            "[tool.policykit.lint] per-path a must be a list of strings",
            "write it in brackets",
        ),
        (
            "severity = 1",
            "[tool.policykit.lint] severity must be a table",
            "write it as [tool.policykit.lint.severity]",
        ),
        (
            "severity = {PK1 = 'loud'}",
            "[tool.policykit.lint] severity of PK1 is 'loud'",
            "choose one of error, warning, info",
        ),
        (
            "preset = 'loud'",
            "[tool.policykit.lint] preset is 'loud'",
            "choose one of minimal, recommended, strict",
        ),
        (
            "severity = {PK1 = [1]}",
            "[tool.policykit.lint] severity of PK1 is [1]",
            "choose one of error, warning, info",
        ),
    ],
)
def test_mistakes(tmp_path: Path, text: str, message: str, hint: str) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text(HEAD + text)
    with pytest.raises(UsageError) as raised:
        pyproject_settings(str(path))
    assert (raised.value.message, raised.value.hint) == (message, hint)
    assert raised.value.place == str(path)


@pytest.mark.parametrize("raw", [b"[tool.policykit.lint", b"# \xff tool.policykit"], ids=["open", "bytes"])
def test_what_is_not_toml(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_bytes(raw)
    with pytest.raises(UsageError, match="not TOML: "):
        pyproject_settings(str(path))
