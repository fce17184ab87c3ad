"""The server: it keeps what was found of each open text, and tells it as the text changes."""

from __future__ import annotations

import asyncio
import os
from typing import NamedTuple
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from policykit import __version__
from policykit.cli.editor import buffers, protocol
from policykit.linter.finding import Finding
from policykit.rules import CATALOGUE, rule
from policykit.workspace.cache.folder import NO_CACHE, Cache
from policykit.workspace.policies import FILE_NAME

_PAUSE = 0.3
"""Seconds without a change of the policy before other texts are looked at with it."""


class _Open(NamedTuple):
    """A text and what was found of it."""

    uri: str
    text: str
    version: int
    findings: tuple[Finding, ...] = ()
    policy: frozenset[str] = frozenset()
    """Files that its policy is made of."""


class Documents:
    """The open texts of an editor. A change is judged by its file alone, a saved text with its scope.

    With a policy, or what it extends, every text is looked at again that it governs.
    """

    def __init__(self, server: LanguageServer, reference: str, cache: Cache) -> None:
        self._server = server
        self._reference = reference
        self._cache = cache
        self._open: dict[str, _Open] = {}
        self._waiting: set[str] = set()
        """Texts to look at again after a pause."""
        self._timer: asyncio.TimerHandle | None = None

    def changed(self, uri: str, text: str, version: int) -> None:
        """A text that is new, or has changed."""
        path = _path(uri)
        new = path not in self._open
        self._open[path] = _Open(uri, text, version)
        self._tell(path, whole=new)
        self._later(self._governed(path))

    def saved(self, uri: str) -> None:
        """A text that stands on the disk now."""
        path = _path(uri)
        for each in sorted({path, *self._governed(path)} & self._open.keys()):
            self._tell(each, whole=True)

    def closed(self, uri: str) -> None:
        """A text that the editor shows no more: nothing is told of it, and its file counts again."""
        path = _path(uri)
        self._open.pop(path, None)
        self._publish(uri, [])
        self._later(self._governed(path))

    def hover(self, uri: str, position: types.Position) -> types.Hover | None:
        """The pages of the rules that speak at a place."""
        one = self._open.get(_path(uri))
        if one is None:
            return None
        text = protocol.Text(one.text)
        codes = {f.code for f in one.findings if protocol.covers(text.range(f), position)}
        pages = [rule(entry) for entry in CATALOGUE if entry.code in codes]
        if not pages:
            return None
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, protocol.page(pages)))

    def actions(self, uri: str, place: types.Range) -> list[types.CodeAction]:
        """The fixes of what stands in a range."""
        one = self._open.get(_path(uri))
        if one is None:
            return []
        text = protocol.Text(one.text)
        here = [finding for finding in one.findings if protocol.meet(text.range(finding), place)]
        return protocol.actions(uri, here, text)

    def _governed(self, path: str) -> set[str]:
        """The other texts that a file has a say in, as a policy or as a part of one."""
        everything = os.path.basename(path) == FILE_NAME
        return {name for name, one in self._open.items() if everything or path in one.policy} - {path}

    def _later(self, paths: set[str]) -> None:
        """Looks at texts again once nothing more has come for a while."""
        self._waiting |= paths
        if paths:
            if self._timer:
                self._timer.cancel()
            self._timer = asyncio.get_running_loop().call_later(_PAUSE, self._next)

    def _next(self) -> None:
        """One of the texts that wait: between two the editor is heard."""
        path = min(self._waiting)
        self._waiting.remove(path)
        if path in self._open:
            self._tell(path, whole=False, again=True)
        self._timer = asyncio.get_running_loop().call_later(0, self._next) if self._waiting else None

    def _tell(self, path: str, *, whole: bool, again: bool = False) -> None:
        """`again`: the text is as it was; while its policy has mistakes, what was told of it stays."""
        one = self._open[path]
        texts = {name: each.text for name, each in self._open.items()}
        told = buffers.lint(path, texts, whole=whole, reference=self._reference, cache=self._cache)
        self._open[path] = one = one._replace(policy=told.policy)
        if again and told.failures:
            return
        text = protocol.Text(one.text)
        self._open[path] = one._replace(findings=told.findings)
        diagnostics = [protocol.diagnostic(finding, text) for finding in told.findings]
        for failure in told.failures:
            said_of = os.path.abspath(failure.place.rsplit(":", 2)[0]) if failure.place else ""
            if said_of == path:
                diagnostics.append(protocol.mistake(failure, text))
            else:
                message = types.LogMessageParams(types.MessageType.Error, str(failure))
                self._server.window_log_message(message)
        self._publish(one.uri, diagnostics, one.version)

    def _publish(self, uri: str, diagnostics: list[types.Diagnostic], version: int | None = None) -> None:
        stated = version if protocol.knows_versions(self._server.client_capabilities) else None
        params = types.PublishDiagnosticsParams(uri, diagnostics, stated)
        self._server.text_document_publish_diagnostics(params)


def serve(reference: str, cache: Cache) -> None:
    """Speaks on standard input and output until the editor leaves."""
    made(reference, cache).start_io()


def made(reference: str, cache: Cache = NO_CACHE) -> LanguageServer:
    """The server with everything it answers."""
    server = LanguageServer("policykit", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full)
    documents = Documents(server, reference, cache)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        documents.changed(document.uri, document.text, document.version)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        uri, version = params.text_document.uri, params.text_document.version
        documents.changed(uri, server.workspace.get_text_document(uri).source, version)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        documents.saved(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        documents.closed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        return documents.hover(params.text_document.uri, params.position)

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(list(_KINDS)))
    def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        return documents.actions(params.text_document.uri, params.range)

    return server


_KINDS: tuple[types.CodeActionKind, ...] = (types.CodeActionKind.QuickFix,)


def _path(uri: str) -> str:
    """The file of a URI, absolute; a text that was never saved has a name of its own."""
    parts = urlsplit(uri)
    if parts.scheme == "file":
        return os.path.abspath(url2pathname(unquote(parts.path)))
    return os.path.abspath(unquote(parts.path) or "untitled")
