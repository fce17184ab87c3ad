"""Whatever a policy says: what is generated from it runs nothing of it, and each line means what it says."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit import api
from policykit.errors import PolicykitError
from policykit.generator.bundle import bundle
from policykit.manifests.writer import dump
from policykit.policy.load import load_text
from tests.hostile import HOSTILE
from tests.policies import policies

TEXTS = (
    HOSTILE,
    "a\n# b\nc: d",
    "a\rb",
    "$(touch pwned)",
    "`touch pwned`",
    '";touch pwned;"',
    "';touch pwned;'",
    "--all",
    "../../x",
    "<img src=x>",
    "[x](y)",
    "-->",
    "\ud800",
)


def leaves(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(data, (dict, list)):
        for step, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from leaves(value, (*path, step))
    elif isinstance(data, str) and path[0] not in ("apiVersion", "kind"):
        yield path


def replaced(data: Any, path: tuple[Any, ...], text: str) -> Any:
    if not path:
        return text
    step, *rest = path
    if isinstance(data, dict):
        return {
            key: replaced(value, tuple(rest), text) if key == step else value for key, value in data.items()
        }
    return [replaced(value, tuple(rest), text) if n == step else value for n, value in enumerate(data)]


@settings(max_examples=80)
@given(st.data(), policies(), st.sampled_from(TEXTS), st.booleans())
def test_no_line_says_more(draw: st.DataObject, policy: dict[str, Any], text: str, behind: bool) -> None:
    path = draw.draw(st.sampled_from(sorted(leaves(policy), key=repr)))
    said = dump(replaced(policy, path, f"a{text}" if behind else text))
    try:
        cluster = load_text(
            said.encode("utf-8", errors="surrogatepass"), "policykit.yaml", lambda _: b""
        ).cluster
        generated = api.generate(cluster)
    except PolicykitError:
        return
    for file, content in bundle(cluster, generated).items():
        assert all(line.isprintable() for line in content.split("\n")), file
        assert os.path.normpath(file) == file
        assert not file.startswith(("/", ".."))
        if file.endswith(".yaml"):
            list(yaml.safe_load_all(content))
        if file.endswith(".md"):
            assert "<img" not in content
            assert "[x](y)" not in content.replace("\\[", "")
        if file.endswith((".sh", ".env")):
            assert "pwned" not in content
