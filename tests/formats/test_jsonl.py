"""One line per finding, each as in the json format."""

from __future__ import annotations

import json

from policykit.formats.json import json_text
from policykit.formats.jsonl import jsonl
from tests.formats.reports import AROUND, EMPTY, MIXED


def test_lines() -> None:
    lines = [json.loads(line) for line in jsonl(MIXED, AROUND).splitlines()]
    assert lines == json.loads(json_text(MIXED))["findings"]
    assert jsonl(EMPTY, AROUND) == ""
