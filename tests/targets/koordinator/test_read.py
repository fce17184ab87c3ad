"""What a text holds of Koordinator's, with where it stands."""

from collections import Counter

from policykit.manifests.writer import dump
from policykit.model.queue import Queue
from policykit.model.topology import Level
from policykit.targets.koordinator.generate import generate
from policykit.targets.koordinator.read import read
from tests.targets.koordinator import policies

CONFIGURATION = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: koord-scheduler}]
"""
QUOTA = """\
apiVersion: scheduling.sigs.k8s.io/v1alpha1
kind: ElasticQuota
metadata: {name: team-a, namespace: koordinator-system}
spec: {min: {cpu: 1}, max: {cpu: 4}}
"""


def test_everything_that_is_generated_is_read() -> None:
    queues = (Queue("team-a", limit={policies.GPU: 16}), Queue("b", "team-a"))
    cluster = policies.cluster(queues=queues)._replace(levels=(Level("rack", "example.com/rack"),))
    files = [artifact.text for artifact in generate(cluster).artifacts if artifact.path.endswith(".yaml")]
    found = Counter(type(each.value).__name__ for text in files for each in read(text))
    assert found == {"Configuration": 1, "ElasticQuota": 2, "tuple": 1}


def test_documents_lists_and_strings() -> None:
    listed = f"apiVersion: v1\nkind: List\nitems:\n{_item(QUOTA)}"
    values = dump({"scheduler": {"config": CONFIGURATION}, "extra": [f"---\n{QUOTA}---\n{QUOTA}"]})
    places = [
        (type(each.value).__name__, each.document, each.path, each.inner)
        for each in read(f"{CONFIGURATION}---\n{listed}---\n{values}")
    ]
    assert places == [
        ("Configuration", 0, (), None),
        ("ElasticQuota", 1, ("items", 0), None),
        ("Configuration", 2, ("scheduler", "config"), ()),
        ("ElasticQuota", 2, ("extra", 0), ()),
        ("ElasticQuota", 2, ("extra", 0), ()),
    ]


def _item(text: str) -> str:
    first, *rest = text.splitlines()
    return "\n".join([f"- {first}", *(f"  {line}" for line in rest)]) + "\n"


def test_what_is_no_yaml_and_what_is_of_others() -> None:
    assert read("a: {{ .Values.b }}\n") == []
    assert read("apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: a}\n") == []
    assert read("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfigurations\n") == []
