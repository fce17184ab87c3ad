"""Which object a patch of a kustomization is for."""

import pytest

from policykit.linter.built.patches import is_for
from policykit.manifests.document import Manifest, manifests
from policykit.manifests.parser import parse


def made(name: str) -> Manifest:
    (parsed,) = parse(f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n")
    assert parsed.root is not None
    return next(manifests(parsed.root, 0))


@pytest.mark.parametrize(
    ("wanted", "name", "chosen"),
    [
        ("web", "web", True),
        ("web", "web-2", False),
        ("web.*", "web-2", True),
        ("web|api", "api", True),
        ("(web", "web", False),
        ("a{99999999999999999999}", "a", False),
        ("(a+)+", "a" * 50 + "-", False),
    ],
)
def test_a_target_names_objects_by_an_expression(wanted: str, name: str, chosen: bool) -> None:
    one = made(name)
    assert is_for({"kind": "ConfigMap", "name": wanted}, None, one, one) is chosen
