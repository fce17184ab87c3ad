"""The language server over its protocol: another process, spoken to as an editor does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from lsprotocol import types

from policykit import __version__
from tests.cli.lsp.client import POLICY, QUOTA, UNABLE, Editor, spoken
from tests.processes import started
from tests.shared import ROOT


def test_what_the_server_offers(tmp_path: Path) -> None:
    async def talk(editor: Editor) -> types.InitializeResult:
        return editor.offered

    offered = spoken(tmp_path, talk)
    assert offered.server_info == types.ServerInfo("policykit", __version__)
    assert offered.capabilities.hover_provider
    assert isinstance(offered.capabilities.code_action_provider, types.CodeActionOptions)


def test_without_pygls(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['pygls'] = None; sys.argv = ['policykit', 'lsp']\n"
        "from policykit.__main__ import main; sys.exit(main())"
    )
    command = [sys.executable, "-c", program]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "policykit: the language server needs pygls\n"
        "  help: install policykit-k8s[lsp] from the source you use, or pygls into this environment\n"
    )


def test_findings_as_the_text_changes(tmp_path: Path) -> None:
    async def talk(editor: Editor) -> None:
        (one,) = await editor.open("quota.yaml", QUOTA)
        assert (one.code, one.source, one.severity) == ("PK206", "policykit", types.DiagnosticSeverity.Error)
        assert one.range == types.Range(types.Position(5, 9), types.Position(5, 32))
        assert one.message.startswith("limits.nvidia.com/gpu is accepted but never counted")
        assert await editor.change("quota.yaml", QUOTA.replace("limits.", "requests."), 2) == []
        (broken,) = await editor.change("quota.yaml", "a: [", 3)
        assert broken.code == "PK001"

    spoken(tmp_path, talk)


def test_columns_count_as_the_protocol_does(tmp_path: Path) -> None:
    text = QUOTA.replace('{"limits', '{"x.example.com/𝒜节": "1", "limits')

    async def talk(editor: Editor) -> None:
        found = await editor.open("quota.yaml", text)
        place = next(one.range for one in found if one.message.startswith("limits.nvidia.com"))
        line = text.splitlines()[5].encode("utf-16-le")
        shown = line[place.start.character * 2 : place.end.character * 2].decode("utf-16-le")
        assert shown == '"limits.nvidia.com/gpu"'

    spoken(tmp_path, talk)


def test_the_page_of_a_rule_on_hover(tmp_path: Path) -> None:
    async def talk(editor: Editor) -> None:
        await editor.open("quota.yaml", QUOTA)
        document = types.TextDocumentIdentifier(editor.uri("quota.yaml"))
        found = await editor.client.text_document_hover_async(
            types.HoverParams(document, types.Position(5, 12))
        )
        assert found is not None
        assert isinstance(found.contents, types.MarkupContent)
        assert found.contents.value.startswith("**PK206 quota-key-never-counted**\n\nA ResourceQuota limits")
        elsewhere = types.HoverParams(document, types.Position(1, 1))
        assert await editor.client.text_document_hover_async(elsewhere) is None

    spoken(tmp_path, talk)


def test_a_quick_fix_makes_what_lint_would(tmp_path: Path) -> None:
    async def talk(editor: Editor) -> None:
        await editor.open("quota.yaml", QUOTA)
        document = types.TextDocumentIdentifier(editor.uri("quota.yaml"))
        place = types.Range(types.Position(5, 10), types.Position(5, 10))
        context = types.CodeActionContext([])
        found = await editor.client.text_document_code_action_async(
            types.CodeActionParams(document, place, context)
        )
        assert found is not None
        (action,) = found
        assert isinstance(action, types.CodeAction)
        assert action.title == "PK206: rename limits.nvidia.com/gpu to requests.nvidia.com/gpu (unsafe)"
        assert action.is_preferred is False
        assert action.edit is not None
        assert action.edit.changes is not None
        edits = action.edit.changes[editor.uri("quota.yaml")]
        assert applied(QUOTA, edits) == QUOTA.replace("limits.", "requests.")

    spoken(tmp_path, talk)


def applied(text: str, edits: object) -> str:
    """The text with edits made, as an editor makes them; the lines here are plain ASCII."""
    lines = text.split("\n")
    assert isinstance(edits, (list, tuple))
    for edit in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character), reverse=True):
        line = lines[edit.range.start.line]
        assert edit.range.start.line == edit.range.end.line
        lines[edit.range.start.line] = (
            line[: edit.range.start.character] + edit.new_text + line[edit.range.end.character :]
        )
    return "\n".join(lines)


def test_a_saved_policy_is_read_again(tmp_path: Path) -> None:
    async def talk(editor: Editor) -> None:
        assert len(await editor.open("quota.yaml", QUOTA)) == 1
        (tmp_path / "policykit.yaml").write_text(POLICY, encoding="utf-8")
        assert await editor.open("policykit.yaml", POLICY) == []
        assert await editor.save("policykit.yaml", "quota.yaml") == []

    spoken(tmp_path, talk)


def test_a_mistake_of_the_policy_stands_in_its_own_text(tmp_path: Path) -> None:
    wrong = POLICY.replace("lint:", "lnit:")
    (tmp_path / "policykit.yaml").write_text(wrong, encoding="utf-8")

    async def talk(editor: Editor) -> None:
        (one,) = await editor.open("policykit.yaml", wrong)
        assert one.range.start == types.Position(3, 0)
        assert "lnit" in one.message
        assert len(await editor.open("quota.yaml", QUOTA)) == 1
        assert "lnit" in editor.logged[-1]

    spoken(tmp_path, talk)


def test_another_file_of_the_scope(tmp_path: Path) -> None:
    pod = """\
