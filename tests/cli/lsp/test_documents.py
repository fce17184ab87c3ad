"""Texts are linted in a thread: the editor is answered meanwhile, and only the newest text counts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from queue import SimpleQueue
from typing import Any, cast

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from policykit.cli.lsp import diagnostics, server
from policykit.cli.lsp.diagnostics import TextDiagnostics
from policykit.cli.lsp.server import Documents
from policykit.workspace import safe_paths
from policykit.workspace.cache.folder import NO_CACHE, Cache
from policykit.workspace.command_state import permissions
from tests.cli.lsp.client import QUOTA


class Client:
    """What an editor is told."""

    def __init__(self) -> None:
        self.told: asyncio.Queue[tuple[str, int | None, int]] = asyncio.Queue()
        """File, version and number of diagnostics."""
        self.logged: list[str] = []
        publishing = types.PublishDiagnosticsClientCapabilities(version_support=True)
        document = types.TextDocumentClientCapabilities(publish_diagnostics=publishing)
        self.client_capabilities = types.ClientCapabilities(text_document=document)

    def text_document_publish_diagnostics(self, params: types.PublishDiagnosticsParams) -> None:
        self.told.put_nowait((Path(params.uri).name, params.version, len(params.diagnostics)))

    def window_log_message(self, params: types.LogMessageParams) -> None:
        self.logged.append(params.message)


class Gate:
    """Lints as the server does, each time once it is let."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.asked: asyncio.Queue[tuple[str, bool]] = asyncio.Queue()
        """File, and whether with its scope."""
        self.let: SimpleQueue[None] = SimpleQueue()

    def __call__(
        self, path: str, texts: Mapping[str, str], *, whole: bool, reference: str, cache: Cache
    ) -> TextDiagnostics:
        self.loop.call_soon_threadsafe(self.asked.put_nowait, (Path(path).name, whole))
        self.let.get()
        return diagnostics.lint(path, texts, whole=whole, reference=reference, cache=cache)


def documents(client: Client, gate: Gate) -> Documents:
    return Documents(cast(LanguageServer, cast(Any, client)), "", NO_CACHE, gate)


def test_the_editor_is_answered_while_a_text_is_linted(tmp_path: Path) -> None:
    one, two = ((tmp_path / name).as_uri() for name in ("one.yaml", "two.yaml"))

    async def talk() -> None:
        client, gate = Client(), Gate()
        open_ = documents(client, gate)
        open_.changed(one, QUOTA, 1)
        assert await gate.asked.get() == ("one.yaml", True)
        assert open_.hover(one, types.Position(5, 12)) is None
        open_.changed(two, QUOTA, 1)
        open_.closed(two)
        assert await client.told.get() == ("two.yaml", None, 0)
        gate.let.put(None)
        assert await client.told.get() == ("one.yaml", 1, 1)
        assert open_.hover(one, types.Position(5, 12)) is not None

    asyncio.run(talk())


def test_only_the_newest_text_counts(tmp_path: Path) -> None:
    uri = (tmp_path / "one.yaml").as_uri()

    async def talk() -> None:
        client, gate = Client(), Gate()
        open_ = documents(client, gate)
        open_.changed(uri, QUOTA, 1)
        assert await gate.asked.get() == ("one.yaml", True)
        for version in range(2, 9):
            open_.changed(uri, QUOTA + "#\n" * version, version)
        gate.let.put(None)
        assert await gate.asked.get() == ("one.yaml", True)  # its scope was never looked at
        gate.let.put(None)
        assert await client.told.get() == ("one.yaml", 8, 1)
        assert gate.asked.empty()
        assert client.told.empty()

    asyncio.run(talk())


def test_a_large_text_is_not_linted_while_it_is_typed(tmp_path: Path) -> None:
    path = tmp_path / "one.yaml"
    large = QUOTA + "#" * server._LARGE

    async def talk() -> None:
        client, gate = Client(), Gate()
        open_ = documents(client, gate)
        gate.let.put(None)
        open_.changed(path.as_uri(), QUOTA, 1)
        assert await client.told.get() == ("one.yaml", 1, 1)
        for version in (2, 3):
            open_.changed(path.as_uri(), large, version)
        message = f"{path}: more than 1000000 characters: linted only when it is opened or saved"
        assert client.logged == [message]
        gate.let.put(None)
        open_.saved(path.as_uri())
        assert await client.told.get() == ("one.yaml", 3, 1)

    asyncio.run(talk())


def test_a_failure_is_logged_and_the_next_text_is_linted(tmp_path: Path) -> None:
    uri = (tmp_path / "one.yaml").as_uri()
    failing = [True]

    def lint(
        path: str, texts: Mapping[str, str], *, whole: bool, reference: str, cache: Cache
    ) -> TextDiagnostics:
        if failing.pop():
            raise ValueError("no")
        return TextDiagnostics()

    async def talk() -> None:
        client = Client()
        open_ = Documents(cast(LanguageServer, cast(Any, client)), "", NO_CACHE, lint)
        open_.changed(uri, QUOTA, 1)
        failing.insert(0, False)
        open_.changed((tmp_path / "two.yaml").as_uri(), QUOTA, 1)
        assert await client.told.get() == ("two.yaml", 1, 0)
        assert client.logged == ["ValueError: no"]

    asyncio.run(talk())


def test_the_thread_has_the_permissions_of_the_command(tmp_path: Path) -> None:
    safe_paths.begin([str(tmp_path)])
    seen: list[tuple[str, ...]] = []

    def lint() -> TextDiagnostics:
        seen.append(permissions().allowed)
        return TextDiagnostics()

    server._in_thread(lint).result(timeout=30)
    safe_paths.begin()
    assert seen == [(str(tmp_path.resolve()),)]
