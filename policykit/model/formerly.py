"""Former names of labels, taints and queues, which hold beside the present ones during a change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.namedtuple import NamedTuple


class Formerly(NamedTuple):
    """The policy's `formerly:`, from former name to present one."""

    keys: Mapping[str, str] = {}
    """Key of a node label or taint."""
    values: Mapping[str, Mapping[str, str]] = {}
    """Present key to the former values."""
    queues: Mapping[str, str] = {}
    names: tuple[str, ...] = ()
    """Former values of `metadata.name`."""

    @property
    def on_nodes(self) -> bool:
        """Whether labels or taints of nodes have former names."""
        return bool(self.keys or self.values)

    def present(self, key: str, value: str) -> tuple[str, str]:
        """The present key and value of a label or taint."""
        key = self.keys.get(key, key)
        return key, self.values.get(key, {}).get(value, value)

    def former_keys(self, key: str) -> tuple[str, ...]:
        return tuple(old for old, new in self.keys.items() if new == key)

    def former_values(self, key: str, value: str) -> tuple[str, ...]:
        return tuple(old for old, new in self.values.get(key, {}).items() if new == value)

    def spellings(self, key: str, value: str) -> Iterator[tuple[str, str]]:
        """Every other key and value that mean the same."""
        for one in (key, *self.former_keys(key)):
            for each in (value, *self.former_values(key, value)):
                if (one, each) != (key, value):
                    yield one, each