apiVersion: v1
kind: Pod
metadata: {name: a, annotations: {scheduling.k8s.io/group-name: train}}
spec: {schedulerName: volcano, containers: [{name: main, image: "registry.example/a:1"}]}
"""
    group = (
        "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\n"
        "metadata: {name: train}\nspec: {minMember: 1}\n"
    )
    (tmp_path / "group.yaml").write_text(group, encoding="utf-8")

    async def talk(editor: Editor) -> None:
        codes = [one.code for one in await editor.open("pod.yaml", pod)]
        assert "PK306" not in codes
        await editor.open("group.yaml", group.replace("train", "other"))
        found = await editor.save("pod.yaml", "pod.yaml")
        assert "PK306" in [one.code for one in found]

    spoken(tmp_path, talk)


def test_what_is_wrong_with_a_policy_itself(tmp_path: Path) -> None:
    unused = POLICY + "cards: {h20: {product: NVIDIA-H20}}\npools: {cpu: {nodes: 2}}\n"
    (tmp_path / "policykit.yaml").write_text(unused, encoding="utf-8")

    async def talk(editor: Editor) -> None:
        (one,) = await editor.open("policykit.yaml", unused)
        assert (one.code, one.severity) == ("PK908", types.DiagnosticSeverity.Information)
        assert one.range.start.line == 4

    spoken(tmp_path, talk)


@pytest.mark.parametrize(
    ("able", "versions"),
    [
        (UNABLE, [None, None, None]),
        (
            types.ClientCapabilities(
                text_document=types.TextDocumentClientCapabilities(
                    publish_diagnostics=types.PublishDiagnosticsClientCapabilities(version_support=True)
                )
            ),
            [1, 7, 7],
        ),
    ],
    ids=["not asked for", "asked for"],
)
def test_the_version_that_was_looked_at(
    tmp_path: Path, able: types.ClientCapabilities, versions: list[int | None]
) -> None:
    async def talk(editor: Editor) -> None:
        await editor.open("quota.yaml", QUOTA)
        await editor.change("quota.yaml", QUOTA + "\n", 7)
        await editor.save("quota.yaml", "quota.yaml")
        assert editor.versions == [("quota.yaml", version) for version in versions]

    spoken(tmp_path, talk, able=able)


_LINTS_FOR_EVER = """\
import sys, threading
from policykit.cli.lsp.server import language_server

def lint(path, texts, **_):
    print("linting", file=sys.stderr, flush=True)
    threading.Event().wait()

language_server("", lint=lint).start_io()
"""


def test_the_editor_leaves_while_a_text_is_linted(tmp_path: Path) -> None:
    text = {"uri": (tmp_path / "a.yaml").as_uri(), "languageId": "yaml", "version": 1, "text": QUOTA}

    def say(method: str, number: int | None = None, **params: object) -> None:
        result = {"jsonrpc": "2.0", "method": method, "params": params}
        message = json.dumps(result if number is None else {**result, "id": number})
        assert process.stdin
        process.stdin.write(f"Content-Length: {len(message)}\r\n\r\n{message}")
        process.stdin.flush()

    command = [sys.executable, "-c", _LINTS_FOR_EVER]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with started(command, cwd=tmp_path, env=environment, stdin=subprocess.PIPE) as process:
        say("initialize", 1, processId=None, rootUri=None, capabilities={})
        say("textDocument/didOpen", textDocument=text)
        assert process.stderr
        assert process.stderr.readline() == "linting\n"
        say("shutdown", 2)
        say("exit")
        assert process.wait() == 0
