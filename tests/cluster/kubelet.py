"""What kubelets would do for the pods of a test: bound pods run, deleted ones end."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from tests.cluster.api_server import ApiServer, RefusedError, api_server
from tests.cluster.control_plane import ControlPlane

_PERIOD = 0.2
"""Seconds between two looks at all pods."""


@contextmanager
def kubelet(plane: ControlPlane) -> Iterator[None]:
    """For a block. Without it Volcano never reclaims, as no pod of its is Running, and no victim ends."""
    ended = threading.Event()
    thread = threading.Thread(target=_serve, args=(plane, ended))
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _serve(plane: ControlPlane, ended: threading.Event) -> None:
    with api_server(plane) as server:
        while not ended.wait(_PERIOD):
            for pod in server.items("/api/v1/pods"):
                # Somebody else may have deleted it since.
                with suppress(RefusedError):
                    _serve_pod(server, pod)


def _serve_pod(server: ApiServer, pod: dict[str, Any]) -> None:
    metadata, status = pod["metadata"], pod["status"]
    path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
    if "nodeName" not in pod["spec"]:
        return
    if "deletionTimestamp" in metadata:
        # A Job keeps its pods until they have ended.
        server.request("PATCH", f"{path}/status", {"status": {"phase": "Failed"}})
        server.request("DELETE", f"{path}?gracePeriodSeconds=0")
    elif status.get("phase") == "Pending":
        ready = [{"type": "Ready", "status": "True"}]
        conditions = [each for each in status.get("conditions", ()) if each["type"] != "Ready"]
        running = {"phase": "Running", "conditions": [*conditions, *ready]}
        server.request("PATCH", f"{path}/status", {"status": running})
