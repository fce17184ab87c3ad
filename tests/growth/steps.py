"""Counts the steps that a piece of work takes: the same work takes the same steps on every machine.

A step is a call of anything, of Python or of C, and a turn of a loop. What C does in one go counts by its
length: a copy, a concatenation, a search in a list or a text. So nothing hides behind one call.

The profiler of Python counts calls. For the rest the modules of a package are compiled with a call around
each such expression: `watch` must be called before they are imported.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from cProfile import Profile
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any, TypeVar, cast

T = TypeVar("T")

_LONG = (str, bytes, list, tuple, set, frozenset, dict)
_MAKERS = frozenset({"list", "tuple", "set", "frozenset", "dict", "sorted"})
_READERS = frozenset({"sum", "min", "max", "any", "all"})
_RESULT = frozenset(
    [
        "join",
        "split",
        "rsplit",
        "splitlines",
        "encode",
        "decode",
        "replace",
        "copy",
        "lower",
        "upper",
        "strip",
        "lstrip",
        "rstrip",
        "partition",
        "rpartition",
        "removeprefix",
        "removesuffix",
        "union",
        "intersection",
        "difference",
    ]
)
"""Methods that make something new as long as their result."""
_OWN = frozenset({"count", "index", "remove", "insert"})
"""Methods that go through what they belong to."""
_GIVEN = frozenset(["extend", "update", "isdisjoint", "issubset", "issuperset", "findall", "finditer", "sub"])
"""Methods that go through what they are given."""
_SOUGHT = frozenset({"find", "search"})
"""Methods that go through a text up to what they find."""

_steps = 0


def count(work: Callable[[], object]) -> int:
    """The steps of some work."""
    before = _steps
    calls = Profile(subcalls=False)
    calls.enable()
    try:
        work()
    finally:
        calls.disable()
    return _steps - before + sum(entry.callcount for entry in calls.getstats())


def counted(items: Iterable[T], steps: list[int]) -> Iterator[T]:
    """The items; the steps that each took, and those after the last, are added to a list."""
    each = iter(items)
    end = object()
    found: list[T | object] = []
    while True:
        steps.append(count(lambda: found.append(next(each, end))))
        item = found.pop()
        if item is end:
            return
        yield cast("T", item)


def watch(package: str) -> None:
    """From now on modules of a package are imported with their expressions counted."""
    for helper in (_each, _turn, _sized, _within, _grown, _method):
        setattr(builtins, _global(helper.__name__), helper)
    sys.meta_path.insert(0, _Finder(package))


def _turn() -> None:
    """A turn of a loop: being called is the step."""


def _each(items: Iterable[Any]) -> Iterator[Any]:
    """The items: each time it is asked for one is a step."""
    yield from items


def _sized(value: Any) -> Any:
    global _steps
    if isinstance(value, _LONG):
        _steps += len(value)
    return value


def _within(item: Any, items: Any) -> bool:
    if isinstance(items, (str, bytes, list, tuple)):
        _sized(items)
    return item in items


def _grown(value: Any, more: Any) -> Any:
    if not isinstance(value, (list, set, dict)):
        _sized(value)
    return _sized(more)


def _method(owner: Any, name: str, *arguments: Any, **named: Any) -> Any:
    global _steps
    result = getattr(owner, name)(*arguments, **named)
    if not isinstance(owner, (*_LONG, re.Pattern, ModuleType)):
        return result
    if name in _RESULT:
        _sized(result)
    elif name in _OWN:
        _sized(owner)
    elif name in _GIVEN:
        for each in arguments:
            _sized(each)
    else:
        _steps += _distance(owner, arguments, result)
    return result


def _distance(owner: Any, arguments: Sequence[Any], result: Any) -> int:
    """How far `find` or `search` went."""
    text = (
        owner
        if isinstance(owner, (str, bytes))
        else next(a for a in reversed(arguments) if isinstance(a, str))
    )
    start = next((a for a in arguments if isinstance(a, int)), 0)
    end = result.end() if isinstance(result, re.Match) else result
    return max((len(text) if end is None or end < 0 else end) - start, 0)


class _Watched(ast.NodeTransformer):
    """Puts the calls above around expressions."""

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.iter = _call("_each", node.iter)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        node.iter = _call("_each", node.iter)
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        node.body.insert(0, ast.Expr(_call("_turn")))
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        return _call("_sized", node) if isinstance(node.slice, ast.Slice) and _is_read(node) else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return _call("_sized", node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        self.generic_visit(node)
        return _call("_sized", node)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        node.value = self.visit(node.value)
        return node

    def visit_List(self, node: ast.List) -> ast.AST:
        self.generic_visit(node)
        return _call("_sized", node) if _is_read(node) and _has_star(node.elts) else node

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        self.generic_visit(node)
        return _call("_sized", node) if _is_read(node) and _has_star(node.elts) else node

    def visit_Set(self, node: ast.Set) -> ast.AST:
        self.generic_visit(node)
        return _call("_sized", node) if _has_star(node.elts) else node

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        self.generic_visit(node)
        return _call("_sized", node) if None in node.keys else node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) > 1 or not isinstance(node.ops[0], (ast.In, ast.NotIn)):
            return node
        within = _call("_within", node.left, node.comparators[0])
        return within if isinstance(node.ops[0], ast.In) else ast.UnaryOp(ast.Not(), within)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.target, ast.Name):
            node.value = _call("_grown", ast.Name(node.target.id, ast.Load()), node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Name) and function.id in _MAKERS:
            return _call("_sized", node)
        if isinstance(function, ast.Name) and function.id in _READERS:
            node.args = [
                each if isinstance(each, ast.Starred) else _call("_sized", each) for each in node.args
            ]
        if isinstance(function, ast.Attribute) and function.attr in _RESULT | _OWN | _GIVEN | _SOUGHT:
            node.func = ast.Name(_global("_method"), ast.Load())
            node.args = [function.value, ast.Constant(function.attr), *node.args]
        return node


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(_global(name), ast.Load()), list(arguments), [])


def _global(name: str) -> str:
    """As modules know it: no name of theirs."""
    return f"__growth{name}__"


def _is_read(node: ast.Subscript | ast.List | ast.Tuple) -> bool:
    return isinstance(node.ctx, ast.Load)


def _has_star(items: Sequence[ast.expr]) -> bool:
    return any(isinstance(item, ast.Starred) for item in items)


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        tree = _Watched().visit(ast.parse(self.get_data(path), path))
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    def __init__(self, package: str) -> None:
        self._package = package

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] != self._package:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin and spec.origin.endswith(".py"):
            spec.loader = _Loader(fullname, spec.origin)
        return spec
