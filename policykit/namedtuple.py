"""NamedTuple: as in `typing`, and several times as fast to define.

`typing` compiles the annotation of every field. A small lint defines two hundred of these types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import namedtuple
    from types import GenericAlias

    class _Definition(type):
        """Makes a named tuple of a class that is being defined."""

        def __new__(cls, name, bases, namespace):
            fields = namespace.get("__annotations__", {})
            defaults = [namespace.pop(field) for field in fields if field in namespace]
            made = namedtuple(name, fields, defaults=defaults, module=namespace["__module__"])
            for key, value in namespace.items():
                setattr(made, key, value)
            made.__class_getitem__ = classmethod(GenericAlias)
            return made

    NamedTuple = type.__new__(_Definition, "NamedTuple", (), {})
