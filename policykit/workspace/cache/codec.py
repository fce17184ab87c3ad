"""Values as JSON and back, by the annotations of their types: only data, validated when read.

Codecs work on columns, which are many values of one type: built-in loops then do most of the work,
and a batch of small values takes less than half the time of encoding them one by one.
"""

from __future__ import annotations

import json
import types
from collections import abc
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from functools import cache, partial
from importlib import import_module
from itertools import chain, islice
from math import isfinite
from typing import Any, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints

from policykit.namedtuple import NamedTuple
from policykit.workspace.cache.folder import DamagedError

T = TypeVar("T")
Column = Sequence[Any]

_FACTS = "policykit.model"
"""Package of the facts read from files: a type variable stands for any NamedTuple of its modules."""
_DEFERRED = {"SuppressionUse": "policykit.linter.suppressions"}
"""Types that modules import only for type checking, with the modules that define them."""
_SCALARS: frozenset[type] = frozenset({str, int, bool, float, types.NoneType})
_LISTS = frozenset({list})


class Codec(NamedTuple):
    """Converts a column of values to as many JSON values, and back."""

    types: frozenset[type]
    """Annotation of the values."""
    encode: Callable[[Column], Column]
    """Converts values to JSON. Raises TypeError for a value of another type."""
    decode: Callable[[Column], Column]
    """Converts JSON to values. Raises one of _DAMAGE for JSON of another form."""


def encode(kind: type[T], values: Iterable[T]) -> list[bytes]:
    """Each value as bytes. Raises TypeError for one that does not match its annotations, ValueError and
    RecursionError for data that JSON cannot hold.
    """
    form: Any = kind
    rows = codec(form).encode(tuple(values))
    return [_ENCODER.encode(row).encode("utf-8", errors="surrogatepass") for row in rows]


def decode(kind: type[T], texts: Iterable[bytes]) -> list[T]:
    """Decodes values. Raises DamagedError if any bytes were not written by `encode`."""
    form: Any = kind
    raw = list(texts)
    try:
        rows = _DECODER.decode((b"[%b]" % b",".join(raw)).decode("utf-8", errors="surrogatepass"))
        if len(rows) != len(raw):
            raise ValueError("more than one value in a text")
        return list(codec(form).decode(rows))
    except _DAMAGE as error:
        raise DamagedError(f"no {kind.__name__}: {error}") from None


_DAMAGE = (
    *(ArithmeticError, AttributeError, ImportError, LookupError),
    *(MemoryError, RecursionError, TypeError, ValueError),
)


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


_ENCODER = json.JSONEncoder(ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":"))
_DECODER = json.JSONDecoder(parse_constant=_refuse)


@cache
def codec(kind: Any) -> Codec:
    """The codec of an annotation. Raises TypeError if there is none: such values are not cached."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in _SCALARS:
        return _scalars(frozenset({kind}))
    if kind is bytes:
        return _BYTES
    if kind is Any:
        return _PLAIN
    if isinstance(kind, TypeVar):
        return _NAMED
    if kind is object:
        return _OPTIONS
    if origin in (Union, types.UnionType):
        return _union(arguments)
    if origin is abc.Mapping and arguments[0] is str:
        return _object(arguments[1])
    if origin is abc.Mapping:
        return _collection(dict, types.GenericAlias(tuple, arguments), dict.items)
    if origin is frozenset:
        return _collection(frozenset, arguments[0], sorted)
    if origin is tuple and arguments[-1] is ...:
        return _collection(tuple, arguments[0], iter)
    if origin is tuple:
        return _record(tuple, lambda: arguments, len(arguments))
    made = origin or kind
    if isinstance(made, type) and issubclass(made, Enum):
        return _enumeration(made)
    if _is_record(made):
        return _record(made, lambda: field_types(made), len(made._fields))
    raise TypeError(f"{kind} has no form as data")


def field_types(kind: Any) -> tuple[Any, ...]:
    """The annotations of a NamedTuple's fields."""
    names: dict[str, Any] = {}
    while True:
        try:
            hints = get_type_hints(kind, localns=names)
            return tuple(hints[field] for field in kind._fields)
        except NameError as error:
            if error.name not in _DEFERRED or error.name in names:
                raise
            names[error.name] = getattr(import_module(_DEFERRED[error.name]), error.name)


def is_protocol(kind: object) -> bool:
    return bool(getattr(kind, "_is_protocol", False))


