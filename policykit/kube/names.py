"""Syntax of label keys and values, DNS names and resource names."""

from __future__ import annotations

import re
from functools import lru_cache

_NAME = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?\Z")
_LABEL = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?\Z")
_SUBDOMAIN = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*\Z")
_NAME_RULE = "must begin and end with a letter or digit, with only letters, digits, '-', '_' and '.' between"
_DNS_RULE = "must begin and end with a lower-case letter or digit, with only those and '-' between"
_MAX_NAME = 63
_MAX_SUBDOMAIN = 253


@lru_cache(maxsize=1024)
def label_key_problem(key: str) -> str:
    """The problem of a label or taint key, as a predicate; empty: it is valid.

    Source: apimachinery `validation.IsQualifiedName` (v1.36).
    """
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        return "has more than one '/'"
    if slash and not prefix:
        return "has nothing before the '/'"
    if slash and (problem := dns_subdomain_problem(prefix)):
        return f"has the prefix {prefix!r}, which {problem}"
    return _name_problem(name, "has no name after the '/'" if slash else "is empty")


@lru_cache(maxsize=1024)
def label_value_problem(value: str) -> str:
    """The problem of a label or taint value, as a predicate; empty: it is valid. "" is valid."""
    return _name_problem(value, "")


def _name_problem(name: str, when_empty: str) -> str:
    if not name:
        return when_empty
    if not name.isascii():
        return "has characters other than ASCII letters, digits, '-', '_' and '.'"
    return _too_long(name, _MAX_NAME) or ("" if _NAME.match(name) else _NAME_RULE)


def dns_label_problem(name: str) -> str:
    """The problem of an RFC 1123 label (one part of a host name); empty: it is valid."""
    if not name:
        return "is empty"
    return _too_long(name, _MAX_NAME) or ("" if _LABEL.match(name) else _DNS_RULE)


def dns_subdomain_problem(name: str) -> str:
    """The problem of an RFC 1123 subdomain (labels joined by dots); empty: it is valid."""
    if not name:
        return "is empty"
    if problem := _too_long(name, _MAX_SUBDOMAIN):
        return problem
    return "" if _SUBDOMAIN.match(name) else f"is not a DNS name, whose parts between dots {_DNS_RULE}"


def _too_long(name: str, limit: int) -> str:
    return f"has {len(name)} characters, the limit is {limit}" if len(name) > limit else ""


def is_native(resource: str) -> bool:
    """Owned by Kubernetes: no domain, or `kubernetes.io/` anywhere (`kubernetes.io/batch-cpu`).

    Source: `IsNativeResource` in kubernetes `pkg/apis/core/v1/helper` (v1.36).
    """
    return "/" not in resource or "kubernetes.io/" in resource


@lru_cache(maxsize=1024)
def is_extended(resource: str) -> bool:
    """A device-like resource: whole amounts, request equal to limit (nvidia.com/gpu).

    Source: `IsExtendedResourceName` in kubernetes `pkg/apis/core/v1/helper` (v1.36).
    """
    if is_native(resource) or resource.startswith("requests."):
        return False
    return not label_key_problem(f"requests.{resource}")


def is_hugepages(resource: str) -> bool:
    """Whether it is a huge pages resource, such as `hugepages-2Mi`."""
    return resource.startswith("hugepages-")
