"""NamedTuple: as in `typing`, and many times as fast to define.

`typing` compiles the annotation of every field, `collections` a constructor for every type. A small lint
defines three hundred of these types, and makes values of few of them: a constructor is compiled for the first
value.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers take it for that of `typing`, which takes a while to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any
    from typing import NamedTuple as NamedTuple

    def compile_with(install: Callable[[type, tuple[str, ...], tuple[Any, ...]], None]) -> None: ...
else:
    from _collections import _tuplegetter
    from collections import namedtuple
    from types import GenericAlias

    _installers = []
    """The function of the extension, if it is there, that gives a type faster fields and a faster start."""
    _GETTERS = []
    """What reads the first field, the second, and so on: types share them."""

    class _Definition(type):
        """Makes a named tuple of a class that is being defined."""

        def __new__(cls, name, bases, namespace):
            fields = tuple(namespace.get("__annotations__", ()))
            defaults = {field: namespace.pop(field) for field in fields if field in namespace}
            if defaults and fields[-len(defaults) :] != tuple(defaults):
                raise TypeError(f"{name}: fields without a default come first")
            while len(_GETTERS) < len(fields):
                _GETTERS.append(_tuplegetter(len(_GETTERS), ""))

            def new(cls, /, *values, **named):
                made.__new__ = _constructor(made)
                for install in _installers if "__init__" not in vars(made) else ():
                    install(made, fields, tuple(defaults.values()))
                return made.__new__(cls, *values, **named)

            made = type(
                name,
                (_NamedTuple,),
                {
                    "__slots__": (),
                    "__match_args__": fields,
                    "_fields": fields,
                    "_field_defaults": defaults,
                    "__new__": new,
                    "__class_getitem__": _GENERIC,
                    **dict(zip(fields, _GETTERS, strict=False)),
                    **namespace,
                },
            )
            return made

    _GENERIC = classmethod(GenericAlias)

    def compile_with(install):
        """From now on a type gets its fields and constructor from the extension with its first value."""
        _installers.append(install)

    def _constructor(made):
        return namedtuple(made.__name__, made._fields, defaults=made._field_defaults.values()).__new__

    class _Signature:
        """The parameters of the constructor, for tools that look at them before there is a value."""

        def __get__(self, value, made):
            from inspect import signature

            whole = signature(_constructor(made))
            return whole.replace(parameters=[*whole.parameters.values()][1:])

    class _NamedTuple(tuple):
        """What all of them have in common; see `collections.namedtuple`."""

        __slots__ = ()
        __signature__ = _Signature()

        @classmethod
        def _make(cls, values):
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"{cls.__name__} has {len(cls._fields)} fields, not {len(made)}")
            return made

        def _replace(self, /, **named):
            made = tuple.__new__(type(self), map(named.pop, self._fields, self))
            if named:
                raise ValueError(f"{type(self).__name__} has no fields {', '.join(named)}")
            return made

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            values = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
            return f"{type(self).__name__}({values})"

        def __getnewargs__(self):
            return tuple(self)

    NamedTuple = type.__new__(_Definition, "NamedTuple", (), {})
