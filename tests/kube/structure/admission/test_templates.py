"""Groups with templates stand beside the other checks, so that the module is imported for few objects."""

from policykit.kube.structure import admission
from policykit.kube.structure.admission import templates


def test_every_group_with_templates_is_checked() -> None:
    assert templates._TEMPLATES.keys() == admission._TEMPLATED
