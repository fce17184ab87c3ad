"""Any policy: what `gen` writes for it is YAML, is right by every rule, and is the same each time."""

import yaml
from hypothesis import HealthCheck, given, settings

from policykit import api
from policykit.errors import PolicykitError
from policykit.generator.bundle import bundle
from policykit.model.cluster import Cluster
from tests.policies import clusters


def files(cluster: Cluster) -> dict[str, str]:
    """The generated files; none where a target refuses the policy, which names the way out."""
    try:
        return bundle(cluster, api.generate(cluster))
    except PolicykitError as error:
        if not error.hint:
            raise
        return {}


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(clusters())
def test_what_is_generated_lints_clean(cluster: Cluster) -> None:
    texts = {path: text.encode() for path, text in files(cluster).items() if path.endswith(".yaml")}
    for text in texts.values():
        list(yaml.safe_load_all(text))
    report = api.lint_texts(texts, cluster)
    assert [f"{f.path}:{f.span.line} {f.code} {f.message}" for f in report.findings] == []
    assert not report.failures


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(clusters())
def test_the_same_again(cluster: Cluster) -> None:
    assert files(cluster) == files(cluster)
