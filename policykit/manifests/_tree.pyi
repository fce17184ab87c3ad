from collections.abc import Callable
from typing import Any

from policykit.manifests.node import Lines, Node

LIBYAML: str

def prepare(
    node: type[Node],
    words: dict[str, bool | None],
    word_starts: str,
    number_starts: str,
    resolve: Callable[[str], object],
    tagged: Callable[[str, str], object],
    measure: Callable[[Node, dict[int, tuple[int, int]]], tuple[int, int]],
    merge: Callable[[Node, list[Node]], None],
    key_text: Callable[[object], str],
    content_end: Callable[[Node], int],
    unread: type[Exception],
    /,
) -> None: ...

class Reader:
    def __new__(cls, text: str, lines: Lines, depth: int, aliased: int, values: int, /) -> Reader: ...
    def document(self) -> tuple[Node | None, int, tuple[()] | list[tuple[Any, Any, Any]]] | None: ...
