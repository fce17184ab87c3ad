"""A small API server in this process: discovery, lists in pages, single objects, and faults on request."""

from __future__ import annotations

import gzip
import json
import re
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

Object = dict[str, Any]

TOKEN = "a-token-that-nobody-may-see"
CLUSTER_WIDE = frozenset(
    {
        "ClusterQueue",
        "ClusterRole",
        "HyperNode",
        "Namespace",
        "Node",
        "PersistentVolume",
        "PriorityClass",
        "Queue",
        "ResourceFlavor",
        "RuntimeClass",
        "StorageClass",
    }
)
_PLURALS = {
    "PriorityClass": "priorityclasses",
    "RuntimeClass": "runtimeclasses",
    "StorageClass": "storageclasses",
}


def plural(kind: str) -> str:
    return _PLURALS.get(kind, f"{kind.lower()}s")


class ApiServer:
    """What the server has, and how it misbehaves."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str], list[Object]] = {}
        """(apiVersion, kind) to the objects."""
        self.forbidden: set[str] = set()
        """Plurals that may not be read."""
        self.forbidden_everywhere: set[str] = set()
        """Plurals that may be read in a namespace only."""
        self.requests: list[str] = []
        """Method and path of each."""
        self.token = TOKEN
        self.statuses: dict[str, list[tuple[int, Object, Mapping[str, str]]]] = {}
        """Plurals to the answers that come first: status, body, headers."""
        self.cut: dict[str, int] = {}
        """Plurals to the bytes after which the connection ends."""
        self.delay: dict[str, float] = {}
        """Plurals to the seconds before an answer."""
        self.drip: dict[str, float] = {}
        """Plurals to the seconds between any two bytes."""
        self.version = ""
        """What it says of its release."""
        self.url = ""

    def serve(self, api_version: str, *kinds: str) -> None:
        """Serves kinds that have no objects."""
        for kind in kinds:
            self.objects.setdefault((api_version, kind), [])

    def add(self, *objects: Object) -> None:
        for each in objects:
            self.objects.setdefault((each["apiVersion"], each["kind"]), []).append(deepcopy(each))

    def lists(self, plural_: str) -> list[str]:
        """The queries of the lists of a resource."""
        return [line for line in self.requests if urlsplit(line).path.endswith(f"/{plural_}")]


@contextmanager
def api_server() -> Iterator[ApiServer]:
    """A server for a block, on loopback and without TLS."""
    server = ApiServer()

    class Handler(_Handler):
        state = server

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        server.url = f"http://127.0.0.1:{listening.server_address[1]}"
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()


def kubeconfig(folder: Path, url: str, token: str = TOKEN, name: str = "test") -> Path:
    """A kubeconfig with one context."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": {"server": url}}],
        "users": [{"name": "someone", "user": {"token": token}}],
        "contexts": [{"name": name, "context": {"cluster": "test", "user": "someone"}}],
        "current-context": name,
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(config))
    return path


