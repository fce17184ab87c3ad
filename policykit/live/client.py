"""Reads from an API server, lists page by page, and reports its errors. There is no way to write."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

from policykit.errors import PolicykitError

if TYPE_CHECKING:
    from kubernetes.client import ApiClient

_LONGEST = 300
"""Most characters of a server's own message."""


class ClusterError(PolicykitError):
    """The API server cannot be reached, refuses the credentials, or breaks off its answer."""


class ForbiddenError(ClusterError):
    """The credentials do not allow reading something; the rest can still be read."""


class NotServedError(ClusterError):
    """The API server does not serve a path."""


class ExpiredListError(ClusterError):
    """A list takes longer to read than the server keeps its state."""

    def __init__(self, message: str, token: str) -> None:
        super().__init__(message)
        self.token = token
        """With which the server goes on from its present state; empty: the list must begin anew."""


class BusyError(ClusterError):
    """The API server asks for the request to be repeated later."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message, "the API server limits requests: try again later")
        self.seconds = seconds


def server_name(url: str) -> str:
    """The URL of a server as it may be shown: without user, password and query."""
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if parts.hostname and ":" in parts.hostname else parts.hostname or url
    try:
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        port = ""
    return f"{parts.scheme}://{host}{port}" if parts.scheme else host


def refusal(server: str, what: str, status: int, body: bytes, retry_after: str) -> ClusterError:
    """The error for an answer that is not the object: `what` was to be read."""
    message, token = _status(body)
    if status == 401:
        return ClusterError(
            f"{server} does not accept the credentials",
            "they may have expired: log in again, or name another --context",
        )
    if status == 403:
        return ForbiddenError(f"may not read {what}: {message}")
    if status == 404:
        return NotServedError(f"{what}: not found")
    if status == 410:
        return ExpiredListError(f"the list of {what} has expired", token)
    if status == 429:
        return BusyError(f"{server} is busy", _seconds(retry_after))
    detail = f": {message}" if message else ""
    return ClusterError(f"{server} answers {status} for {what}{detail}", "see the logs of the API server")


def _status(body: bytes) -> tuple[str, str]:
    """Message and continue token of a Status object; empty where the answer is none."""
    try:
        data = json.loads(body)
    except ValueError:
        return "", ""
    if not isinstance(data, dict):
        return "", ""
    metadata = data.get("metadata")
    token = metadata.get("continue") if isinstance(metadata, dict) else ""
    message = data.get("message")
    text = message[:_LONGEST] if isinstance(message, str) else ""
    return text, token if isinstance(token, str) else ""


def _seconds(retry_after: str) -> float:
    return float(retry_after) if retry_after.isdecimal() else 1.0


def failure(server: str, what: str, error: Exception) -> ClusterError:
    """The error for a failure of the connection."""
    from urllib3 import exceptions

    if isinstance(error, exceptions.MaxRetryError) and isinstance(error.reason, Exception):
        error = error.reason
    text = str(error)
    if isinstance(error, exceptions.SSLError) or "SSLError" in text or "CERTIFICATE" in text:
        return ClusterError(
            f"no trusted connection to {server}: {_tls_reason(text)}",
            "check certificate-authority in the kubeconfig",
        )
    if isinstance(error, exceptions.ProxyError):
        return ClusterError(f"cannot reach {server} through the proxy", "check HTTPS_PROXY and proxy-url")
    if isinstance(error, exceptions.NameResolutionError):
        return ClusterError(f"cannot reach {server}: unknown host", "check the server of the context")
    if isinstance(error, exceptions.NewConnectionError):
        return ClusterError(f"cannot reach {server}: {_system_reason(text)}", _REACH)
    if isinstance(error, exceptions.ConnectTimeoutError):
        return ClusterError(f"cannot reach {server}: no answer", _REACH)
    if isinstance(error, (exceptions.ReadTimeoutError, TimeoutError)):
        return slow(server, what)
    return ClusterError(f"{server} cut the connection while reading {what}", "run the command again")


_REACH = "check that the cluster runs and that this machine may reach it"


def slow(server: str, what: str) -> ClusterError:
    """The error for an answer that takes too long."""
    return ClusterError(
        f"{server} is too slow: {what} did not arrive in time", "allow more with --request-timeout"
    )


def _system_reason(text: str) -> str:
    """The reason of the operating system, without addresses of objects in memory."""
    return text.rpartition("] ")[2].strip().lower() or "no connection"


def _tls_reason(text: str) -> str:
    reason = text.partition("certificate verify failed: ")[2].partition("(_ssl")[0].strip()
    return reason or "the TLS handshake failed"


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
                f"{self.server} answers with {kind or 'something'} that is not a JSON object",
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
