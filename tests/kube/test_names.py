"""Names, at and around their limits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.kube import names

NAME_RULE = "must begin and end with a letter or digit, with only letters, digits, '-', '_' and '.' between"
DNS_RULE = "must begin and end with a lower-case letter or digit, with only those and '-' between"


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ("pool", ""),
        ("nvidia.com/gpu.product", ""),
        ("a" * 63, ""),
        ("Team_A.b-c", ""),
        ("example.com/" + "a" * 63, ""),
        (".".join(["a" * 60] * 4) + "/x", ""),
        ("", "is empty"),
        ("example.com/", "has no name after the '/'"),
        ("/gpu", "has nothing before the '/'"),
        ("example.com/gpu/x", "has more than one '/'"),
        ("a" * 64, "has 64 characters, the limit is 63"),
        ("-a", NAME_RULE),
        ("a\n", NAME_RULE),
        ("显卡", "has characters other than ASCII letters, digits, '-', '_' and '.'"),
        ("{{ .Values.key }}", NAME_RULE),
        ("a" * 254 + "/x", f"has the prefix {'a' * 254!r}, which has 254 characters, the limit is 253"),
        (
            "NVIDIA.com/gpu",
            f"has the prefix 'NVIDIA.com', which is not a DNS name, whose parts between dots {DNS_RULE}",
        ),
    ],
    ids=lambda text: text[:24] or "none",
)
def test_label_keys(key: str, problem: str) -> None:
    assert names.label_key_problem(key) == problem


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("", ""),
        ("NVIDIA-H100-80GB-HBM3", ""),
        ("1.0_x", ""),
        ("a" * 63, ""),
        ("a" * 64, "has 64 characters, the limit is 63"),
        ("-1", NAME_RULE),
        ("not a label", NAME_RULE),
        ("a/b", NAME_RULE),
    ],
)
def test_label_values(value: str, problem: str) -> None:
    assert names.label_value_problem(value) == problem


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("gpu-a1", ""),
        ("0", ""),
        ("a" * 63, ""),
        ("", "is empty"),
        ("a" * 64, "has 64 characters, the limit is 63"),
        ("a.b", DNS_RULE),
        ("A", DNS_RULE),
        ("a-", DNS_RULE),
    ],
)
def test_dns_labels(name: str, problem: str) -> None:
    assert names.dns_label_problem(name) == problem


@pytest.mark.parametrize("name", ["gpu-a1", "ip-10-0-0-1.ec2.internal", "a" * 253])
def test_dns_subdomains(name: str) -> None:
    assert names.dns_subdomain_problem(name) == ""


@pytest.mark.parametrize("name", ["", "a..b", ".a", "a.", "a_b", "A", "a" * 254])
def test_not_dns_subdomains(name: str) -> None:
    assert names.dns_subdomain_problem(name) != ""


@pytest.mark.parametrize(
    ("resource", "native", "extended"),
    [
        ("cpu", True, False),
        ("gpu", True, False),
        ("hugepages-2Mi", True, False),
        ("nvidia.com/gpu", False, True),
        ("limits.nvidia.com/gpu", False, True),
        ("requests.nvidia.com/gpu", False, False),
        ("kubernetes.io/batch-cpu", True, False),
        ("attachable.kubernetes.io/x", True, False),
        ("example.com/" + "a" * 63, False, True),
        ("example.com/" + "a" * 64, False, False),
        (f"{'a' * 244}/x", False, True),
        (f"{'a' * 245}/x", False, False),
        ("NVIDIA.com/gpu", False, False),
    ],
    ids=lambda value: str(value)[:30],
)
def test_resources(resource: str, native: bool, extended: bool) -> None:
    assert names.is_native(resource) is native
    assert names.is_extended(resource) is extended


def test_hugepages() -> None:
    assert names.is_hugepages("hugepages-1Gi")
    assert not names.is_hugepages("memory")


@given(st.text(max_size=80))
def test_a_valid_value_is_a_valid_key_or_empty(text: str) -> None:
    if text:
        assert (names.label_value_problem(text) == "") == (
            "/" not in text and names.label_key_problem(text) == ""
        )


@given(st.text(max_size=300))
def test_a_resource_is_never_both(resource: str) -> None:
    assert not (names.is_native(resource) and names.is_extended(resource))
