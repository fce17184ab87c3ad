"""What is written, who owns it, and what is said."""

from typing import Any

import pytest

from policykit.errors import PolicykitError
from policykit.generator.artifact import Role, TargetOutput
from policykit.manifests.parser import parse
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool, Shape
from policykit.model.workload import WorkloadKind
from policykit.targets.koordinator.generate import generate
from policykit.targets.koordinator.versions import RELEASES
from tests.targets.koordinator.clusters import DONGLE, NODE, SEED_FIT, dongles


def _data(generated: TargetOutput, path: str) -> Any:
    (text,) = (artifact.text for artifact in generated.artifacts if artifact.path == path)
    (parsed,) = parse(text)
    assert parsed.root
    return parsed.root.data


def _messages(generated: TargetOutput) -> list[str]:
    return [notice.message for notice in generated.notices]


def _files(generated: TargetOutput) -> dict[str, Role]:
    return {artifact.path: artifact.role for artifact in generated.artifacts}


@pytest.mark.parametrize("delivery", ["", "post-render"])
def test_post_render_patches_what_the_chart_owns(delivery: str) -> None:
    generated = generate(dongles(delivery=delivery))
    assert _files(generated) == {
        "koordinator/post-render/kustomization.yaml": Role.COMPONENT,
        "koordinator/post-render/koord-scheduler-config.yaml": Role.COMPONENT,
        "koordinator/post-render/restart.yaml": Role.COMPONENT,
        "koordinator/README.md": Role.PAGE,
    }
    kustomization = _data(generated, "koordinator/post-render/kustomization.yaml")
    assert kustomization["kind"] == "Component"
    assert [f"koordinator/post-render/{patch['path']}" for patch in kustomization["patches"]] == [
        "koordinator/post-render/koord-scheduler-config.yaml",
        "koordinator/post-render/restart.yaml",
    ]


def test_manifest_and_its_restart() -> None:
    generated = generate(dongles(delivery="manifest", namespace="koord"))
    assert _files(generated) == {
        "koordinator/koord-scheduler-config.yaml": Role.MANIFEST,
        "koordinator/restart/kustomization.yaml": Role.COMPONENT,
        "koordinator/restart/restart.yaml": Role.COMPONENT,
        "koordinator/README.md": Role.PAGE,
    }
    assert _data(generated, "koordinator/koord-scheduler-config.yaml")["metadata"]["namespace"] == "koord"
    assert any("kubectl -n koord rollout restart deploy/koord-scheduler" in m for m in _messages(generated))


def test_helm_values_reach_nothing() -> None:
    generated = generate(dongles(delivery="helm-values"))
    assert f"no value of Koordinator's chart up to {RELEASES.newest}" in _messages(generated)[0]
    assert "koordinator/post-render/kustomization.yaml" in _files(generated)


def _checksum(generated: TargetOutput) -> str:
    (value,) = _data(generated, "koordinator/post-render/restart.yaml")["spec"]["template"]["metadata"][
        "annotations"
    ].values()
    assert isinstance(value, str)
    return value


def test_the_checksum_follows_the_configuration() -> None:
    heavier = {**SEED_FIT, DONGLE: {"type": "MostAllocated", "weight": 60}}
    assert _checksum(generate(dongles())) == _checksum(generate(dongles()))
    assert _checksum(generate(dongles())) != _checksum(generate(dongles(fit=heavier)))


