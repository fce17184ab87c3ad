"""`patch` as a post-renderer: on a rendered chart, and under real Helm 3 and 4."""

from __future__ import annotations

import difflib
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from policykit import api
from policykit.targets.workloads.patch_options import PatchOptions
from policykit.targets.workloads.stream import ManifestText, PatchedText, patch
from tests.cli.commands import process
from tests.clusters import profile
from tests.tools import policykit_on_path, tool

CHART = Path(__file__).parent / "chart"
POLICY = "profile:hybrid-volcano"
CHANGED = (
    "Job/rel-warm",
    "Deployment/rel-llm",
    "LeaderWorkerSet/rel-moe",
    "Job/rel-pretrain",
    "Job/rel-tune",
    "PyTorchJob/rel-ddp",
)
PLUGIN = """\
apiVersion: v1
type: postrenderer/v1
name: policykit
version: 0.1.0
runtime: subprocess
runtimeConfig:
  platformCommand:
    - command: policykit
      args: [patch]
"""
WEB = ("api", "front", "admin", "docs", "search", "mail", "auth", "cron")


@cache
def rendered() -> bytes:
    """The chart as `helm template rel` prints it: its templates are few enough to fill in here."""
    stream = ""
    for path in sorted((CHART / "templates").iterdir()):
        text = path.read_text(encoding="utf-8").replace("{{ .Release.Name }}", "rel")
        if path.name == "web.yaml":
            _, _, body = text.partition("}}\n")
            body = body.removesuffix("{{- end }}\n").replace('{{ "{{ .Title }}" }}', "{{ .Title }}")
            text = "".join(
                body.replace("{{ $.Release.Name }}", "rel").replace("{{ $name }}", name) for name in WEB
            )
            text = text.removeprefix("---\n")
        stream += f"---\n# Source: fleet/templates/{path.name}\n{text}"
    return stream.encode()


def patched(raw: bytes) -> PatchedText:
    return patch(ManifestText("<stdin>", raw, rendered=True), profile("hybrid-volcano"), PatchOptions())


def test_of_31_objects_the_recognised_ones_change() -> None:
    found = patched(rendered())
    assert len(found.objects) == 31
    assert found.changed == CHANGED
    assert found.notes == ()


def test_every_other_byte_stays() -> None:
    before, after = rendered().decode(), patched(rendered()).raw.decode()
    lost = [
        line[2:] for line in difflib.ndiff(before.splitlines(), after.splitlines()) if line.startswith("- ")
    ]
    # Two objects are written in flow style: what they lack is written into their lines.
    assert [line.split(":")[0].strip() for line in lost] == ["metadata", "spec"]
    kept = documents(after)
    for name, text in documents(before).items():
        if not any(one.endswith(f"/{name}") for one in CHANGED):
            assert kept[name] == text
    assert list(kept) == list(documents(before))


def documents(stream: str) -> dict[str, str]:
    """Name of the object to its text, for a stream whose names are unique but for web objects."""
    found: dict[str, str] = {}
    for text in stream.split("\n---\n"):
        data = yaml.safe_load(text)
        name = data["metadata"]["name"]
        found[name if name not in found else f"{data['kind']} {name}"] = text
    return found


def test_twice_is_once() -> None:
    once = patched(rendered()).raw
    again = patched(once)
    assert (again.raw, again.changed) == (once, ())


def test_no_finding_about_placement_is_left() -> None:
    cluster = profile("hybrid-volcano")
    before = api.lint_texts({"a.yaml": rendered()}, cluster, complete=False)
    after = api.lint_texts({"a.yaml": patched(rendered()).raw}, cluster, complete=False)
    assert {finding.code for finding in before.findings} == {"PK101", "PK303"}
    # What the chart does not say of gangs is for its authors to say.
    assert [(finding.code, str(finding.resource)) for finding in after.findings] == [
        ("PK303", "LeaderWorkerSet rel-moe")
    ]


def test_the_mark_of_newer_helms_stays() -> None:
    mark = "    postrenderer.helm.sh/postrender-filename: 'fleet/templates/x.yaml'\n"
    document = (
        "apiVersion: v1\nkind: Pod\nmetadata:\n  annotations:\n" + mark + "  name: a\n"
        "  labels: {policykit.io/workload: training}\nspec:\n  containers:\n"
        "  - {name: a, image: 'registry.example/a:1', resources: {limits: {nvidia.com/gpu: 1}}}\n"
    )
    after = patched(document.encode()).raw.decode()
    assert mark in after
    assert after.count("\n") > document.count("\n")


@pytest.mark.parametrize(
    "stream",
    [
        rendered() + b"---\na: b: c\n",
        rendered() + b"---\nkind: Pod\n\tname: x\n",
        rendered().replace(b"kind: Job", b"kind: [", 1),
        b"kind: \xff\n",
    ],
    ids=["mapping", "tab", "bracket", "not UTF-8"],
)
def test_broken_input_gives_nothing(stream: bytes, tmp_path: Path) -> None:
    said = process("patch", "-p", POLICY, cwd=tmp_path, stdin=stream)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("policykit: <stdin>:")


def test_an_empty_stream_comes_out_empty(tmp_path: Path) -> None:
    """Helm 4 may send hooks in a stream of their own."""
    said = process("patch", "-p", POLICY, cwd=tmp_path, stdin=b"")
    assert said == (0, "", "")


def by_name(stream: str) -> dict[tuple[str, str], Any]:
    found = (data for data in yaml.safe_load_all(stream) if data)
    return {(data["kind"], data["metadata"]["name"]): data for data in found}


@pytest.mark.parametrize("helm", ["helm3", "helm4"])
def test_real_helm(helm: str, tmp_path: Path) -> None:
    program = tool(helm)
    plugin = tmp_path / "plugins" / "policykit"
    plugin.mkdir(parents=True)
    (plugin / "plugin.yaml").write_text(PLUGIN)
    environment = {
        **os.environ,
        "PATH": policykit_on_path(tmp_path / "bin"),
        "HELM_PLUGINS": str(tmp_path / "plugins") if helm == "helm4" else str(tmp_path),
        "HELM_CACHE_HOME": str(tmp_path / "cache"),
        "HELM_CONFIG_HOME": str(tmp_path / "config"),
    }
    words = (["patch"] if helm == "helm3" else []) + ["-p", POLICY]
    arguments = [part for word in words for part in ("--post-renderer-args", word)]

    def template(*extra: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [program, "template", "rel", str(CHART), *extra],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )

    plain, done = template(), template("--post-renderer", "policykit", *arguments)
    assert (plain.returncode, done.returncode) == (0, 0), done.stderr
    assert by_name(plain.stdout) == by_name(rendered().decode())
    found, expected = by_name(done.stdout), by_name(patched(rendered()).raw.decode())
    if helm == "helm3":
        # Helm 3 (to 3.22) gives its post-renderer no hooks.
        expected["Job", "rel-warm"] = by_name(plain.stdout)["Job", "rel-warm"]
    assert found == expected
    failed = template("--post-renderer", "policykit", *arguments, "--post-renderer-args", "--card=none")
    assert failed.returncode != 0
    assert "kind:" not in failed.stdout
    if helm == "helm3":
        # Helm 4 keeps what a plugin says on standard error to itself.
        assert "the policy has no card 'none'" in failed.stderr
