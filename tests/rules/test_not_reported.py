"""What must not be reported: each item of the list, and the good cases that hold it."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from policykit import api
from tests.clusters import profile

FOLDER = Path(__file__).parent
SEED = "hybrid-volcano"

ITEMS: dict[str, tuple[tuple[str, str], ...]] = {
    "tolerations that a pool injects": (("missing-toleration", "the pool injects what is missing"),),
    "tolerations of a webhook, as pools declare it": (
        ("missing-toleration", "a webhook adds the tolerations, as the pool says"),
        ("attracted-but-repelled", "a webhook adds the toleration, as the pool says"),
        ("lost-fallback", "a webhook adds the toleration, as the pool says"),
    ),
    "what a ClusterColocationProfile gives": (
        ("wrong-scheduler-for-kind", "a ClusterColocationProfile of the policy gives it"),
        ("scheduler-metadata-ignored", "a ClusterColocationProfile of the policy gives the scheduler"),
        ("qos-priority-conflict", "a ClusterColocationProfile of the policy gives the priority"),
        ("qos-priority-conflict", "a ClusterColocationProfile of the policy translates the requests"),
    ),
    "what admission gives to the pods of a namespace": (
        ("wrong-scheduler-for-kind", "a ClusterColocationProfile for the namespace gives it"),
        ("wrong-scheduler-for-kind", "YuniKorn's admission controller gives it to the namespace"),
        (
            "scheduler-metadata-ignored",
            "YuniKorn's admission controller in a namespace that the policy's settings take",
        ),
    ),
    "tolerations of a provider's admission": (
        ("missing-toleration", "the cloud tolerates the requested resource"),
    ),
    "Kueue's flavours": (
        ("missing-toleration", "Kueue adds tolerations when it admits the job"),
        ("card-model-not-stated", "Kueue chooses by flavour"),
        ("gang-not-declared", "Kueue admits all or nothing"),
        ("scheduler-metadata-ignored", "Kueue keeps every scheduler"),
    ),
    "daemons of the device stack": (
        ("tolerated-but-not-selected", "a daemon of the cards"),
        ("tolerates-everything", "a DaemonSet serves every node"),
        ("card-not-requested", "a component of the device stack"),
        ("dead-toleration", "a daemon of the cards"),
        ("control-plane-toleration", "a daemon of the cards"),
        ("wrong-card", "a daemon of the cards for other cards"),
    ),
    "kube-system": (
        ("tolerated-but-not-selected", "kube-system"),
        ("tolerates-everything", "a pod of kube-system"),
        ("card-not-requested", "kube-system"),
    ),
    "partial documents": (
        ("missing-toleration", "a partial patch lacks nothing"),
        ("missing-preference", "a partial patch"),
        ("wrong-scheduler-for-kind", "a patch leaves it to its base"),
        ("invalid-field", "a patch of the image, without selector and labels"),
        ("card-request-limit-mismatch", "a partial document says only what it changes"),
        ("job-shape", "nothing is missing from a partial document"),
        ("queue-tree-broken", "a patch says only what changes"),
    ),
    "labels that discovery adds late": (
        ("unknown-node-label", "a label that discovery sets late"),
        ("unsatisfiable-affinity", "discovery may set that value"),
    ),
    "DRA claims": (
        ("missing-toleration", "a card claimed through DRA"),
        ("card-not-requested", "a card claimed through DRA"),
        ("cpu-workload-on-card-pool", "a card claimed through DRA"),
    ),
    "virtual nodes": (("negative-only-selection", "keeping off virtual nodes"),),
    "suspended or gated pods": (
        ("missing-toleration", "gated pods are not scheduled yet"),
        ("attracted-but-repelled", "suspended"),
        ("lost-fallback", "suspended"),
        ("missing-usage-affinity", "suspended"),
    ),
    "well-known and providers' labels": (
        ("unknown-node-label", "a well-known label"),
        ("unknown-node-label", "a provider's label"),
        ("unsatisfiable-affinity", "a cloud's own value"),
    ),
    "launchers, heads, drivers, parameter servers": (
        ("missing-usage-affinity", "a launcher without cards"),
        ("missing-preference", "a launcher without cards"),
        ("lost-fallback", "a launcher without cards"),
        ("card-not-requested", "a launcher beside workers with cards"),
        ("partial-gang", "parameter servers go on with fewer workers"),
        ("gang-without-group", "a driver makes the pods of its other task group"),
    ),
    "ordinary workloads without cards": (
        ("missing-toleration", "a web server without cards"),
        ("unknown-node-label", "a web server without cards"),
        ("no-feasible-pool", "a web server without cards, whatever the coverage"),
        ("queue-metadata-misplaced", "a Deployment without cards has a label queue of its own"),
        ("missing-requests", "no card"),
    ),
    "CriticalAddonsOnly, spot and other clouds' tolerations": (
        ("tolerated-but-not-selected", "a web server with tolerations of clouds"),
        ("tolerated-but-not-selected", "spot nodes beside others"),
        ("card-not-requested", "a web server with tolerations of clouds"),
    ),
    "one of several files seen alone": (
        ("unknown-queue", "one of several files, without a policy that says what the others hold"),
        ("unknown-priority-class", "one of several files seen alone"),
        ("queue-tree-broken", "the parent may stand in another file"),
        ("guarantee-exceeds-parent", "the other children may stand in other files"),
        ("patch-replaces-list", "a patch seen alone"),
    ),
    "bases and overlays counted twice": (
        ("queue-tree-broken", "the same object twice, a base and what was built of it"),
        ("invalid-priority-class", "a base and its overlay are one class"),
        ("patch-replaces-list", "the entries of the base are there too"),
    ),
}

GROUP = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata:
  name: train
spec:
  minMember: 8
"""
MEMBERS = """\
apiVersion: v1
kind: Pod
metadata:
  name: train-0
  annotations:
    scheduling.k8s.io/group-name: train
spec:
  schedulerName: volcano
  containers:
  - name: main
    image: registry.example/train:1
    resources:
      requests: {cpu: 1, memory: 1Gi}
"""
CHART = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-train
spec:
  template:
    spec:
      restartPolicy: Never
      {{- with .Values.tolerations }}
      tolerations: {{- toYaml . | nindent 6 }}
      {{- end }}
      containers:
      - name: main
        image: {{ .Values.image }}
        resources:
          limits:
            nvidia.com/gpu: {{ .Values.cards }}
