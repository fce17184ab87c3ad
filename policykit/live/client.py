"""Reads from an API server: objects, and lists page by page. There is no way to write."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from policykit.live.errors import BusyError, ClusterError, ExpiredListError, failure, refusal, slow

if TYPE_CHECKING:
    from kubernetes.client import ApiClient

Object = dict[str, Any]

PAGE = 500
"""Objects of a page, as kubectl reads them."""
_CONNECT = 10.0
"""Seconds in which a connection must be there."""
_CHUNK = 1 << 16
_LARGEST = 256 << 20
"""Bytes of one answer: a page of the largest objects that etcd takes is smaller."""
_TRIES = 5
"""Of a request that the server wants repeated."""
_PATIENCE = 10.0
"""Most seconds to wait before such a repetition."""


class Client:
    """Reads one cluster."""

    def __init__(self, api: ApiClient, server: str, context: str, namespace: str, timeout: float) -> None:
        self._api = api
        self._timeout = timeout
        self.server = server
        """Its URL as it may be shown."""
        self.name = f"context {context}" if context else server
        self.namespace = namespace
        """The one to read; empty: all."""
        self.resources: dict[str, Mapping[str, Any]] = {}
        """What discovery has learned: apiVersions to their resources."""

    def get(self, path: str, what: str, query: Mapping[str, str] | None = None) -> Object:
        """The object at a path; `what`: its name in errors. Raises ClusterError."""
        for number in range(1, _TRIES + 1):
            try:
                return self._get(path, what, query or {})
            except BusyError as busy:
                if number == _TRIES:
                    raise
                time.sleep(min(busy.seconds, _PATIENCE))
        raise AssertionError  # the last try returns or raises

    def pages(self, path: str, what: str, query: Mapping[str, str] | None = None) -> Iterator[list[Object]]:
        """A list, page by page. Raises ClusterError.

        A server keeps the state of a list for some minutes. Where reading takes longer, the rest is read
        from its present state, so an object may have changed in between.
        """
        token = ""
        while True:
            asked = {**(query or {}), "limit": str(PAGE), **({"continue": token} if token else {})}
            try:
                page = self.get(path, what, asked)
            except ExpiredListError as expired:
                if not expired.token or expired.token == token:
                    raise
                token = expired.token
                continue
            items = page.get("items")
            yield [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
            metadata = page.get("metadata")
            token = metadata.get("continue") or "" if isinstance(metadata, dict) else ""
            if not token:
                return

    def close(self) -> None:
        """Closes its connections."""
        self._api.rest_client.pool_manager.clear()

    def _get(self, path: str, what: str, query: Mapping[str, str]) -> Object:
        status, kind, retry_after, body = self._read(path, what, query)
        if status != 200:
            raise refusal(self.server, what, status, body, retry_after)
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise ClusterError(
                f"{self.server} answers with {kind or 'something'} that is no JSON object",
                "check that the server of the context is an API server",
            )
        return found

    def _read(self, path: str, what: str, query: Mapping[str, str]) -> tuple[int, str, str, bytes]:
        """Status, type, Retry-After and bytes of an answer, within the time that it may take."""
        from urllib3.exceptions import HTTPError

        url = f"{self._api.configuration.host}{quote(path)}{'?' if query else ''}{urlencode(query)}"
        headers = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": "policykit"}
        until = time.monotonic() + self._timeout
        try:
            self._api.update_params_for_auth(headers, [], ["BearerToken"], path, "GET", None)
            timeout = (min(_CONNECT, self._timeout), self._timeout)
            answer = self._api.rest_client.request("GET", url, headers=headers, _request_timeout=timeout)
            raw = answer.response
            body = self._body(raw, what, until)
            return raw.status, raw.headers.get("Content-Type", ""), raw.headers.get("Retry-After", ""), body
        except (HTTPError, OSError) as error:
            raise failure(self.server, what, error) from None
        except self._client_errors() as error:
            raise failure(self.server, what, error) from None

    def _body(self, raw: Any, what: str, until: float) -> bytes:
        """Piece by piece: a server that sends a byte now and then must not hold the run for ever."""
        pieces: list[bytes] = []
        size = 0
        while piece := raw.read1(_CHUNK):
            pieces.append(piece)
            size += len(piece)
            if size > _LARGEST:
                raw.close()
                raise ClusterError(
                    f"{what}: an answer of more than {_LARGEST >> 20} MiB", "read one namespace"
                )
            if time.monotonic() > until:
                raw.close()
                raise slow(self.server, what)
        raw.release_conn()
        return b"".join(pieces)

    def _client_errors(self) -> tuple[type[Exception], ...]:
        from kubernetes.client.exceptions import ApiException

        return (ApiException,)
