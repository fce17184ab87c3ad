"""Values to bytes and back, and nothing else."""

from __future__ import annotations

import os
from binascii import crc32

import pytest
from hypothesis import given

from policykit.linter.engine import FileResult
from policykit.model.cluster import Cluster
from policykit.pickles import DAMAGED, frozen, thawed
from tests.clusters import profile
from tests.formats.reports import FIXED
from tests.policies import clusters


def test_a_result_comes_back() -> None:
    result = FileResult((FIXED,), documents=3, skipped="a template")
    assert thawed(frozen(result)) == result


def test_a_bundled_policy_comes_back() -> None:
    cluster = profile("hybrid-volcano")
    assert thawed(frozen(cluster)) == cluster


@given(clusters())
def test_any_cluster_comes_back(cluster: Cluster) -> None:
    assert thawed(frozen(cluster)) == cluster


class _Runs:
    """What somebody would leave to have a command run."""

    def __reduce__(self) -> tuple[object, tuple[str, ...]]:
        return os.system, ("true",)


def summed(body: bytes) -> bytes:
    """With a right checksum: it is no protection against somebody."""
    return crc32(body).to_bytes(4, "big") + body


@pytest.mark.parametrize(
    "raw",
    [
        frozen(_Runs()),
        frozen(os.system),
        summed(b"cpolicykit.cli\nrun\n(ltR."),
        summed(b"cpolicykit.sources.writing\nreplace_all\n."),
        b"",
        summed(b"\x80\x05."),
        b"no pickle",
        frozen(FileResult())[:-9],
    ],
    ids=["a command", "a function", "our own function", "another", "nothing", "empty", "text", "cut off"],
)
def test_anything_else_is_refused(raw: bytes) -> None:
    with pytest.raises(DAMAGED):
        thawed(raw)
