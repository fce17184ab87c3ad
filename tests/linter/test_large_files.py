"""A large file is linted in little memory, and has the findings that it has if it is read as a whole."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from policykit import api
from policykit.linter import large_files
from policykit.linter.finding import Report
from policykit.linter.workspace import Options
from policykit.manifests import parsed_document
from policykit.manifests.large_lists import large_list
from policykit.rules import rules
from policykit.workspace.cache.large_file_facts import PackedFacts
from tests.clusters import profile
from tests.shared import ROOT

SIZE = 4_500_000
"""Bytes, a little more than what counts as large."""
SMALL = 20_000
"""Kilobytes that a run takes for a small file, and some more."""

HEAD = "apiVersion: v1\nkind: List\nitems:\n"
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web-{number}, namespace: team}}
spec:
  selector: {{matchLabels: {{app: web-{number}}}}}
  template:
    metadata: {{labels: {{app: web-{number}}}}}
    spec:
      containers:
      - name: main
        image: registry.example/web:{number}
        resources: {{requests: {{cpu: 500m, memory: 1Gi}}}}
"""


def as_item(text: str) -> str:
    """A document as an item of a list."""
    return "- " + text.strip("\n").replace("\n", "\n  ") + "\n"


def repeated(item: Callable[[int], str], head: str = "", tail: str = "") -> str:
    """As many objects as make a large file."""
    amount = SIZE // len(item(10_000)) + 1
    return head + "".join(map(item, range(amount))) + tail


def deployment(number: int) -> str:
    return DEPLOYMENT.format(number=number)


CONFIG_MAP = """\
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: settings-{number}, namespace: team}}
data: {{number: "{number}", text: some words that are in this one and in no other}}
"""

POD = """\
---
apiVersion: v1
kind: Pod
metadata: {{name: train-{number}, namespace: team}}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 30
  securityContext: {{runAsNonRoot: true, runAsUser: 1000, seccompProfile: {{type: RuntimeDefault}}}}
  containers:
  - name: main
    image: registry.example/train:{number}
    resources: {{limits: {{nvidia.com/gpu: 1.5}}}}
"""

LARGE: dict[str, tuple[Callable[[], str], float]] = {
    "pods with a mistake each": (lambda: repeated(lambda n: POD.format(number=n)), 9),
    "configurations": (lambda: repeated(lambda n: CONFIG_MAP.format(number=n)), 3.5),
    "a list": (lambda: repeated(lambda n: as_item(deployment(n)), HEAD), 3.5),
}
"""Texts, and the most bytes that a run takes for each of theirs. The text itself takes one, and another while
it is decoded."""


_MEASURED = """
import sys
from policykit.__main__ import main
assert main() in (0, 1)
with open("/proc/self/status") as status:
    print(*(line.split()[1] for line in status if line.startswith("VmHWM:")), file=sys.stderr)
"""
"""What `ru_maxrss` tells of a process is also that of the one that started it."""


def peak(folder: Path, *arguments: str) -> int:
    """Kilobytes of memory that linting a folder takes at most."""
    command = [sys.executable, "-c", _MEASURED, "lint", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "POLICYKIT_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)
    return int(done.stderr.splitlines()[-1])


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is asked")
@pytest.mark.parametrize("shape", LARGE)
def test_memory(shape: str, tmp_path: Path) -> None:
    make, most = LARGE[shape]
    text = make()
    (tmp_path / "a.yaml").write_text(text)
    assert peak(tmp_path, "--no-cache") - SMALL < most * len(text) / 1000


def both_ways(text: str, monkeypatch: pytest.MonkeyPatch, policy: str | None = None) -> tuple[Report, Report]:
    """The reports if the text counts as large and if it does not."""
    found = []
    for least in (0, len(text)):
        monkeypatch.setattr(large_files, "_LARGE", least)
        setting = api.setting(profile(policy) if policy else None)
        workspace = api.workspace_of({"a.yaml": text.encode()}, setting)
        found.append(api.lint(workspace._replace(large_file_facts=PackedFacts), Options(workers=1)))
    return found[0], found[1]


def as_list(text: str) -> str:
    return HEAD + "".join(as_item(part) for part in text.split("---\n") if part.strip())


@pytest.mark.parametrize("policy", [None, "hybrid-volcano"], ids=["without a policy", "with one"])
def test_lists_have_the_same_findings(policy: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wrong, and what is right, according to the pages of all rules, each as a list."""
    lists = [as_list(text) for rule in rules() for text in (rule.bad, rule.good)]
    found = 0
    for text in lists:
        by_item, whole = both_ways(text, monkeypatch, policy)
        assert by_item == whole
        found += large_list(text) is not None and bool(by_item.findings)
    assert found > 200


def test_items_are_read_again_with_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """A problem of one item is one of the whole, of which nothing else is judged."""
    text = as_list(deployment(1) + "---\n" + deployment(1) + "spec: {}\n---\n" + deployment(2) + "x: [\n")
    by_item, whole = both_ways(text, monkeypatch)
    assert by_item == whole
    assert [finding.code for finding in by_item.findings] == ["PK001"]


def test_a_list_may_have_more_values_than_one_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsed_document, "MAX_VALUES", 60)
    by_item, whole = both_ways(as_list("---\n".join(map(deployment, range(4)))), monkeypatch)
    assert by_item.documents == 4
    assert not by_item.findings
    assert [finding.code for finding in whole.findings] == ["PK001"]
