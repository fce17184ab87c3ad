"""A connection to the API server that is cut, delayed or slow."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple
from urllib.parse import urlsplit


class Fault(NamedTuple):
    """What happens to the answers of each connection. TLS makes no difference to it."""

    cut_after: int | None = None
    """Bytes after which it ends; None: never."""
    delay: float = 0
    """Seconds before the first byte."""
    rate: int | None = None
    """Bytes a second; None: any number."""


@contextmanager
def proxy(server: str, fault: Fault) -> Iterator[str]:
    """The URL under which the server is reached through it."""
    target = urlsplit(server)
    ended = threading.Event()
    threads: list[threading.Thread] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.1)

        def accept() -> None:
            while not ended.is_set():
                with contextlib.suppress(TimeoutError):
                    client, _ = listening.accept()
                    address = (str(target.hostname), target.port or 443)
                    threads.append(threading.Thread(target=_serve, args=(client, address, fault, ended)))
                    threads[-1].start()

        threads.append(threading.Thread(target=accept))
        threads[0].start()
        try:
            yield f"https://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            ended.set()
            for thread in threads:
                thread.join()


def _serve(client: socket.socket, address: tuple[str, int], fault: Fault, ended: threading.Event) -> None:
    with client, socket.create_connection(address) as server:
        there = threading.Thread(target=_pump, args=(client, server, Fault(), ended))
        there.start()
        _pump(server, client, fault, ended)
        for each in (client, server):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        there.join()


def _pump(source: socket.socket, sink: socket.socket, fault: Fault, ended: threading.Event) -> None:
    """Bytes from one side to the other until either ends."""
    source.settimeout(0.1)
    sent = 0
    while not ended.is_set() and (fault.cut_after is None or sent < fault.cut_after):
        try:
            data = source.recv(min(1 << 14, fault.rate or 1 << 14))
        except TimeoutError:
            continue
        except OSError:
            return
        if not data:
            return
        time.sleep((0 if sent else fault.delay) + (len(data) / fault.rate if fault.rate else 0))
        if fault.cut_after is not None:
            data = data[: fault.cut_after - sent]
        sent += len(data)
        try:
            sink.sendall(data)
        except OSError:
            return
