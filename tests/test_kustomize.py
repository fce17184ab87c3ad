"""The generated components under real kustomize, and `patch`: semantically the same pods."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from policykit import api
from policykit.generator.bundle import bundle
from policykit.kube import podsets
from policykit.kube.podsets import queues
from policykit.manifests.writer import dump_all
from policykit.model.cluster import Cluster
from policykit.model.pool import Card
from policykit.model.workload import WorkloadKind
from policykit.placement.desired_placement import desired_placement
from policykit.placement.recognition import CARD_KEY, WORKLOAD_KEY
from policykit.targets import target_name_of
from policykit.targets.workloads.components import BUILT_IN
from policykit.targets.workloads.patch_options import PatchOptions
from policykit.targets.workloads.stream import ManifestText, patch
from tests.clusters import policy, profile
from tests.targets.workloads.policies import CLUSTERS as ASKING
from tests.targets.workloads.policies import KOORDINATED, QUEUED
from tests.test_loop import MIXED, VOLCANO, bare
from tests.tools import tool

CLUSTERS: dict[str, Cluster] = {
    "hybrid-volcano": profile("hybrid-volcano"),
    "koordinator-binpack": profile("koordinator-binpack"),
    "mixed": policy(MIXED),
    "queued": policy(QUEUED),
    "koordinated": policy(KOORDINATED),
    **ASKING,
}


def components() -> Iterator[Any]:
    for name, cluster in CLUSTERS.items():
        for workload in cluster.workloads.values():
            for card in (*cluster.cards.values(), None):
                if desired_placement(cluster, workload, card).pools:
                    folder = f"{workload.name}-{card.name if card else 'helpers'}"
                    yield pytest.param(cluster, workload, card, folder, id=f"{name} {folder}")


def manifests(cluster: Cluster, card: Card | None, kind_label: str = "training") -> list[dict[str, Any]]:
    """The smallest manifest of every kind, each with a name of its own and labelled; one card, or none."""
    asked = card or next(iter(cluster.cards.values()))
    made = []
    for kind in (*BUILT_IN, VOLCANO):
        manifest = bare(kind, asked)
        manifest["metadata"]["name"] = kind.kind.lower().replace(" ", "-")
        manifest["metadata"].setdefault("labels", {})[WORKLOAD_KEY] = kind_label
        if card is None:
            (pod_set,) = podsets.pod_sets(manifest)
            del pod_set.spec["containers"][0]["resources"]
        made.append(manifest)
    return made


def by_name(stream: bytes | str) -> dict[str, Any]:
    return {data["metadata"]["name"]: data for data in yaml.safe_load_all(stream) if data}


def built(folder: Path, cluster: Cluster, component: str, objects: list[dict[str, Any]]) -> dict[str, Any]:
    """What `kustomize build` makes of the objects with a generated component."""
    for path, text in bundle(cluster, api.generate(cluster, ("workloads",))).items():
        (folder / "generated" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "generated" / path).write_text(text)
    (folder / "app").mkdir()
    (folder / "app" / "objects.yaml").write_text(dump_all(objects))
    (folder / "app" / "kustomization.yaml").write_text(
        f"resources: [objects.yaml]\ncomponents: [../generated/workloads/{component}]\n"
    )
    build = [tool("kustomize"), "build", str(folder / "app")]
    done = subprocess.run(build, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return by_name(done.stdout)


def meaning(cluster: Cluster, data: dict[str, Any]) -> dict[str, Any]:
    """What counts of an object's one pod set, wherever its kind keeps it and in whatever order."""
    (pod_set,) = podsets.pod_sets(data)
    (review,) = api.where(dump_all([data]).encode(), cluster)
    # A Volcano Job hands its priority class to pods that have none.
    priority = pod_set.spec.get("priorityClassName") or data.get("spec", {}).get("priorityClassName")
    target_name = target_name_of(pod_set.scheduler_name, cluster)
    queue = queues.read(data, pod_set, target_name) if target_name else None
    return {
        "tolerations": {yaml.safe_dump(one) for one in pod_set.spec.get("tolerations", [])},
        "affinity": pod_set.spec.get("affinity"),
        "spread": {yaml.safe_dump(one) for one in pod_set.spec.get("topologySpreadConstraints", [])},
        "selector": pod_set.spec.get("nodeSelector"),
        "scheduler": pod_set.scheduler_name,
        "priority": priority,
        "queue": queue.value if queue else None,
        "labels": dict(pod_set.labels),
        "annotations": dict(pod_set.annotations),
        "owner": data["metadata"].get("labels"),
        "network": data.get("spec", {}).get("networkTopology"),
        "landings": [(landing.pool.name, landing.verdict) for landing in review.landings],
        "workload": review.workload.name if review.workload else None,
    }


