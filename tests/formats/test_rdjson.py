"""rdjson: valid by reviewdog's schema, columns in bytes."""

from __future__ import annotations

import json

import jsonschema

from policykit.formats.rdjson import rdjson
from policykit.linter.finding import Report
from policykit.manifests.node import Span
from tests.formats.published import rdjson_schema
from tests.formats.reports import CONTEXT, EMPTY, FIXED, MIXED


def test_valid_by_the_schema() -> None:
    for report in (MIXED, EMPTY):
        jsonschema.validate(json.loads(rdjson(report, CONTEXT)), rdjson_schema())


def test_a_finding_with_its_suggestion() -> None:
    first_line = FIXED._replace(span=Span(1, 4, 1, 6))
    one, two = json.loads(rdjson(Report((first_line, FIXED), 1, 1), CONTEXT))["diagnostics"]
    assert one["location"]["range"] == {"start": {"line": 1, "column": 6}, "end": {"line": 1, "column": 12}}
    assert two == {
        "message": "50% of 'Job', it says: never [quota-key-never-counted]",
        "location": {
            "path": "apps/名.yaml",
            "range": {"start": {"line": 2, "column": 7}, "end": {"line": 2, "column": 10}},
        },
        "severity": "WARNING",
        "code": {"value": "PK206"},
        "suggestions": [
            {
                "range": {"start": {"line": 2, "column": 7}, "end": {"line": 2, "column": 10}},
                "text": "Pod",
            }
        ],
    }
