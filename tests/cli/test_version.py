"""`--version`: which installation this is, and whether another project's package stands in its place."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import pytest

from policykit import DISTRIBUTION, __version__, extension
from policykit.cli.version import Installation, described
from tests.cli.commands import Shell, process
from tests.shared import ROOT

WHEEL = Installation("0.2.0", "3.13.1", "/opt/bin/python", "/opt/lib/policykit", False, "not built", "0.2.0")
LINES = """\
policykit 0.2.0
distribution: policykit-k8s 0.2.0
python: 3.13.1, /opt/bin/python
package: /opt/lib/policykit, installed
extension: not built
"""
WARNING = (
    "warning: policykit {} is also installed here, another project whose package has the same name: "
    "install policykit-k8s into a separate environment\n"
)


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (WHEEL, LINES),
        (WHEEL._replace(in_checkout=True), LINES.replace(", installed", ", in a checkout")),
        (
            WHEEL._replace(in_checkout=True, distribution=""),
            LINES.replace("k8s 0.2.0", "k8s is not installed in this environment").replace(
                ", installed", ", in a checkout"
            ),
        ),
        (WHEEL._replace(namesake="0.4.0"), LINES + WARNING.format("0.4.0")),
    ],
    ids=["wheel", "editable", "not installed", "namesake"],
)
def test_what_is_said_of_an_installation(found: Installation, text: str) -> None:
    assert described(found) == text


@pytest.mark.parametrize("words", [("--version", "--verbose"), ("--verbose", "--version")])
def test_this_installation(tmp_path: Path, words: tuple[str, ...]) -> None:
    about = tmp_path / "policykit-0.4.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: policykit\nVersion: 0.4.0\n")
    try:
        installed = version(DISTRIBUTION)
    except PackageNotFoundError:
        installed = "is not installed in this environment"
    result = process(*words, cwd=ROOT, PYTHONPATH=os.pathsep.join([str(tmp_path), str(ROOT)]))
    assert result == (
        0,
        f"policykit {__version__}\ndistribution: {DISTRIBUTION} {installed}\n"
        f"python: {platform.python_version()}, {sys.executable}\n"
        f"package: {ROOT / 'policykit'}, in a checkout\nextension: {extension.STATE}\n"
        + WARNING.format("0.4.0"),
        "",
    )


def test_an_extension_that_is_not_there() -> None:
    if find_spec("policykit._compiled") is None and os.environ.get(extension.VARIABLE) != "0":
        assert extension.STATE == "not built"
    else:
        assert extension.STATE.startswith(("in use, with libyaml ", "off: "))


def test_verbose_alone(shell: Shell) -> None:
    assert shell.run("--verbose", "rules") == (
        2,
        "",
        "policykit: --verbose works only with --version\n  help: run policykit --version --verbose\n",
    )
