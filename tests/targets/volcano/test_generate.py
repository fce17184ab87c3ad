from typing import Any

import pytest

from policykit.errors import PolicykitError
from policykit.generator.artifact import Artifact, Notice, Role, TargetOutput
from policykit.model.queue import PoolAffinity, Queue, Tenant
from policykit.targets.volcano import versions
from policykit.targets.volcano.generate import generate, object_artifacts, readme
from policykit.targets.volcano.names import CONFIG_FILE
from policykit.targets.volcano.scheduler.configuration import Configuration, Plugin, read
from tests.loaded import loaded, loaded_all
from tests.shared import SHARED
from tests.targets.volcano import racks
from tests.targets.volcano.clusters import GPU, POOLS, cluster, pool, without_paths

QUEUES = (
    Queue("train", guarantee={GPU: 64}, limit={"cpu": 100_000, "memory": 200 << 30, GPU: 128}),
    Queue("team-a", "train", deserved={GPU: 16}, priority=5),
)


def artifact(generated: TargetOutput, path: str) -> Artifact:
    return next(artifact for artifact in generated.artifacts if artifact.path == path)


def configuration(generated: TargetOutput) -> Configuration:
    data: Any = loaded(generated.artifacts[0].text)
    text = data["custom"]["scheduler_config_override"] if "custom" in data else data["data"][CONFIG_FILE]
    return without_paths(read(loaded(text)))


def messages(generated: TargetOutput) -> list[str]:
    return [notice.message for notice in generated.notices]


VALUES = """\
custom:
  scheduler_config_override: |
    # Every part of a node's score is 0 to 100 times its weight. Per 100:
    # Of two equal nodes the one with one more card in use wins, however full:
    #   nvidia.com/gpu, 8 per node:
    #   binpack 103 x (32 - 8 x 2) / (8 x 34) = 6.06 > 6
    #   where 6 = tainttoleration 3 + imagelocality 1 + podtopologyspread 2
    # An empty node of a preferred usage wins over a full one of another:
    #   nodeaffinity 110 x 100/100 = 110.00 > 109
    #   where 109 = binpack 103 + tainttoleration 3 + imagelocality 1 +
    #     podtopologyspread 2
    # Not in the sums, as pods must request it: podaffinity, own preferences.
    # leastrequested, mostrequested and balancedresource are 0: they score cpu
    # and memory, and would pull pods away from the node whose cards are in use.
    actions: enqueue, allocate, backfill
    tiers:
      - plugins:
          - name: priority
          - name: gang
            enablePreemptable: false
          - name: conformance
      - plugins:
          - name: overcommit
          - name: drf
            enablePreemptable: false
          - name: predicates
          - name: proportion
          - name: nodeorder
            arguments:
              leastrequested.weight: 0
              mostrequested.weight: 0
              balancedresource.weight: 0
              nodeaffinity.weight: 110
              podaffinity.weight: 2
              tainttoleration.weight: 3
              imagelocality.weight: 1
              podtopologyspread.weight: 2
          - name: binpack
            arguments:
              binpack.weight: 103
              binpack.cpu: 1
              binpack.memory: 1
              binpack.resources: nvidia.com/gpu
              binpack.resources.nvidia.com/gpu: 32
"""


def test_seed_000_as_helm_values() -> None:
    generated = generate(cluster())
    assert generated.artifacts[0] == Artifact("volcano/values.yaml", VALUES, Role.VALUES)
    assert [(made.path, made.role) for made in generated.artifacts[1:]] == [("volcano/README.md", Role.PAGE)]
    assert generated.notices == ()


def test_as_a_manifest() -> None:
    generated = generate(cluster(delivery="manifest", queues=QUEUES))
    assert [(made.path, made.role) for made in generated.artifacts] == [
        ("volcano/scheduler-configmap.yaml", Role.MANIFEST),
        ("volcano/queues.yaml", Role.MANIFEST),
        ("volcano/README.md", Role.PAGE),
    ]
    data = loaded(generated.artifacts[0].text)
    assert (data["apiVersion"], data["kind"]) == ("v1", "ConfigMap")
    assert data["metadata"] == {"name": "volcano-scheduler-configmap", "namespace": "volcano-system"}
    assert list(data["data"]) == ["volcano-scheduler.conf"]
    assert configuration(generated) == configuration(generate(cluster(queues=QUEUES)))


@pytest.mark.parametrize(
    ("queues", "version", "name", "flags"),
    [
        pytest.param((), "", "proportion", {}, id="no-queues"),
        pytest.param((Queue("a", weight=3, limit={GPU: 8}),), "", "proportion", {}, id="weights"),
        pytest.param((Queue("a", deserved={GPU: 8}),), "", "capacity", {}, id="deserved"),
        pytest.param((Queue("a", guarantee={GPU: 8}),), "", "capacity", {}, id="guarantee"),
        pytest.param(QUEUES, "", "capacity", {"enableHierarchy": True}, id="tree"),
        pytest.param(QUEUES, "1.10", "capacity", {}, id="tree-before-1.11"),
        pytest.param(QUEUES, "1.8", "proportion", {}, id="before-1.9"),
    ],
)
def test_one_plugin_shares_among_queues(
    queues: tuple[Queue, ...], version: str, name: str, flags: dict[str, bool]
) -> None:
    made = configuration(generate(cluster(queues=queues, version=version)))
    sharing = [plugin for tier in made.tiers for plugin in tier if plugin.name in ("proportion", "capacity")]
    assert sharing == [Plugin(name, flags)]


