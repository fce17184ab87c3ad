"""An editor that speaks to the language server over its protocol, in another process."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import Process
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from tests.shared import ROOT

T = TypeVar("T")
UNABLE = types.ClientCapabilities()

QUOTA = """\
# 配额 for a team
apiVersion: v1
kind: ResourceQuota
metadata: {name: team}
spec:
  hard: {"limits.nvidia.com/gpu": "8"}
"""
POLICY = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: test}
lint: {ignore: [PK206]}
"""


class Client(LanguageClient):
    """A client that tells when the server is gone."""

    def __init__(self, gone: Callable[[str], None]) -> None:
        super().__init__("editor", "1")
        self._gone = gone

    async def server_exit(self, server: Process) -> None:
        result = await server.stderr.read() if server.stderr else b""
        self._gone(f"the server ended with {server.returncode}:\n{result.decode()}")

    async def end(self) -> None:
        """Whatever happened before: there is no server afterwards."""
        if self._server and self._server.returncode is None:
            self._server.kill()
        await self.stop()  # type: ignore[no-untyped-call]


class Editor:
    """A client and what the server has told it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.client = Client(self._end)
        self.told: dict[str, list[types.Diagnostic]] = {}
        self.versions: list[tuple[str, int | None]] = []
        """File and version of all that was told."""
        self.logged: list[str] = []
        self._gone = ""
        """Why there will be no more news."""
        self._news = asyncio.Event()

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
        def publish(params: types.PublishDiagnosticsParams) -> None:
            name = params.uri.removeprefix(f"{folder.as_uri()}/")
            self.told[name] = list(params.diagnostics)
            self.versions.append((name, params.version))
            self._news.set()

        @self.client.feature(types.WINDOW_LOG_MESSAGE)  # type: ignore[untyped-decorator]
        def log(params: types.LogMessageParams) -> None:
            self.logged.append(params.message)

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    async def start(self, *words: str, able: types.ClientCapabilities = UNABLE) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        await self.client.start_io(sys.executable, "-m", "policykit", "lsp", *words, env=environment)
        params = types.InitializeParams(able, root_uri=self.folder.as_uri())
        self.offered = await self.client.initialize_async(params)
        self.client.initialized(types.InitializedParams())

    async def open(self, name: str, text: str, waits_for: str = "") -> list[types.Diagnostic]:
        item = types.TextDocumentItem(self.uri(name), "yaml", 1, text)
        params = types.DidOpenTextDocumentParams(item)
        return await self._after(waits_for or name, lambda: self.client.text_document_did_open(params))

    async def change(self, name: str, text: str, version: int, waits_for: str = "") -> list[types.Diagnostic]:
        return await self._after(waits_for or name, lambda: self.type(name, text, version))

    def type(self, name: str, text: str, version: int) -> None:
        """A change whose effect is not awaited."""
        params = types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(version, self.uri(name)),
            [types.TextDocumentContentChangeWholeDocument(text)],
        )
        self.client.text_document_did_change(params)

    async def save(self, name: str, waits_for: str) -> list[types.Diagnostic]:
        params = types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(self.uri(name)))
        return await self._after(waits_for, lambda: self.client.text_document_did_save(params))

    def close(self, name: str) -> None:
        document = types.TextDocumentIdentifier(self.uri(name))
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(document))

    async def shows(self, name: str, *codes: str) -> None:
        """Waits until this is what is told of a file."""
        while [one.code for one in self.told[name]] != list(codes):
            await self._new()

    async def _after(self, name: str, act: Callable[[], None]) -> list[types.Diagnostic]:
        self.told.pop(name, None)
        act()
        while name not in self.told:
            await self._new()
        return self.told[name]

    async def _new(self) -> None:
        """Waits for news, which there will be as long as there is a server."""
        self._news.clear()
        assert not self._gone, self._gone
        await self._news.wait()

    def _end(self, why: str) -> None:
        self._gone = why
        self._news.set()

    async def stop(self) -> None:
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()  # type: ignore[no-untyped-call]


def spoken(
    folder: Path,
    what: Callable[[Editor], Awaitable[T]],
    *words: str,
    able: types.ClientCapabilities = UNABLE,
) -> T:
    """A conversation from the first to the last word."""

    async def whole() -> T:
        editor = Editor(folder)
        try:
            await editor.start(*words, able=able)
            result = await what(editor)
            await editor.stop()
            return result
        finally:
            await editor.client.end()

    return asyncio.run(whole())
