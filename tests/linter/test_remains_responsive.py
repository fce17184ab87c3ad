"""Hostile texts: each ends with a finding or none, in little memory, without a traceback.

How the work grows with the text is counted in tests/growth.
"""

from __future__ import annotations

import resource

import pytest

from policykit import api
from tests.clusters import profile

DEEP = 10_000
POD = b"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: "
BOMB = b"a: &a [x, x, x, x, x, x, x, x, x, x]\n" + b"".join(
    f"{chr(ord('a') + n)}: &{chr(ord('a') + n)} [{', '.join(['*' + chr(ord('a') + n - 1)] * 10)}]\n".encode()
    for n in range(1, 12)
)
CONFIGURATION = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  volcano-scheduler.conf: |\n"

SLICE = (
    b"- {name: w%d, template: {spec: {template: {spec: {restartPolicy: Never, nodeSelector:"
    b" {cloud.google.com/gke-tpu-topology: 4x4}, containers: [{name: a, image: b:1, resources:"
    b" {limits: {google.com/tpu: 4}}}]}}}}}\n"
)
VOLUMES = b"volumes: [" + b", ".join(b"{name: v%d}" % n for n in range(5_000)) + b"]"
MOUNTS = b"volumeMounts: [" + b", ".join(b"{name: m%d, mountPath: /%d}" % (n, n) for n in range(5_000)) + b"]"

CASES = {
    "deep flow lists": (b"[" * DEEP + b"]" * DEEP, ["PK001"]),
    "deep flow maps": (b"{a: " * DEEP + b"}" * DEEP, ["PK001"]),
    "deep block lists": (b"- " * DEEP + b"a\n", ["PK001"]),
    "deep indentation": (b"".join(b" " * n + b"a:\n" for n in range(2_000)), ["PK001"]),
    "deep in a manifest": (POD + b"[" * DEEP, ["PK001"]),
    "deep in a configuration": (CONFIGURATION + b"    " + b"[" * DEEP + b"\n", ["PK001"]),
    "an alias bomb": (BOMB, ["PK001"]),
    "a merge of itself": (b"a: &a\n  <<: *a\n", None),
    "NUL": (b"a: \0\n", ["PK001"]),
    "not UTF-8": (b"a: \xff\xfe\n", ["PK001"]),
    "UTF-16": ("\ufeffa: b\n".encode("utf-16-le"), ["PK001"]),
    "a tab": (b"a:\n\tb: c\n", ["PK001"]),
    "one long line": (POD + b'{x: "' + b"a" * 2_000_000 + b'"}\n', ["PK003", "PK004"]),
    "many documents": (b"---\na: 1\n" * 20_000, []),
    "many keys": (POD + b"{" + b", ".join(b"k%d: 1" % n for n in range(20_000)) + b"}\n", None),
    "many objects without a line between": (
        b"".join(b"apiVersion: v1\nkind: Namespace\nmetadata: {name: a%d}\n" % n for n in range(8_000)),
        ["PK002"],
    ),
    "many mounts without a volume": (
        POD + b"{containers: [{name: a, image: b:1, " + MOUNTS + b"}], " + VOLUMES + b"}\n",
        None,
    ),
    "many slices of one job": (
        b"apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a}\nspec:\n  replicatedJobs:\n"
        + b"".join(b"  " + SLICE % n for n in range(700)),
        None,
    ),
    "many blank lines with returns": (b"#\r\n" * 200_000, []),
    "many comments to ignore": (b"# policykit: ignore[PK001] -- x\n" * 20_000 + b"a: 1\n", None),
    "many anchors": (b"".join(b"- &a%d x\n" % n for n in range(20_000)), []),
    "a number without end": (b"a: " + b"9" * 100_000 + b"\n", None),
    "an exponent without end": (
        POD + b"{containers: [{name: a, image: b, resources: {limits: {cpu: 1e999999999}}}]}",
        None,
    ),
    "a list of itself": (b"&a [*a]\n", None),
    "a wrong shape everywhere": (b"apiVersion: []\nkind: {}\nmetadata: 1\nspec: x\n", []),
}


@pytest.mark.parametrize("policy", [None, "hybrid-volcano"], ids=["without a policy", "with one"])
@pytest.mark.parametrize(("raw", "codes"), list(CASES.values()), ids=list(CASES))
def test_hostile_text(raw: bytes, codes: list[str] | None, policy: str | None) -> None:
    cluster = profile(policy) if policy else None
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report = api.lint_texts({"a.yaml": raw}, cluster)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000
    if codes is not None:
        assert sorted({finding.code for finding in report.findings}) == codes
    for finding in report.findings:
        assert finding.span.line >= 1
        assert finding.span.column >= 1
