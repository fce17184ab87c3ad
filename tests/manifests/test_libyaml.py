"""The parser of libyaml without the rest of PyYAML."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.shared import ROOT

TEXTS = [
    "a: 1\n---\nb: [2, &x y, *x]\n",
    "a: [1\n",
    "a: \x01\n",
    "a: b: c\n",
    "\tb: 1\n",
    "a: *none\n",
    "%YAML 3.0\n---\na\n",
    "a: 'x\n",
    "--- !!int x\n- !<tag> y\n",
    "{a: 1}}\n",
]
PARSE = """
import json, sys
{before}
from policykit.manifests.parser import parse
texts = json.load(sys.stdin)
found = [[(each.root and each.root.data, each.problem) for each in parse(text)] for text in texts]
loaded = [name for name in sys.modules if name.startswith("yaml.")]
{after}
json.dump([found, loaded], sys.stdout)
"""


def parsed(before: str = "", after: str = "") -> tuple[list[object], list[str]]:
    """What a new process makes of the texts, and the modules of PyYAML that it imports for that."""
    program = PARSE.format(before=before, after=after)
    done = subprocess.run(
        [sys.executable, "-c", program], input=json.dumps(TEXTS), capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    found, loaded = json.loads(done.stdout)
    return found, loaded


def test_documents_and_problems_are_the_same_as_with_all_of_pyyaml() -> None:
    found, loaded = parsed()
    assert loaded == ["yaml.error", "yaml.tokens", "yaml.events", "yaml.nodes", "yaml._yaml"]
    assert found == parsed(before="import yaml")[0]


def test_the_rest_of_pyyaml_is_there_for_who_wants_it() -> None:
    parsed(
        after="""
import yaml
assert yaml.load("a: [1, !!str 2]", Loader=yaml.CSafeLoader) == yaml.safe_load("a: [1, '2']")
assert yaml.safe_dump({"a": 1}) == "a: 1\\n"
assert yaml.scanner.ScannerError.__module__ == "yaml.scanner"
for loader in (yaml.SafeLoader, yaml.CSafeLoader):
    try:
        yaml.load("a: [", Loader=loader)
    except yaml.YAMLError as error:
        assert isinstance(error, yaml.MarkedYAMLError)
"""
    )
    parsed(after="from yaml import *; assert safe_load('a') == 'a'")
    parsed(after="import yaml.loader; from yaml import CSafeLoader; assert yaml.loader.SafeLoader('a')")


def test_a_release_whose_parser_needs_more_is_imported_as_a_whole() -> None:
    missing = "import types; types.SimpleNamespace = lambda **_: types.ModuleType('empty')"
    found, loaded = parsed(before=missing)
    assert "yaml.loader" in loaded
    assert found == parsed(before="import yaml")[0]