BARE = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: koord-scheduler # ours
"""


def test_a_bare_configuration_is_wrapped() -> None:
    given = _data(generate(dongles(config=BARE)), "koordinator/post-render/koord-scheduler-config.yaml")
    assert given["metadata"] == {"name": "koord-scheduler-config", "namespace": "koordinator-system"}
    assert given["data"]["koord-scheduler-config"].startswith(BARE)


def test_a_config_map_keeps_its_own_words() -> None:
    inner = BARE.replace("\n", "\n    ").rstrip(" ")
    text = (
        f"# kept\nkind: ConfigMap\nmetadata: {{name: mine, labels: {{a: b}}}}\ndata:\n  conf: |\n    {inner}"
    )
    generated = generate(dongles(config=text))
    (written,) = (a.text for a in generated.artifacts if a.path.endswith("scheduler-config.yaml"))
    assert written.startswith(text)


JOB_PREEMPTION = (
    "the configuration has the chart's defaults of scheduler.enableJobPreemption, whatever your values of "
    "the chart say: if you set them, set targets.koordinator.coscheduling.enablePreemption too"
)
VALUES = (
    "the configuration has the chart's defaults of scheduler.enableJobPreemption and "
    "scheduler.deviceShare.gpuShareUnsupportedModels, whatever your values of the chart say: if you set "
    "them, set targets.koordinator.coscheduling.enablePreemption and "
    "targets.koordinator.deviceShare.gpuShareUnsupportedModels too"
)


def test_the_seeds_weights_are_explained() -> None:
    message, values = _messages(generate(dongles()))
    assert values == VALUES
    assert message == (
        "example.com/dongle: with weight 20 against cpu 2, memory 1, and 8 on a node, the fuller node is "
        "sure to win only with at least 2 more in use, since the use of cpu and memory may count against "
        "it. With weight 28 or more a single one decides"
    )


def test_1_6_0_is_written_in_what_it_can_start_with() -> None:
    generated = generate(dongles(version="1.6.0"))
    (written,) = (a.text for a in generated.artifacts if a.path.endswith("scheduler-config.yaml"))
    assert "kubescheduler.config.k8s.io/v1beta3\n" in written
    assert "kubescheduler.config.k8s.io/v1\n" not in written
    assert not any("image tag" in message for message in _messages(generated))


def test_default_weights_need_no_word() -> None:
    assert _messages(generate(dongles(fit={}))) == [VALUES]
    assert _messages(generate(dongles(fit={}, version="1.6.1"))) == []


NO_PREEMPTION: dict[str, Any] = {"coscheduling": {"enablePreemption": False}}
MODELS: dict[str, Any] = {"device_share": {"gpuShareUnsupportedModels": [{"vendor": "a", "model": "b"}]}}


@pytest.mark.parametrize(
    ("version", "args", "said"),
    [
        ("1.8.0", {}, [VALUES]),
        ("1.7.0", {}, [JOB_PREEMPTION]),
        ("1.6.1", {}, []),
        ("1.8.0", {**NO_PREEMPTION, **MODELS}, []),
        ("1.7.0", NO_PREEMPTION, []),
    ],
)
def test_values_of_the_chart_that_the_file_replaces(
    version: str, args: dict[str, Any], said: list[str]
) -> None:
    assert [
        m for m in _messages(generate(dongles(fit={}, version=version, args=args))) if "values" in m
    ] == said


@pytest.mark.parametrize(("args", "preempting"), [({}, False), (NO_PREEMPTION, True)])
def test_gangs_that_preempt_nothing_leave_pods_their_preemption(
    args: dict[str, Any], preempting: bool
) -> None:
    """As the chart does with scheduler.enableJobPreemption: false."""
    generated = generate(dongles(version="1.7.0", args=args))
    outer = _data(generated, "koordinator/post-render/koord-scheduler-config.yaml")
    (inner,) = parse(outer["data"]["koord-scheduler-config"])
    assert inner.root
    (profile,) = inner.root.data["profiles"]
    names = [each["name"] for each in profile["plugins"]["postFilter"]["enabled"]]
    assert ("DefaultPreemption" in names) == preempting


FLAT = {**SEED_FIT, DONGLE: {"type": "MostAllocated", "weight": 2}}
CLOSE = WorkloadKind("close", ("a", "b"), {"a": 100, "b": 99}, scheduler="koord-scheduler")
SPREAD = WorkloadKind("web", scheduler="koord-scheduler", placement="spread")
OLD = BARE.replace("config.k8s.io/v1", "config.k8s.io/v1beta3")
LOW = f"{BARE}    plugins: {{score: {{enabled: [{{name: Reservation, weight: 2}}]}}}}\n"

SAYS = {
    "weights too flat": (dongles(fit=FLAT), "sure to win with no difference in use"),
    "1.6.0 cannot start with v1": (
        dongles(version="1.6.0", config=BARE),
        "set the scheduler's image tag to v1.6.1",
    ),
    "1.8.0 does not read v1beta3": (
        dongles(version="1.8.0", config=OLD),
        "does not read apiVersion",
    ),
    "a resource nobody offers": (
        dongles(fit={**SEED_FIT, "x.io/y": {"type": "MostAllocated", "weight": 1}}),
        "fit has x.io/y, which no pool offers",
    ),
    "a kind that spreads": (dongles(workloads=(SPREAD,)), "workload kind web asks to be spread"),
    "reservations outweighed": (dongles(config=LOW), "Reservation weighs 2 at score"),
    "reservations outweighed by preference": (
        dongles(workloads=(CLOSE,)),
        "Reservation weighs 5000 at score",
    ),
}


@pytest.mark.parametrize(("cluster", "says"), SAYS.values(), ids=SAYS)
def test_what_is_said(cluster: Cluster, says: str) -> None:
    generated = generate(cluster)
    assert any(says in message for message in _messages(generated)), _messages(generated)
    assert generated.artifacts


@pytest.mark.parametrize("version", ["1.4.1", "1.5.0"])
def test_releases_without_the_plugin(version: str) -> None:
    generated = generate(dongles(version=version))
    assert generated.artifacts == ()
    assert "set scoringStrategy of NodeResourcesFit to type MostAllocated" in _messages(generated)[0]


def test_nothing_to_pack() -> None:
    generated = generate(dongles(fit={}, pool=Pool("cpu", (Shape({"cpu": 1}),))))
    assert generated.artifacts == ()
    assert "nothing to pack" in _messages(generated)[0]


def test_no_target() -> None:
    assert generate(dongles()._replace(targets={})) == TargetOutput()


WRONG = {
    "delivery": (dongles(delivery="ftp"), "delivery ftp is not known"),
    "profile": (dongles(config=BARE.replace("koord-scheduler", "x")), "no profile for schedulerName"),
    "configuration": (dongles(config="a: b\n"), "has 0 documents"),
}


@pytest.mark.parametrize(("cluster", "says"), WRONG.values(), ids=WRONG)
def test_what_the_user_must_mend(cluster: Cluster, says: str) -> None:
    with pytest.raises(PolicykitError, match=says):
        generate(cluster)


def test_cards_by_the_catalogues_count() -> None:
    pool = Pool("w", (Shape({k: v for k, v in NODE.items() if k != DONGLE}),), card="dongle")
    stated, counted = generate(dongles()), generate(dongles(pool=pool))
    assert counted.artifacts == stated.artifacts


@pytest.mark.parametrize(("version", "said"), [("1.6.0", True), ("1.6.1", False), ("1.8.0", False)])
def test_the_release_whose_fit_plus_panics(version: str, said: bool) -> None:
    found = [each for each in _messages(generate(dongles(version=version))) if "panics" in each]
    assert found == (
        [
            "koord-scheduler 1.6.0 panics in NodeResourcesFitPlus at any pod that requests "
            "ephemeral-storage: install 1.6.1, which does not"
        ]
        if said
        else []
    )
