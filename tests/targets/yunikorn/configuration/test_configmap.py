"""ConfigMaps and Helm values that carry a configuration."""

import gzip
from base64 import b64encode
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from policykit.manifests.path import Path, lookup
from policykit.model.queue import Queue
from policykit.targets.yunikorn.configuration import queues_yaml
from policykit.targets.yunikorn.configuration.configmap import entries, source, unpack
from policykit.targets.yunikorn.generate import generate
from policykit.targets.yunikorn.policy_configuration import policy_configuration
from tests.targets.yunikorn.clusters import cluster, target

QUEUES = "partitions:\n  - name: default\n    queues:\n      - name: root\n"


def config_map(data: object, name: str = "yunikorn-configs") -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


@pytest.mark.parametrize(
    ("data", "path"),
    [
        (config_map({"queues.yaml": QUEUES}), ("data", "queues.yaml")),
        (config_map({"queues.yaml": QUEUES}, "yunikorn-defaults"), ("data", "queues.yaml")),
        (
            config_map({"service.policyGroup": "mine", "queues.yaml": "", "mine.yaml": QUEUES}),
            ("data", "mine.yaml"),
        ),
        ({"yunikornDefaults": {"queues.yaml": QUEUES}}, ("yunikornDefaults", "queues.yaml")),
        (config_map({"queues.yaml": QUEUES}, "other"), ()),
        (config_map({"queues.yaml": 5}), ()),
        (config_map(None), ()),
        ({"kind": "Secret", "yunikornDefaults": {"queues.yaml": QUEUES}}, ()),
        ({"partitions": []}, ()),
        (None, ()),
    ],
    ids=[
        "config-map",
        "defaults",
        "policy-group",
        "helm-values",
        "other-config-map",
        "no-text",
        "no-data",
        "other-kind",
        "queues",
        "empty",
    ],
)
def test_source(data: object, path: Path) -> None:
    assert source(data) == (path, QUEUES if path else "")


@pytest.mark.parametrize("delivery", ["manifest", "helm-values"])
def test_what_is_generated_reads_back(delivery: str) -> None:
    made = cluster(Queue("a", limit={"cpu": 1500}), Queue("b", "a"), delivery=delivery)
    data = yaml.safe_load(generate(made).artifacts[0].text)
    path, text = source(data)
    assert lookup(data, path) == text
    wanted = policy_configuration(made, target(made)).configuration
    assert queues_yaml.read(yaml.safe_load(text)) == wanted


def test_entries_of_either_config_map() -> None:
    assert entries(QUEUES, "mine", {"log.level": "debug"}) == {
        "log.level": "debug",
        "service.policyGroup": "mine",
        "mine.yaml": QUEUES,
    }
    assert entries(QUEUES, "queues", {}) == {"queues.yaml": QUEUES}


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
