"""The language server: lints open texts as they change, and publishes their diagnostics."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from threading import Thread
from typing import Protocol
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from policykit import __version__
from policykit.cli.lsp import diagnostics, protocol
from policykit.cli.lsp.diagnostics import TextDiagnostics
from policykit.linter.finding import Finding
from policykit.namedtuple import NamedTuple
from policykit.rules import CATALOGUE, rule
from policykit.workspace.cache.folder import NO_CACHE, Cache
from policykit.workspace.policies import FILE_NAME

_PAUSE = 0.3
"""Seconds without a change of the policy before other texts are linted with it."""
_LARGE = 1_000_000
"""Characters above which a text is linted only when it is opened or saved."""


class Lint(Protocol):
    """The function that lints a text: see `diagnostics.lint`."""

    def __call__(
        self, path: str, texts: Mapping[str, str], *, whole: bool, reference: str, cache: Cache
    ) -> TextDiagnostics: ...


class _Document(NamedTuple):
    """An open text and its findings."""

    uri: str
    text: str
    version: int
    findings: tuple[Finding, ...] = ()
    policy: frozenset[str] = frozenset()
    """Files of its policy."""


class _LintRequest(NamedTuple):
    """How to lint a text that is queued."""

    whole: bool
    """Together with its scope."""
    again: bool
    """The text itself has not changed; if its policy has errors, its diagnostics are kept."""


class Documents:
    """The open texts of an editor. A changed text is linted by itself, a saved one with its scope.

    If a policy changes, or one it extends, all texts that it applies to are linted again. Texts are
    linted one after another in a thread, so that the server keeps responding; the result for a text
    that has changed meanwhile is discarded.
    """

    def __init__(
        self, server: LanguageServer, reference: str, cache: Cache, lint: Lint = diagnostics.lint
    ) -> None:
        self._server = server
        self._lint = lint
        self._pending: dict[str, _LintRequest] = {}
        """Texts to lint, by their paths."""
        self._work: asyncio.Task[None] | None = None
        self._reference = reference
        self._cache = cache
        self._open: dict[str, _Document] = {}
        self._waiting: set[str] = set()
        """Paths of texts to lint again after a pause."""
        self._timer: asyncio.TimerHandle | None = None

    def changed(self, uri: str, text: str, version: int) -> None:
        """A text was opened or has changed."""
        path = _path(uri)
        before = self._open.get(path)
        self._open[path] = _Document(uri, text, version, policy=before.policy if before else frozenset())
        if before is None or len(text) <= _LARGE:
            self._queue(path, whole=before is None)
        elif len(before.text) <= _LARGE:
            message = f"{path}: more than {_LARGE} characters: linted only when it is opened or saved"
            self._log(types.MessageType.Info, message)
        self._lint_after_pause(self._same_policy(path))

    def saved(self, uri: str) -> None:
        """A text was written to its file."""
        path = _path(uri)
        for each in sorted({path, *self._same_policy(path)} & self._open.keys()):
            self._queue(each, whole=True)

    def closed(self, uri: str) -> None:
        """A text was closed: its diagnostics are removed, and its file is read again instead."""
        path = _path(uri)
        self._open.pop(path, None)
        self._publish(uri, [])
        self._lint_after_pause(self._same_policy(path))

    def hover(self, uri: str, position: types.Position) -> types.Hover | None:
        """The documentation of the rules with findings at a position."""
        one = self._open.get(_path(uri))
        if one is None:
            return None
        text = protocol.Text(one.text)
        codes = {f.code for f in one.findings if protocol.covers(text.range(f), position)}
        pages = [rule(entry) for entry in CATALOGUE if entry.code in codes]
        if not pages:
            return None
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, protocol.documentation(pages)))

    def actions(self, uri: str, place: types.Range) -> list[types.CodeAction]:
        """The fixes of the findings in a range."""
        one = self._open.get(_path(uri))
        if one is None:
            return []
        text = protocol.Text(one.text)
        here = [finding for finding in one.findings if protocol.overlap(text.range(finding), place)]
        return protocol.actions(uri, here, text)

    def _same_policy(self, path: str) -> set[str]:
        """The other texts whose policy, or a part of it, is this file."""
        everything = os.path.basename(path) == FILE_NAME
        return {name for name, one in self._open.items() if everything or path in one.policy} - {path}

    def _lint_after_pause(self, paths: set[str]) -> None:
        """Lints texts again after a pause without changes."""
        self._waiting |= paths
        if paths:
            if self._timer:
                self._timer.cancel()
            self._timer = asyncio.get_running_loop().call_later(_PAUSE, self._pause_ended)

    def _pause_ended(self) -> None:
        """Lints everything that waits for the pause to end."""
        for path in sorted(self._waiting & self._open.keys()):
            self._queue(path, whole=False, again=True)
        self._waiting.clear()
        self._timer = None

    def _queue(self, path: str, *, whole: bool, again: bool = False) -> None:
        """Queues a text to be linted."""
        before = self._pending.get(path, _LintRequest(whole, again))
        self._pending[path] = _LintRequest(whole or before.whole, again and before.again)
        if self._work is None:
            self._begin()

    def _begin(self) -> None:
        self._work = asyncio.get_running_loop().create_task(self._lint_all())
        self._work.add_done_callback(self._ended)

    def _ended(self, work: asyncio.Task[None]) -> None:
        self._work = None
        error = None if work.cancelled() else work.exception()
        if error:
            self._log(types.MessageType.Error, f"{type(error).__name__}: {error}")
        if self._pending and not work.cancelled():
            self._begin()

    async def _lint_all(self) -> None:
        """Lints all queued texts; those that changed come before those that are linted again."""
        while self._pending:
            path = min(self._pending, key=lambda path: self._pending[path].again)
            request = self._pending.pop(path)
            if path in self._open:
                await self._lint_one(path, request)

    async def _lint_one(self, path: str, request: _LintRequest) -> None:
        document = self._open[path]
        texts = {name: each.text for name, each in self._open.items()}
        work = partial(
            self._lint, path, texts, whole=request.whole, reference=self._reference, cache=self._cache
        )
        result = await asyncio.wrap_future(_in_thread(work))
        now = self._open.get(path)
        if now is None:
            return
        if now.text is document.text and now.version == document.version:
            self._show(path, result, again=request.again)
        elif path in self._pending:
            self._pending[path] = self._pending[path]._replace(
                whole=request.whole or self._pending[path].whole
            )

    def _show(self, path: str, result: TextDiagnostics, *, again: bool) -> None:
        self._open[path] = one = self._open[path]._replace(policy=result.policy)
        if again and result.failures:
            return
        text = protocol.Text(one.text)
        self._open[path] = one._replace(findings=result.findings)
        diagnostics = [protocol.diagnostic(finding, text) for finding in result.findings]
        for failure in result.failures:
            file = os.path.abspath(failure.place.rsplit(":", 2)[0]) if failure.place else ""
            if file == path:
                diagnostics.append(protocol.policy_error(failure, text))
            else:
                self._log(types.MessageType.Error, str(failure))
        self._publish(one.uri, diagnostics, one.version)

    def _log(self, kind: types.MessageType, message: str) -> None:
        self._server.window_log_message(types.LogMessageParams(kind, message))

    def _publish(self, uri: str, diagnostics: list[types.Diagnostic], version: int | None = None) -> None:
        known = version if protocol.knows_versions(self._server.client_capabilities) else None
        params = types.PublishDiagnosticsParams(uri, diagnostics, known)
        self._server.text_document_publish_diagnostics(params)


def _in_thread(work: Callable[[], TextDiagnostics]) -> Future[TextDiagnostics]:
    """The result of a daemon thread, so that the server can exit while a text is linted."""
    result: Future[TextDiagnostics] = Future()
    result.set_running_or_notify_cancel()

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:
            result.set_exception(error)

    # The thread has the permissions of the command only in a copy of its context.
    Thread(target=copy_context().run, args=(run,), name="lint", daemon=True).start()
    return result


def serve(reference: str, cache: Cache) -> None:
    """Serves an editor on standard input and output until it exits."""
    language_server(reference, cache).start_io()


def language_server(reference: str, cache: Cache = NO_CACHE, lint: Lint = diagnostics.lint) -> LanguageServer:
    """A server with the handlers of all supported methods."""
    server = LanguageServer("policykit", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full)
    documents = Documents(server, reference, cache, lint)

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
    """The absolute path of a URI; a text that was never saved has a made-up name."""
    parts = urlsplit(uri)
    if parts.scheme == "file":
        return os.path.abspath(url2pathname(unquote(parts.path)))
    return os.path.abspath(unquote(parts.path) or "untitled")