"""


@cache
def cases() -> dict[tuple[str, str], Any]:
    found = {}
    for path in sorted(FOLDER.glob("*/cases/*.yaml")):
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        found.update({(data["rule"], case["name"]): case for case in data.get("good") or ()})
    return found


@pytest.mark.parametrize("item", ITEMS)
def test_each_item_has_good_cases(item: str) -> None:
    missing = [each for each in ITEMS[item] if each not in cases()]
    assert not missing, "tests/rules/<family>/cases lack these good cases"


@pytest.mark.parametrize("text", [GROUP, MEMBERS], ids=["the group", "a member"])
@pytest.mark.parametrize("policy", [None, SEED])
def test_one_file_of_a_gang_alone(text: str, policy: str | None) -> None:
    """Nothing is said to be absent where other files may hold it."""
    cluster = profile(policy) if policy else None
    report = api.lint_texts({"gang.yaml": text.encode()}, cluster, complete=False)
    assert [one.code for one in report.findings] == []


@pytest.mark.parametrize("policy", [None, SEED])
def test_a_template_of_a_chart(policy: str | None) -> None:
    """What is only YAML once rendered is passed over, and the report says so."""
    cluster = profile(policy) if policy else None
    report = api.lint_texts({"templates/job.yaml": CHART.encode()}, cluster)
    assert report.findings == ()
    assert report.skipped == (("templates/job.yaml", "a template, YAML only once rendered"),)
