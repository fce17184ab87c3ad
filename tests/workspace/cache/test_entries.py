"""Many entries in one file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.workspace.cache.codec import DamagedError
from policykit.workspace.cache.entries import KEY, pack, unpack


@given(st.dictionaries(st.binary(min_size=KEY, max_size=KEY), st.binary(max_size=20), max_size=5))
def test_entries_come_back_in_their_order(entries: dict[bytes, bytes]) -> None:
    assert list(unpack(pack(entries)).items()) == list(entries.items())


def test_nothing_has_no_entries() -> None:
    assert unpack(b"") == {}


@given(st.binary(min_size=1, max_size=80))
def test_any_other_bytes_are_refused(raw: bytes) -> None:
    try:
        entries = unpack(raw)
    except DamagedError:
        return
    assert len(pack(entries)) <= len(raw)


@pytest.mark.parametrize(
    "raw",
    [b"\0", b"\0\0\0\1", b"\xff" * 4, pack({b"k" * KEY: b"entry"})[:-1], pack({b"k" * KEY: b"entry"}) + b"x"],
    ids=["short", "no row", "as many as there can be", "cut off", "longer"],
)
def test_another_length_is_refused(raw: bytes) -> None:
    with pytest.raises(DamagedError):
        unpack(raw)