class _Handler(BaseHTTPRequestHandler):
    state: ApiServer
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    """Head and body are sent as one: as two, the system holds the second back for 40 ms."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass

    def do_GET(self) -> None:
        self.state.requests.append(self.path)
        parts = urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        if self.headers.get("Authorization") != f"Bearer {self.state.token}":
            self._answer(401, _status(401, "Unauthorized"))
        else:
            self._route([step for step in parts.path.split("/") if step], query)

    def _route(self, steps: list[str], query: Mapping[str, str]) -> None:
        if steps == ["version"]:
            self._answer(200, {"gitVersion": self.state.version})
            return
        if steps == ["apis"]:
            self._answer(200, {"kind": "APIGroupList", "groups": [*_groups(self.state.objects)]})
            return
        depth = 2 if steps[0] == "api" else 3
        api_version, rest = "/".join(steps[1:depth]), steps[depth:]
        if not rest:
            self._answer(200, {"kind": "APIResourceList", "resources": [*_kinds(self.state, api_version)]})
            return
        namespace = ""
        if rest[0] == "namespaces" and len(rest) > 2:
            namespace, rest = rest[1], rest[2:]
        self._resource(api_version, namespace, rest, query)

    def _resource(self, api_version: str, namespace: str, rest: list[str], query: Mapping[str, str]) -> None:
        name, state = rest[0], self.state
        time.sleep(state.delay.get(name, 0))
        if state.statuses.get(name):
            status, body, headers = state.statuses[name].pop(0)
            self._answer(status, body, headers=headers)
            return
        if name in state.forbidden or (name in state.forbidden_everywhere and not namespace):
            message = (
                f'{name} is forbidden: User "someone" cannot list resource "{name}" at the cluster scope'
            )
            self._answer(403, _status(403, message))
            return
        found = next(
            (v for (a, kind), v in state.objects.items() if a == api_version and plural(kind) == name), None
        )
        if found is None:
            self._answer(404, _status(404, "the server could not find the requested resource"))
            return
        if namespace:
            found = [each for each in found if each["metadata"].get("namespace") == namespace]
        if len(rest) > 1:
            one = next((each for each in found if each["metadata"]["name"] == rest[1]), None)
            self._answer(200 if one else 404, one or _status(404, f"{name} {rest[1]!r} not found"), name)
            return
        self._answer(200, _page(_selected(found, query), query), name)

    def _answer(
        self, status: int, body: Object, resource: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        data = json.dumps(body).encode()
        state = self.state
        faulty = resource in state.cut or resource in state.drip
        packed = "gzip" in self.headers.get("Accept-Encoding", "") and not faulty
        data = gzip.compress(data, 1) if packed else data
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for key, value in {**({"Content-Encoding": "gzip"} if packed else {}), **(headers or {})}.items():
            self.send_header(key, value)
        try:
            self.end_headers()
            self._write(data[: state.cut.get(resource, len(data))], state.drip.get(resource, 0))
        except OSError:  # the client has given up
            self.close_connection = True
        self.close_connection = self.close_connection or resource in state.cut

    def _write(self, data: bytes, pause: float) -> None:
        for piece in (data[n : n + 1] for n in range(len(data))) if pause else (data,):
            self.wfile.write(piece)
            self.wfile.flush()
            time.sleep(pause)


def _groups(objects: Iterable[tuple[str, str]]) -> Iterator[Object]:
    versions: dict[str, dict[str, Object]] = {}
    for api_version, _ in objects:
        group, slash, version = api_version.partition("/")
        if slash:
            versions.setdefault(group, {})[version] = {"groupVersion": api_version, "version": version}
    for group, found in versions.items():
        every = [*found.values()]
        yield {"name": group, "versions": every, "preferredVersion": every[0]}


def _kinds(state: ApiServer, api_version: str) -> Iterator[Object]:
    for each, kind in state.objects:
        if each == api_version:
            yield {
                "name": plural(kind),
                "kind": kind,
                "namespaced": kind not in CLUSTER_WIDE,
                "verbs": ["get", "list", "watch"],
            }


def _selected(found: list[Object], query: Mapping[str, str]) -> list[Object]:
    for term in filter(None, query.get("fieldSelector", "").split(",")):
        path, _, value = term.partition("=")
        found = [each for each in found if str(_field(each, path)) == value]
    selector = re.fullmatch(r"(\S+) in \((.+)\)", query.get("labelSelector", ""))
    if selector:
        values = selector[2].split(",")
        found = [each for each in found if each["metadata"].get("labels", {}).get(selector[1]) in values]
    return found


def _field(data: Any, path: str) -> Any:
    for step in path.split("."):
        data = (data or {}).get(step)
    return data


def _page(found: list[Object], query: Mapping[str, str]) -> Object:
    """Items of a list have neither kind nor apiVersion."""
    start, limit = int(query.get("continue") or 0), int(query.get("limit") or len(found) or 1)
    left = len(found) - start - limit
    metadata = {"continue": str(start + limit), "remainingItemCount": left} if left > 0 else {}
    bare = ("apiVersion", "kind")
    items = [{k: v for k, v in each.items() if k not in bare} for each in found[start : start + limit]]
    return {"kind": "List", "apiVersion": "v1", "metadata": metadata, "items": items}


def _status(code: int, message: str) -> Object:
    return {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code}
