"""Plain scalars as sigs.k8s.io/yaml reads them."""

import math

import pytest

from policykit.manifests.scalars import resolve, tagged


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("Null", None),
        ("nul", "nul"),
        ("true", True),
        ("yes", True),
        ("on", True),
        ("Y", True),
        ("off", False),
        ("No", False),
        ("nO", "nO"),
        ("0", 0),
        ("8", 8),
        ("-8", -8),
        ("+8", 8),
        ("1_000", 1000),
        ("0777", 511),
        ("0o17", 15),
        ("0x1F", 31),
        ("0b101", 5),
        ("08", 8.0),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("12:30", "12:30"),
        ("12:30:45", "12:30:45"),
        ("2026-11-21", "2026-11-21"),
        ("1.2.3", "1.2.3"),
        ("10Gi", "10Gi"),
        ("500m", "500m"),
        ("-", "-"),
        (".", "."),
        ("--1", "--1"),
        (".inf", math.inf),
        ("-.inf", -math.inf),
        ("nvidia.com/gpu", "nvidia.com/gpu"),
        ("1" * 401, "1" * 401),
    ],
)
def test_resolve(text: str, value: object) -> None:
    found = resolve(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("tag", "text", "value"),
    [
        ("tag:yaml.org,2002:str", "8", "8"),
        ("tag:yaml.org,2002:int", "8", 8),
        ("tag:yaml.org,2002:bool", "yes", True),
        ("tag:yaml.org,2002:null", "x", None),
        ("!Ref", "8", "8"),
    ],
)
def test_tagged(tag: str, text: str, value: object) -> None:
    assert tagged(tag, text) == value
