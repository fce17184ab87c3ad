"""Random values of any type that is cached, made from its annotations."""

from __future__ import annotations

import pkgutil
import types
from collections import abc
from enum import Enum
from functools import cache
from importlib import import_module
from typing import Any, TypeVar, Union, get_args, get_origin

from hypothesis import strategies as st

from policykit import model
from policykit.targets import TARGETS
from policykit.workspace.cache.codec import field_types, is_protocol

TEXT = st.text(st.characters(exclude_categories=()), max_size=8)
"""With lone surrogates: names of files have them, and JSON can say them."""
NUMBERS = st.integers() | st.sampled_from((10**30, -(2**63), 2**64))
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXT,
    int: NUMBERS,
    bool: st.booleans(),
    float: FLOATS,
    types.NoneType: st.none(),
    bytes: st.binary(max_size=8),
}
PLAIN = st.recursive(
    st.one_of(TEXT, NUMBERS, FLOATS, st.booleans(), st.none()),
    lambda below: (
        st.lists(below, max_size=3)
        | st.lists(below, max_size=3).map(tuple)
        | st.dictionaries(TEXT, below, max_size=3)
    ),
    max_leaves=6,
)


def facts() -> list[Any]:
    """Every NamedTuple of `policykit.model`: what files state for other files is one of these."""
    found = []
    for module in pkgutil.iter_modules(model.__path__, "policykit.model."):
        for value in vars(import_module(module.name)).values():
            if isinstance(value, type) and hasattr(value, "_fields") and value.__module__ == module.name:
                found.append(value)
    return found


@cache
def values(kind: Any) -> st.SearchStrategy[Any]:
    """Values of an annotation."""
    origin, arguments = get_origin(kind), get_args(kind)
    made = origin or kind
    if kind in SCALARS:
        return SCALARS[kind]
    if kind is Any:
        return PLAIN
    if isinstance(kind, TypeVar):
        return st.deferred(lambda: st.one_of([values(fact) for fact in facts()]))
    if kind is object:
        kinds = [target.options.load() for target in TARGETS if target.options]
        return st.none() | st.one_of([values(each) for each in kinds])
    if origin in (Union, types.UnionType):
        return st.one_of([values(each) for each in arguments if not is_protocol(each)])
    if origin is abc.Mapping:
        return st.dictionaries(values(arguments[0]), values(arguments[1]), max_size=2)
    if origin is frozenset:
        return st.frozensets(values(arguments[0]), max_size=3)
    if origin is tuple and arguments[-1] is ...:
        return st.lists(values(arguments[0]), max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*map(values, arguments))
    if isinstance(made, type) and issubclass(made, Enum):
        return st.sampled_from(list(made))
    return st.deferred(lambda: st.tuples(*map(values, field_types(made))).map(made._make))
