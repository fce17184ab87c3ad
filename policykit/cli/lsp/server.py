"""The server: it keeps what was found of each open text, and tells it as the text changes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from threading import Thread
from typing import NamedTuple, Protocol
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from policykit import __version__
from policykit.cli.lsp import diagnostics, protocol
from policykit.cli.lsp.diagnostics import TextDiagnostics
from policykit.linter.finding import Finding
from policykit.rules import CATALOGUE, rule
from policykit.workspace.cache.folder import NO_CACHE, Cache
from policykit.workspace.policies import FILE_NAME

_PAUSE = 0.3
"""Seconds without a change of the policy before other texts are looked at with it."""
_LARGE = 1_000_000
"""Characters beyond which a text is linted when it is opened and saved, not while it is typed."""


class Lint(Protocol):
    """What finds the findings of a text: see `diagnostics.lint`."""

    def __call__(
        self, path: str, texts: Mapping[str, str], *, whole: bool, reference: str, cache: Cache
    ) -> TextDiagnostics: ...


class _Document(NamedTuple):
    """A text and what was found of it."""

    uri: str
    text: str
    version: int
    findings: tuple[Finding, ...] = ()
    policy: frozenset[str] = frozenset()
    """Files that its policy is made of."""


class _LintRequest(NamedTuple):
    """A text that is to be linted."""

    whole: bool
    """With its scope."""
    again: bool
    """The text is as it was; while its policy has mistakes, what was told of it stays."""


class Documents:
    """The open texts of an editor. A change is judged by its file alone, a saved text with its scope.

    With a policy, or what it extends, every text is looked at again that it governs. Texts are linted
    one after another in a thread, so that the editor is answered meanwhile; of a text that has changed
    since, nothing is told.
    """

    def __init__(
        self, server: LanguageServer, reference: str, cache: Cache, lint: Lint = diagnostics.lint
    ) -> None:
        self._server = server
        self._lint = lint
        self._turns: dict[str, _LintRequest] = {}
        """Texts to lint, by their paths."""
        self._work: asyncio.Task[None] | None = None
        self._reference = reference
        self._cache = cache
        self._open: dict[str, _Document] = {}
        self._waiting: set[str] = set()
        """Texts to look at again after a pause."""
        self._timer: asyncio.TimerHandle | None = None

    def changed(self, uri: str, text: str, version: int) -> None:
        """A text that is new, or has changed."""
        path = _path(uri)
        before = self._open.get(path)
        self._open[path] = _Document(uri, text, version, policy=before.policy if before else frozenset())
        if before is None or len(text) <= _LARGE:
            self._ask(path, whole=before is None)
        elif len(before.text) <= _LARGE:
            said = f"{path}: more than {_LARGE} characters: linted when it is opened and saved"
            self._log(types.MessageType.Info, said)
        self._later(self._governed(path))

    def saved(self, uri: str) -> None:
        """A text that stands on the disk now."""
        path = _path(uri)
        for each in sorted({path, *self._governed(path)} & self._open.keys()):
            self._ask(each, whole=True)

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
        """Everything that waits."""
        for path in sorted(self._waiting & self._open.keys()):
            self._ask(path, whole=False, again=True)
        self._waiting.clear()
        self._timer = None

    def _ask(self, path: str, *, whole: bool, again: bool = False) -> None:
        """Has a text linted once the thread is free."""
        before = self._turns.get(path, _LintRequest(whole, again))
        self._turns[path] = _LintRequest(whole or before.whole, again and before.again)
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
        if self._turns and not work.cancelled():
            self._begin()

    async def _lint_all(self) -> None:
        """Lints what is asked for; texts that changed come before those that are looked at again."""
        while self._turns:
            path = min(self._turns, key=lambda path: self._turns[path].again)
            turn = self._turns.pop(path)
            if path in self._open:
                await self._lint_one(path, turn)

    async def _lint_one(self, path: str, turn: _LintRequest) -> None:
        asked = self._open[path]
        texts = {name: each.text for name, each in self._open.items()}
        work = partial(
            self._lint, path, texts, whole=turn.whole, reference=self._reference, cache=self._cache
        )
        told = await asyncio.wrap_future(_in_a_thread(work))
        now = self._open.get(path)
        if now is None:
            return
        if now.text is asked.text and now.version == asked.version:
            self._tell(path, told, again=turn.again)
        elif path in self._turns:
            self._turns[path] = self._turns[path]._replace(whole=turn.whole or self._turns[path].whole)

    def _tell(self, path: str, told: TextDiagnostics, *, again: bool) -> None:
        self._open[path] = one = self._open[path]._replace(policy=told.policy)
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
                self._log(types.MessageType.Error, str(failure))
        self._publish(one.uri, diagnostics, one.version)

    def _log(self, kind: types.MessageType, message: str) -> None:
        self._server.window_log_message(types.LogMessageParams(kind, message))

    def _publish(self, uri: str, diagnostics: list[types.Diagnostic], version: int | None = None) -> None:
        stated = version if protocol.knows_versions(self._server.client_capabilities) else None
        params = types.PublishDiagnosticsParams(uri, diagnostics, stated)
        self._server.text_document_publish_diagnostics(params)


def _in_a_thread(work: Callable[[], TextDiagnostics]) -> Future[TextDiagnostics]:
    """Of a thread that ends with the process: the editor may leave while a text is linted."""
    told: Future[TextDiagnostics] = Future()
    told.set_running_or_notify_cancel()

    def answer() -> None:
        try:
            told.set_result(work())
        except BaseException as error:
            told.set_exception(error)

    # The thread has the permissions of the command only in a copy of its context.
    Thread(target=copy_context().run, args=(answer,), name="lint", daemon=True).start()
    return told


def serve(reference: str, cache: Cache) -> None:
    """Speaks on standard input and output until the editor leaves."""
    made(reference, cache).start_io()


def made(reference: str, cache: Cache = NO_CACHE, lint: Lint = diagnostics.lint) -> LanguageServer:
    """The server with everything it answers."""
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
    """The file of a URI, absolute; a text that was never saved has a name of its own."""
    parts = urlsplit(uri)
    if parts.scheme == "file":
        return os.path.abspath(url2pathname(unquote(parts.path)))
    return os.path.abspath(unquote(parts.path) or "untitled")