@pytest.mark.parametrize(("cluster", "workload", "card", "folder"), list(components()))
def test_component_and_patch_give_the_same_pods(
    cluster: Cluster, workload: WorkloadKind, card: Card | None, folder: str, tmp_path: Path
) -> None:
    objects = manifests(cluster, card, workload.name)
    names = tuple(f"{data['kind']}/{data['metadata']['name']}" for data in objects)
    asked = PatchOptions(workload.name, card.name if card else "", only=names)
    by_patch = by_name(patch(ManifestText("a.yaml", dump_all(objects).encode()), cluster, asked).raw)
    by_kustomize = built(tmp_path, cluster, folder, objects)
    assert list(by_patch) == [data["metadata"]["name"] for data in objects]
    assert by_kustomize.keys() == by_patch.keys()
    for name in by_patch:
        ours, theirs = meaning(cluster, by_patch[name]), meaning(cluster, by_kustomize[name])
        for field in unread(cluster, workload, name):
            for one in (ours, theirs):
                one.pop(field)
        assert ours == theirs, name


def unread(cluster: Cluster, workload: WorkloadKind, name: str) -> tuple[str, ...]:
    """What a component cannot say of an object: see the test below for what patch does."""
    target_name = target_name_of(workload.scheduler, cluster)
    if name != "volcano-job":
        # YuniKorn's application is called after the object.
        return ("labels", "owner", "affinity") if target_name == "yunikorn" and workload.within else ()
    # A component cannot label a task whose template may have no labels yet.
    if target_name in ("koordinator", "yunikorn"):
        return ("labels", "queue", "spread", "affinity")
    return ("labels", "spread") if workload.across else ()


def test_what_only_patch_says() -> None:
    for name, target_name in (("koordinator", "koordinator"), ("yunikorn", "yunikorn")):
        cluster = CLUSTERS[name]
        objects = manifests(cluster, cluster.cards["h20"])
        asked = PatchOptions("training", "h20")
        by_patch = by_name(patch(ManifestText("a.yaml", dump_all(objects).encode()), cluster, asked).raw)
        ours = meaning(cluster, by_patch["volcano-job"])
        assert ours["queue"] == {"koordinator": "research", "yunikorn": "root.research"}[target_name]
        assert len(ours["spread"]) == 1
    assert (
        meaning(cluster, by_patch["deployment"])["labels"]["yunikorn.apache.org/app-id"]
        == "deployment-deployment"
    )


def test_what_differs_is_known_a_component_replaces_tolerations(tmp_path: Path) -> None:
    cluster = CLUSTERS["hybrid-volcano"]
    spot = {"key": "example.com/spot", "operator": "Exists"}
    objects = [manifests(cluster, cluster.cards["h20"])[1]]
    objects[0]["spec"]["template"]["spec"]["tolerations"] = [spot]
    asked = PatchOptions("training")
    by_patch = by_name(patch(ManifestText("a.yaml", dump_all(objects).encode()), cluster, asked).raw)[
        "deployment"
    ]
    by_kustomize = built(tmp_path, cluster, "training-h20", objects)["deployment"]
    theirs = by_kustomize["spec"]["template"]["spec"]["tolerations"]
    assert spot not in theirs
    assert by_patch["spec"]["template"]["spec"]["tolerations"] == [spot, *theirs]
    notice = (tmp_path / "generated/workloads/training-h20/kustomization.yaml").read_text()
    assert "# These patches replace the affinity and tolerations of a workload." in notice


def test_spreading_of_the_workloads_own_stays(tmp_path: Path) -> None:
    """Both merge constraints by topologyKey and whenUnsatisfiable, and say the same of those two."""
    cluster = CLUSTERS["volcano"]
    objects = [manifests(cluster, cluster.cards["h20"])[1]]
    own = {"topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 3}
    loose = {**own, "whenUnsatisfiable": "ScheduleAnyway", "minDomains": 2}
    objects[0]["spec"]["template"]["spec"]["topologySpreadConstraints"] = [own, loose]
    asked = PatchOptions("training")
    by_patch = by_name(patch(ManifestText("a.yaml", dump_all(objects).encode()), cluster, asked).raw)[
        "deployment"
    ]
    by_kustomize = built(tmp_path, cluster, "training-h20", objects)["deployment"]
    theirs, ours = (meaning(cluster, one)["spread"] for one in (by_kustomize, by_patch))
    assert ours == theirs
    assert yaml.safe_dump(own) in ours
    assert len(ours) == 2


def test_a_component_patches_nothing_but_objects_of_its_kind_and_card(tmp_path: Path) -> None:
    cluster = CLUSTERS["mixed"]
    (deployment,) = (one for one in manifests(cluster, None) if one["kind"] == "Deployment")
    labels: dict[str, dict[str, str]] = {
        "ours": {WORKLOAD_KEY: "inference"},
        "ours-by-card": {WORKLOAD_KEY: "inference", CARD_KEY: "h20"},
        "another-card": {WORKLOAD_KEY: "inference", CARD_KEY: "l20"},
        "another-kind": {WORKLOAD_KEY: "training"},
        "unlabelled": {},
    }
    objects = [
        {**deepcopy(deployment), "metadata": {"name": name, "labels": each}} for name, each in labels.items()
    ]
    objects.append(
        {**deepcopy(deployment), "kind": "DaemonSet", "metadata": {"name": "agent", "labels": labels["ours"]}}
    )
    made = built(tmp_path, cluster, "inference-h20", objects)
    patched = {name for name, each in made.items() if "affinity" in each["spec"]["template"]["spec"]}
    assert patched == {"ours", "ours-by-card"}
