"""What a run reads: each file once, although policies, controllers and rules ask for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from policykit.workspace.linting.files import Reader
from tests.shared import ROOT

CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n"
OPENED = """\
import sys
from collections import Counter

opened = Counter()

def note(event, arguments):
    if event == "open" and str(arguments[0]).endswith(".yaml"):
        opened[str(arguments[0]).rpartition("/")[2]] += 1

sys.addaudithook(note)
from policykit.__main__ import main
try:
    main()
finally:
    print(*(f"{name} {number}" for name, number in sorted(opened.items())), sep="\\n")
"""


def test_contents_that_were_read_before_are_given_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text("on disk")
    here = os.getcwd()
    read = Reader(b"given", {"built": b"objects"}, {f"{here}/a.yaml": b"first", f"{here}/b.yaml": b"first"})
    answers = [read(path) for path in ("a.yaml", "a.yaml", f"{here}/b.yaml", f"{here}/b.yaml", "built", "-")]
    assert answers == [b"first", b"on disk", b"first", b"on disk", b"objects", b"given"]


@pytest.mark.parametrize("arguments", [["."], ["a.yaml"], ["--hook", "a.yaml"]], ids=" ".join)
def test_each_file_is_opened_once(tmp_path: Path, arguments: list[str]) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    (tmp_path / "policykit.yaml").write_text(dedent(POLICY))
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.yaml").write_text(CONFIG_MAP % name)
    done = subprocess.run(
        [sys.executable, "-c", OPENED, "lint", "--no-cache", *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    counts = dict(line.split() for line in done.stdout.splitlines() if line.startswith(("a.", "b.", "c.")))
    assert counts == {"a.yaml": "1", "b.yaml": "1", "c.yaml": "1"}, done.stdout + done.stderr


POLICY = """\
    apiVersion: policykit.io/v1alpha1
    kind: Policy
    metadata: {name: demo}
    domain: ai.example.com
    pools:
      system: {nodes: 3, allocatable: {cpu: 30, memory: 120Gi}}
    """
