"""The server: it keeps what was found of each open text, and tells it as the text changes."""

from __future__ import annotations

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
from policykit.sources.policies import FILE_NAME


class _Open(NamedTuple):
    """A text and what was found of it."""

    uri: str
    text: str
    findings: tuple[Finding, ...] = ()


class Documents:
    """The open texts of an editor. A change is judged by its file alone, a saved text with its scope."""

    def __init__(self, server: LanguageServer, reference: str) -> None:
        self._server = server
        self._reference = reference
        self._open: dict[str, _Open] = {}

    def changed(self, uri: str, text: str) -> None:
        """A text that is new, or has changed."""
        path = _path(uri)
        new = path not in self._open
        self._open[path] = _Open(uri, text)
        self._tell(path, whole=new)

    def saved(self, uri: str) -> None:
        """A text that stands on the disk now: with a policy every other text is looked at again."""
        path = _path(uri)
        everything = os.path.basename(path) == FILE_NAME
        for each in sorted(self._open) if everything else [path]:
            if each in self._open:
                self._tell(each, whole=True)

    def closed(self, uri: str) -> None:
        """A text that the editor shows no more: nothing is told of it."""
        self._open.pop(_path(uri), None)
        self._publish(uri, [])

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

    def _tell(self, path: str, *, whole: bool) -> None:
        one = self._open[path]
        texts = {name: each.text for name, each in self._open.items()}
        told = buffers.lint(path, texts, whole=whole, reference=self._reference)
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
        self._publish(one.uri, diagnostics)

    def _publish(self, uri: str, diagnostics: list[types.Diagnostic]) -> None:
        self._server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics))


def serve(reference: str) -> None:
    """Speaks on standard input and output until the editor leaves."""
    made(reference).start_io()


def made(reference: str) -> LanguageServer:
    """The server with everything it answers."""
    server = LanguageServer("policykit", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full)
    documents = Documents(server, reference)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        documents.changed(params.text_document.uri, params.text_document.text)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        documents.changed(uri, server.workspace.get_text_document(uri).source)

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