RECLAIM = (
    "plugin capacity without action reclaim: what a queue has lent returns only when the borrowing pods end"
)


def test_what_capacity_does_not_do_is_said() -> None:
    weighted = (Queue("a", weight=3, deserved={GPU: 8}), Queue("b", weight=2))
    assert messages(generate(cluster(queues=weighted))) == [
        RECLAIM,
        "plugin capacity shares by deserved and guarantee, so the weight of queue a, b has no effect",
    ]
    assert messages(generate(cluster(queues=QUEUES))) == [RECLAIM]


def test_a_chart_without_the_value_gets_a_manifest() -> None:
    generated = generate(cluster(version="1.9.1", delivery="helm-values"))
    assert generated.artifacts[0].path == "volcano/scheduler-configmap.yaml"
    assert generated.notices == (
        Notice(
            "volcano",
            "the chart of Volcano 1.9.1 has no value for the scheduler configuration (added in "
            "1.10.0): a ConfigMap is written instead. Apply it again after each helm upgrade, which "
            "restores the chart's own",
        ),
    )


LARGE = (*POOLS, pool("more", "training", 100))


def test_all_nodes_of_a_large_cluster_are_scored() -> None:
    generated = generate(cluster(pools=LARGE))
    values = loaded(generated.artifacts[0].text)
    assert values["custom"]["scheduler_percentage_nodes_to_find"] == 100
    assert generated.notices == ()


@pytest.mark.parametrize("target", [{"delivery": "manifest"}, {"version": "1.14.4"}], ids=str)
def test_where_only_a_sample_is_scored_it_is_said(target: dict[str, str]) -> None:
    generated = generate(cluster(pools=LARGE, **target))  # type: ignore[arg-type]
    assert "percentage" not in generated.artifacts[0].text
    assert messages(generated) == [
        "with 128 nodes Volcano scores only a sample of the nodes a pod fits on (all of them up to "
        "100 nodes), so it may miss a preferred or fuller node. Start the scheduler with "
        "--percentage-nodes-to-find=100"
    ]


def test_without_the_target_nothing_is_written() -> None:
    assert generate(cluster()._replace(targets={})) == TargetOutput()


def test_an_unknown_delivery() -> None:
    with pytest.raises(PolicykitError, match="Volcano has no delivery post-render"):
        generate(cluster(delivery="post-render"))


def test_the_page_names_each_file() -> None:
    page = artifact(generate(cluster(queues=QUEUES)), "volcano/README.md").text
    assert page.startswith(f"# Volcano {versions.RELEASES.newest}\n\n- `values.yaml`: ")
    assert "- `queues.yaml`: " in page
    assert "agent scheduler" in page
    assert "agent scheduler" not in artifact(generate(cluster(delivery="manifest")), "volcano/README.md").text


@pytest.mark.skipif(SHARED is None, reason="needs ../shared")
def test_queues_are_valid_by_the_crd() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    assert SHARED is not None
    crd = loaded((SHARED / "corpus/crds/volcano/scheduling.volcano.sh_queues.yaml").read_text())
    served = {version["name"]: version for version in crd["spec"]["versions"]}
    schema = served["v1beta1"]["schema"]["openAPIV3Schema"]
    queues = (*QUEUES, Queue("default", weight=4, reclaimable=False, limit={"cpu": 1500}))
    documents = list(loaded_all(artifact(generate(cluster(queues=queues)), "volcano/queues.yaml").text))
    assert [document["metadata"]["name"] for document in documents] == ["default", "train", "team-a"]
    known = schema["properties"]["spec"]["properties"]
    for document in documents:
        jsonschema.validate(document, schema)
        assert set(document["spec"]) <= set(known)


def test_objects_all_at_once() -> None:
    made = racks.cluster()._replace(
        queues=(Queue("a", pools=PoolAffinity(("train",))),), tenants=(Tenant("a", ("team-a",), "a"),)
    )
    files, notices = object_artifacts(made, versions.parse(""))
    assert [file.path for file in files] == [
        "volcano/hypernodes.yaml",
        "volcano/nodegroups.sh",
        "volcano/namespaces/team-a.yaml",
        "volcano/namespaces/kustomization.yaml",
    ]
    assert len(notices) == 1


def test_no_objects_where_the_policy_needs_none() -> None:
    assert object_artifacts(racks.cluster(levels=()), versions.parse("")) == ((), ())


def test_the_readme_describes_every_file() -> None:
    release = versions.parse("1.15.0")
    paths = ["volcano/values.yaml", "volcano/queues.yaml", "volcano/namespaces/kustomization.yaml"]
    shown = readme([*paths, "volcano/namespaces/team-a.yaml"], "volcano-system", release, agent=False)
    assert all(f"- `{path.removeprefix('volcano/')}`: " in shown for path in paths)
    with pytest.raises(KeyError, match=r"new\.yaml"):
        readme([*paths, "volcano/new.yaml"], "volcano-system", release, agent=False)
