"""A configuration in binaryData."""

import gzip
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.targets.yunikorn.configuration.configmap import unpack


@given(st.text())
def test_what_was_packed_comes_back(text: str) -> None:
    assert unpack(b64encode(gzip.compress(text.encode())).decode()) == text


def test_lines_of_base64_are_joined() -> None:
    packed = b64encode(gzip.compress(b"partitions: []")).decode()
    assert unpack(f"{packed[:8]}\n  {packed[8:]}\n") == "partitions: []"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no base64!",
        b64encode(b"hello").decode(),
        b64encode(gzip.compress(b"partitions: []")[:-9]).decode(),
        b64encode(gzip.compress(b"\xff\xfe")).decode(),
        b64encode(gzip.compress(b"a" * (1 << 23))).decode(),
    ],
    ids=["empty", "not-base64", "not-gzip", "cut-off", "not-text", "too-large"],
)
def test_what_is_none(text: str) -> None:
    assert unpack(text) is None


@given(st.text(max_size=40))
def test_any_text(text: str) -> None:
    unpacked = unpack(text)
    assert unpacked is None or isinstance(unpacked, str)
