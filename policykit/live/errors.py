"""What can go wrong between policykit and an API server, each as one line without credentials."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

from policykit.errors import PolicykitError

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
    said = f": {message}" if message else ""
    return ClusterError(f"{server} answers {status} for {what}{said}", "see the logs of the API server")


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