def _is_record(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")


def _checked(column: Column, kinds: frozenset[type]) -> Column:
    """The column, if all its values have exactly one of these types. Raises TypeError."""
    if not kinds.issuperset(map(type, column)):
        found = ", ".join(sorted({kind.__name__ for kind in map(type, column) if kind not in kinds}))
        raise TypeError(f"{found} among {', '.join(sorted(kind.__name__ for kind in kinds))}")
    return column


def _scalars(kinds: frozenset[type]) -> Codec:
    def check(column: Column) -> Column:
        return _checked(column, kinds)

    def check_finite(column: Column) -> Column:
        if not all(isfinite(value) for value in _checked(column, kinds) if type(value) is float):
            raise ValueError("a number is too large")
        return column

    return Codec(kinds, check, check_finite if float in kinds else check)


_BYTES = Codec(
    frozenset({bytes}),
    lambda column: [value.decode("latin-1") for value in _checked(column, frozenset({bytes}))],
    lambda column: [value.encode("latin-1") for value in _checked(column, frozenset({str}))],
)


def _enumeration(kind: type[Enum]) -> Codec:
    kinds = frozenset({kind})
    members = {member.value: member for member in kind}
    return Codec(
        kinds,
        lambda column: [member.value for member in _checked(column, kinds)],
        lambda column: [members[value] for value in column],
    )


def _record(kind: Any, of_fields: Callable[[], Sequence[Any]], size: int) -> Codec:
    """NamedTuples and tuples of fixed size, as lists."""
    kinds, sizes = frozenset({kind}), frozenset({size})
    new = partial(tuple.__new__, kind)

    @cache
    def codecs() -> list[Codec]:
        # Built only when there are values: most policies have none of half of the types.
        return [codec(field) for field in of_fields()]

    def checked(column: Column, types: frozenset[type]) -> Iterator[Column]:
        if not sizes.issuperset(map(len, _checked(column, types))):
            raise ValueError(f"{kind.__name__} has {size} fields")
        return zip(*column, strict=True)

    def encode(column: Column) -> Column:
        columns = checked(column, kinds)
        if not column:
            return column
        return list(
            zip(*[c.encode(values) for c, values in zip(codecs(), columns, strict=True)], strict=True)
        )

    def decode(column: Column) -> Column:
        columns = checked(column, _LISTS)
        if not column:
            return column
        made = [c.decode(values) for c, values in zip(codecs(), columns, strict=True)]
        return list(map(new, zip(*made, strict=True)))

    return Codec(kinds, encode, decode)


def _collection(kind: Any, item: Any, items: Callable[[Any], Iterable[Any]]) -> Codec:
    """Tuples of any length, sets, and mappings as pairs, all as lists."""
    kinds = frozenset({kind})

    def encode(column: Column) -> Column:
        flat = list(chain.from_iterable(map(items, _checked(column, kinds))))
        if not flat:
            return [()] * len(column)
        rest = iter(codec(item).encode(flat))
        return [list(islice(rest, length)) for length in map(len, column)]

    def decode(column: Column) -> Column:
        flat = list(chain.from_iterable(_checked(column, _LISTS)))
        rest = iter(codec(item).decode(flat) if flat else ())
        return [kind(islice(rest, length)) for length in map(len, column)]

    return Codec(kinds, encode, decode)


def _object(item: Any) -> Codec:
    """Mappings with texts as keys, as JSON objects."""
    kinds = frozenset({dict})

    def through(function: Callable[[Codec], Callable[[Column], Column]], column: Column) -> Column:
        flat = list(chain.from_iterable(map(dict.values, _checked(column, kinds))))
        if not flat:
            return column
        _checked(list(chain.from_iterable(column)), frozenset({str}))
        rest = iter(function(codec(item))(flat))
        return [dict(zip(each, rest, strict=False)) if each else {} for each in column]

    return Codec(kinds, partial(through, lambda one: one.encode), partial(through, lambda one: one.decode))


def _union(alternatives: Sequence[Any]) -> Codec:
    """Scalars unchanged, None as null, anything else with the index of its alternative; not a protocol."""
    if _SCALARS.issuperset(alternatives):
        return _scalars(frozenset(alternatives))
    others = (kind for kind in alternatives if kind is not types.NoneType and not is_protocol(kind))
    codecs = [*map(codec, others)]
    one = codecs[0] if len(codecs) == 1 else _tagged(codecs)
    return _optional(one) if types.NoneType in alternatives else one


def _optional(one: Codec) -> Codec:
    def through(function: Callable[[Column], Column], column: Column) -> Column:
        some = [value for value in column if value is not None]
        if not some:
            return column
        made = iter(function(some))
        return [None if value is None else next(made) for value in column]

    return Codec(one.types | {types.NoneType}, partial(through, one.encode), partial(through, one.decode))


def _tagged(codecs: Sequence[Codec]) -> Codec:
    by_number = dict(enumerate(codecs))
    numbers = {kind: number for number, each in by_number.items() for kind in each.types}
    kinds = frozenset(numbers)

    def encode(column: Column) -> Column:
        tags = [numbers[type(value)] for value in _checked(column, kinds)]
        return list(zip(tags, _by_tag(column, tags, lambda tag: by_number[tag].encode), strict=True))

    def decode(column: Column) -> Column:
        tags, values = _pairs(column)
        return _by_tag(values, _checked(tags, frozenset({int})), lambda tag: by_number[tag].decode)

    return Codec(kinds, encode, decode)


def _encode_named(column: Column) -> Column:
    kinds = list(map(type, column))
    made = _by_tag(column, kinds, lambda kind: codec(kind).encode)
    return [(_name(kind), value) for kind, value in zip(kinds, made, strict=True)]


def _decode_named(column: Column) -> Column:
    tags, values = _pairs(column)
    return _by_tag(values, tags, lambda tag: codec(_fact(tag)).decode)


_NAMED = Codec(frozenset(), _encode_named, _decode_named)


@cache
def _name(kind: type) -> str:
    """A name such as `gang.PodGroup`. Raises TypeError for types that are not facts."""
    module = kind.__module__.removeprefix(f"{_FACTS}.")
    name = f"{module}.{kind.__name__}"
    if module == kind.__module__ or _fact(name) is not kind:
        raise TypeError(f"{kind} is not a type of {_FACTS}")
    return name


@cache
def _fact(name: str) -> type:
    module, _, of_class = name.partition(".")
    if not (module.isidentifier() and of_class.isidentifier()):
        raise ValueError(f"{name!r} is not a type of {_FACTS}")
    found = getattr(import_module(f"{_FACTS}.{module}"), of_class)
    if not (_is_record(found) and found.__module__ == f"{_FACTS}.{module}"):
        raise ValueError(f"{name!r} is not a type of {_FACTS}")
    return found  # type: ignore[no-any-return]


def _encode_options(column: Column) -> Column:
    targets = [_target_name(type(value)) for value in column]
    made = _by_tag(column, targets, lambda target_name: _of_options(target_name).encode)
    return list(zip(targets, made, strict=True))


def _decode_options(column: Column) -> Column:
    targets, values = _pairs(column)
    return _by_tag(values, targets, lambda target_name: _of_options(target_name).decode)


_OPTIONS = Codec(frozenset(), _encode_options, _decode_options)
"""Encodes `TargetSettings.options`: each value with the name of the target whose type it has."""


def _target_name(kind: type) -> str:
    """Name of the target whose options have a type; empty: no options. Raises TypeError for other types."""
    if kind is types.NoneType:
        return ""
    target_name = kind.__module__.removeprefix("policykit.targets.").partition(".")[0]
    if options_type(target_name) is not kind:
        raise TypeError(f"{kind} is not a type of options")
    return target_name


def _of_options(target_name: str) -> Codec:
    kind: Any = options_type(target_name) if target_name else types.NoneType
    if kind is None:
        raise ValueError(f"{target_name!r} has no type of options")
    return codec(kind)


def options_type(target_name: str) -> Any:
    """The type of a target's options; None: it has none, or there is no such target."""
    from policykit.targets import target_of

    target = target_of(target_name)
    return target.options.load() if target and target.options else None


def _pairs(column: Column) -> tuple[Column, Column]:
    """Tags and values."""
    if not column:
        return (), ()
    tags, values = zip(*_checked(column, _LISTS), strict=True)
    return tags, values


def _by_tag(column: Column, tags: Column, function: Callable[[Any], Callable[[Column], Column]]) -> Column:
    """The column, with the function of each tag applied to the values that share it."""
    unique = dict.fromkeys(tags)
    if len(unique) == 1:
        return function(tags[0])(column)
    made = {
        tag: iter(function(tag)([v for v, other in zip(column, tags, strict=True) if other == tag]))
        for tag in unique
    }
    return [next(made[tag]) for tag in tags]


def _to_json(value: Any) -> Any:
    """Arbitrary data as JSON: mappings with string keys; lists and tuples tagged by name."""
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is dict and all(type(key) is str for key in value):
        return {key: _to_json(below) for key, below in value.items()}
    if kind in (list, tuple):
        return [kind.__name__, *map(_to_json, value)]
    raise TypeError(f"{kind.__name__} is not plain data")


def _from_json(data: Any) -> Any:
    if type(data) is dict:
        return {key: _from_json(below) for key, below in data.items()}
    if type(data) is list:
        kind = {"list": list, "tuple": tuple}[data[0]]
        return kind(map(_from_json, data[1:]))
    if type(data) is float and not isfinite(data):
        raise ValueError("a number is too large")
    return data


_PLAIN = Codec(
    frozenset({dict, list, tuple, *_SCALARS}),
    lambda column: [_to_json(value) for value in column],
    lambda column: [_from_json(data) for data in column],
)
