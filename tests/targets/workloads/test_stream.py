"""Manifests in, manifests out: what changes, what passes, what is refused."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit import api
from policykit.errors import PolicykitError
from policykit.kube import podsets
from policykit.linter.reader import is_partial
from policykit.manifests.document import manifests
from policykit.manifests.extents import slices
from policykit.manifests.parser import parse
from policykit.manifests.patch import Patch, patched
from policykit.manifests.path import lookup
from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster
from policykit.targets.workloads.apply import apply_kinds
from policykit.targets.workloads.patch_options import PatchOptions
from policykit.targets.workloads.stream import ManifestText, PatchedText, patch
from tests.clusters import policy, profile
from tests.shared import SHARED
from tests.targets.workloads.policies import CLUSTERS, KOORDINATED, QUEUED

HYBRID = profile("hybrid-volcano")
POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: a
  labels: {policykit.io/workload: training}
spec:
  schedulerName: volcano
  containers:
  - {name: a, image: 'registry.example/a:1', resources: {limits: {nvidia.com/gpu: 1}}}
"""
PLACED = """\
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions:
          - key: maip.mxsf.io/node.usage
            operator: In
            values:
            - training
            - hybrid
      preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        preference:
          matchExpressions:
          - key: maip.mxsf.io/node.usage
            operator: In
            values:
            - training
  tolerations:
  - key: maip.mxsf.io/node.usage
    operator: Equal
    value: training
    effect: NoSchedule
  - key: maip.mxsf.io/node.usage
    operator: Equal
    value: hybrid
    effect: NoSchedule
  - key: nvidia.com/gpu.product
    operator: Equal
    value: NVIDIA-H20
    effect: NoSchedule
"""


def run(text: str | bytes, cluster: Cluster = HYBRID, **asked: Any) -> PatchedText:
    raw = text if isinstance(text, bytes) else text.encode()
    return patch(ManifestText("a.yaml", raw), cluster, PatchOptions(**asked))


def test_a_pod_gets_its_placement() -> None:
    found = run(POD)
    assert found.raw.decode() == POD + PLACED
    assert (found.changed, found.objects, found.notes) == (("Pod/a",), ("Pod/a",), ())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("\ufeff", ""),
        ("# first\n---\n", "---\nkind: Service\n# last"),
        ("---\n---\n# nothing\n---\n", "...\n"),
        ("a: 1 # not Kubernetes\n---\n", "---\n- 1\n---\n"),
        ("--- # here\n", ""),
        ("%YAML 1.1\n---\n", ""),
        ("", "---\n{}\n--- |\n  text\n"),
    ],
    ids=["BOM", "comments", "empty documents", "foreign", "marker", "directive", "scalars"],
)
def test_what_stands_around_stays(before: str, after: str) -> None:
    assert run(before + POD + after).raw.decode() == before + POD + PLACED + after


def test_crlf_stays() -> None:
    found = run(f"a: 1\r\n---\r\n{POD}---\r\n".replace("\r\n", "\n").replace("\n", "\r\n"))
    text = found.raw.decode()
    assert text == f"a: 1\n---\n{POD}{PLACED}---\n".replace("\n", "\r\n")


def test_line_breaks_that_nobody_means_are_named() -> None:
    with pytest.raises(PolicykitError) as caught:
        run(f"# a\n{POD}".replace("\n", "\r"))
    assert str(caught.value) == (
        "a.yaml: a line ends with U+000D\n  help: end all lines with LF, or all with CR LF"
    )


def test_no_final_newline_is_added() -> None:
    assert run(POD.removesuffix("\n")).raw.decode() == (POD + PLACED).removesuffix("\n")


PARTIAL = POD.replace("    - {name", "    - {name").replace(
    "apiVersion", "# policykit: partial\napiVersion", 1
)
DAEMON = """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: d, namespace: NAMESPACE}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      tolerations: [{key: maip.mxsf.io/node.usage, value: training, effect: NoSchedule}]
      containers: [{name: a, image: 'registry.example/a:1', resources: {limits: {nvidia.com/gpu: 1}}}]
"""
WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {containers: [{name: a, image: 'registry.example/a:1'}]}
"""


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# only words",
        WEB,
        WEB.replace(
            "'registry.example/a:1'", "'registry.example/a:1', resources: {limits: {nvidia.com/gpu: 1}}"
        ),
        PARTIAL,
        DAEMON.replace("NAMESPACE", "default"),
        POD.replace("  name: a\n", "  name: a\n  namespace: kube-system\n", 1).replace(
            "labels: {policykit.io/workload: training}", "labels: {}"
        ),
        "kind: Pod\nspec: {}\n",
    ],
    ids=["empty", "comment", "web", "card, no kind", "partial", "daemon", "system", "no apiVersion"],
)
def test_what_nothing_recognises_passes(text: str) -> None:
    found = run(text)
    assert (found.raw.decode(), found.changed) == (text, ())


def test_a_daemon_that_says_its_kind_is_patched() -> None:
    text = DAEMON.replace("NAMESPACE", "kube-system").replace(
        "{a: b}}\n    spec", "{a: b, WORKLOAD}}\n    spec"
    )
    assert run(text.replace("WORKLOAD", "policykit.io/workload: training")).changed == ("DaemonSet/d",)


def test_a_listed_patch_passes() -> None:
    assert patch(ManifestText("a.yaml", POD.encode(), partial=True), HYBRID, PatchOptions()).changed == ()


LIST = "kind: List\napiVersion: v1\nitems:\n- {kind: Service, apiVersion: v1}\n"


@pytest.mark.parametrize("amount", [1, 3])
def test_items_of_a_list(amount: int) -> None:
    item = "- " + POD.replace("\n", "\n  ").rstrip(" ")
    placed = "".join(f"  {line}\n" for line in PLACED.splitlines())
    tail = "metadata: {}\n"
    found = run(LIST + item * amount + tail)
    assert found.raw.decode() == LIST + (item + placed) * amount + tail
    assert found.objects == ("Service/", *["Pod/a"] * amount)


def test_a_large_list_is_edited_item_by_item() -> None:
    item = "- " + POD.replace("\n", "\n  ").rstrip(" ")
    found = run(LIST + item * 300)
    assert len(found.changed) == 300


def test_json() -> None:
    found = run('{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"nodeName": ""}}\n')
    assert found.changed == ()
    text = (
        '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},\n'
        ' "spec": {"containers": [{"name": "a", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}}'
    )
    found = run(text, workload="inference")
    data = json.loads(found.raw)
    assert data["metadata"]["labels"] == {"policykit.io/workload": "inference"}
    assert len(data["spec"]["tolerations"]) == 3


TWO = policy(QUEUED)
MANY = """\
apiVersion: v1
kind: Pod
metadata: {name: a, labels: {policykit.io/workload: inference}}
spec:
  containers: [{name: a, image: 'registry.example/a:1', resources: {limits: {nvidia.com/gpu: 1}}}]
"""


def test_a_card_is_written_only_into_objects_that_it_is_for() -> None:
    cards = {"h20": "NVIDIA-H20", "l20": "NVIDIA-L20", "b3": "910B3", "b4": "910B4"}
    cluster = policy(
        {
            "domain": "a.example.com",
            "cards": {name: {"product": product} for name, product in cards.items()},
            "pools": {name: {"usage": "inference", "card": name, "nodes": 1} for name in cards},
            "workloads": {"inference": {"usages": ["inference"]}},
        }
    )
    npu = MANY.replace("nvidia.com/gpu", "huawei.com/Ascend910").replace("name: a,", "name: b,", 1)
    found = run(f"{npu}---\n{MANY}", cluster, card="h20")
    assert found.raw.count(b"tolerations:") == 1
    assert found.notes == ("a.yaml:1:1: Pod/b: card h20 is not for it, but b3 or b4: left unplaced",)


def test_several_cards_are_asked_about() -> None:
    with pytest.raises(PolicykitError) as caught:
        run(MANY, TWO)
    assert str(caught.value) == (
        "a.yaml:1:1: Pod/a requests nvidia.com/gpu, which cards l20, h20 of workload kind inference offer\n"
        "  help: name one with --card l20, or state its product in the manifest"
    )
    assert b"NVIDIA-L20" in run(MANY, TWO, card="l20").raw
    stated = MANY.replace("spec:\n", "spec:\n  nodeSelector: {nvidia.com/gpu.product: NVIDIA-L20}\n")
    assert b"value: NVIDIA-L20" in run(stated, TWO).raw
    assert b"NVIDIA-L20" not in run(MANY.replace("inference", "training"), TWO).raw


def test_a_card_that_the_kind_may_not_use() -> None:
    stated = MANY.replace("inference", "training").replace(
        "spec:\n", "spec:\n  nodeSelector: {nvidia.com/gpu.product: NVIDIA-L20}\n"
    )
    with pytest.raises(PolicykitError) as caught:
        run(stated, TWO)
    assert caught.value.place == "a.yaml:1:1"
    assert caught.value.message == (
        "Pod/a requests nvidia.com/gpu on product NVIDIA-L20, which no pool of workload kind training offers"
    )
    assert caught.value.hint.startswith("pools that offer it: train-h20: usage training, card h20; ")


def test_a_product_that_no_pool_has() -> None:
    stated = MANY.replace("spec:\n", "spec:\n  nodeSelector: {nvidia.com/gpu.product: L20}\n")
    with pytest.raises(PolicykitError) as caught:
        run(stated, TWO)
    assert (caught.value.message, caught.value.hint) == (
        "Pod/a requests nvidia.com/gpu on product L20, which no pool of the policy offers",
        "products of the pools: NVIDIA-H20, NVIDIA-L20",
    )


def test_pods_on_nodes_with_cards_that_request_none() -> None:
    """As in a manifest whose request of a card is a comment."""
    bare = MANY.replace(", resources: {limits: {nvidia.com/gpu: 1}}", "").replace(
        "spec:\n", "spec:\n  nodeSelector: {nvidia.com/gpu.product: NVIDIA-L20}\n"
    )
    cluster = policy({**QUEUED, "pools": {**QUEUED["pools"], "cpu": {"nodes": 2}}})
    with pytest.raises(PolicykitError) as caught:
        run(bare, cluster)
    assert caught.value.hint == (
        "it requests no card, so it may use only the pools of its kind's helpers: request the card under "
        "resources.limits, or take out what selects other nodes"
    )


def test_a_card_that_the_policy_does_not_know_is_told() -> None:
    found = run(POD.replace("nvidia.com/gpu", "huawei.com/Ascend910"))
    assert found.changed == ()
    assert found.notes == (
        "a.yaml:1:1: Pod/a: no pool of the policy offers huawei.com/Ascend910, so no placement is written",
    )


def test_an_anchor_that_others_use_is_refused() -> None:
    text = (
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n"
        "  metadata: {name: a, labels: &labels {policykit.io/workload: training}}\n"
        "  spec: &spec {containers: [{name: a, resources: {limits: {nvidia.com/gpu: 1}}}]}\n"
        "- {apiVersion: v1, kind: Pod, metadata: {name: b, labels: *labels}, spec: *spec}\n"
    )
    with pytest.raises(PolicykitError) as caught:
        run(text)
    assert caught.value.place == "a.yaml:4:3"
    assert "Pod/a: " in caught.value.message
    assert "cannot be edited in place" in caught.value.message


def test_templates_pass_and_broken_yaml_does_not() -> None:
    template = "kind: Pod\n{{- if .Values.a }}\nspec: {}\n{{- end }}\n"
    found = run(template)
    assert (found.raw.decode(), found.notes) == (
        template,
        ("a.yaml: a template, left unchanged: render it first",),
    )
    with pytest.raises(PolicykitError, match="not YAML"):
        patch(ManifestText("-", template.encode(), rendered=True), HYBRID, PatchOptions())
    with pytest.raises(PolicykitError) as caught:
        run("a: 1\n---\nb: c: d\n")
    assert caught.value.place == "a.yaml:3:5"


def test_two_kinds_are_told_apart_by_nobody() -> None:
    text = POD.replace("labels: {policykit.io/workload: training}", "labels: {}").replace(
        "spec:\n",
        "spec:\n  affinity:\n    nodeAffinity:\n      requiredDuringSchedulingIgnoredDuringExecution:\n"
        "        nodeSelectorTerms:\n        - matchExpressions:\n"
        "          - {key: maip.mxsf.io/node.usage, operator: In, values: [training, inference]}\n",
    )
    found = run(text)
    assert found.changed == ()
    assert found.notes == (
        "a.yaml:1:1: Pod/a left unchanged: it may be inference or training; set label "
        "policykit.io/workload to one of them",
    )


CORPUS = (
    sorted(path for path in (SHARED / "corpus").rglob("*") if path.suffix in (".yaml", ".yml", ".json"))
    if SHARED
    else []
)
WORKLOADS = [path for path in CORPUS if path.parent.name == "workloads"]
LABEL = "policykit.io/workload"
ON_REQUEST = {
    "recognised": (HYBRID, PatchOptions()),
    "queued": (TWO, PatchOptions()),
    "forced": (TWO, PatchOptions(workload="training", card="h20")),
    "koordinated": (policy(KOORDINATED), PatchOptions(workload="training", card="h20", queue="research")),
}
GANGS = {name: (cluster, PatchOptions(workload="training", card="h20")) for name, cluster in CLUSTERS.items()}
"""Policies with gangs, closeness and spreading: for the kinds that make pods."""


@pytest.mark.skipif(not CORPUS, reason="the corpus stands beside a full checkout only")
@pytest.mark.parametrize("name", [*ON_REQUEST, *GANGS])
def test_the_corpus(name: str) -> None:
    """Every file comes out patched or is refused; unrecognised documents stay to the byte, recognised
    ones read as intended, and the second time nothing changes."""
    cluster, asked = {**ON_REQUEST, **GANGS}[name]
    changed = 0
    for path in CORPUS if name in ON_REQUEST else WORKLOADS:
        found = _gangs(path, name) if name in GANGS else _patched_or_refused(path, cluster, asked)
        if isinstance(found, PolicykitError):
            assert found.place.startswith(path.name), path
            assert found.hint, path
            continue
        changed += len(found.changed)
        again = patch(ManifestText(path.name, found.raw), cluster, asked)
        assert (again.raw, again.changed) == (found.raw, ()), path
        _as_intended(path, found, cluster, asked)
    assert changed > 20


CODES = ("PK122", "PK301", "PK302", "PK303", "PK306")
KNOWN = {
    # Their queue's label is for another scheduler than the one the policy gives them.
    ("PK122", "job--KAI-Scheduler--batch-job.yaml"),
    ("PK122", "pod--KAI-Scheduler--gpu-pod.yaml"),
}


@pytest.mark.skipif(not CORPUS, reason="the corpus stands beside a full checkout only")
@pytest.mark.parametrize("name", ["volcano", "koordinator", "yunikorn"])
def test_gangs_of_the_corpus_lint_clean(name: str) -> None:
    cluster, _ = GANGS[name]
    for path in WORKLOADS:
        found = _gangs(path, name)
        if isinstance(found, PatchedText) and found.changed:
            report = api.lint_texts({path.name: found.raw}, cluster, CODES)
            assert {(one.code, path.name) for one in report.findings} <= KNOWN


@cache
def _gangs(path: Path, name: str) -> PatchedText | PolicykitError:
    """Both tests of the gangs look at the same files."""
    return _patched_or_refused(path, *GANGS[name])


def _patched_or_refused(path: Path, cluster: Cluster, asked: PatchOptions) -> PatchedText | PolicykitError:
    try:
        return patch(ManifestText(path.name, path.read_bytes()), cluster, asked)
    except PolicykitError as error:
        return error


def _as_intended(path: Path, found: PatchedText, cluster: Cluster, asked: PatchOptions) -> None:
    before, after = path.read_bytes().decode(), found.raw.decode()
    old = slices(before)
    new = [one for one in slices(after) if not _stands_beside(after[one.start : one.end])]
    assert len(old) == len(new), path
    for (start, end), (first, last) in zip(old, new, strict=True):
        piece = before[start:end]
        wanted = [_wanted(document.root.data, cluster, asked) for document in parse(piece) if document.root]
        got = [document.root.data for document in parse(after[first:last]) if document.root]
        assert got == wanted, path
        if wanted == [document.root.data for document in parse(piece) if document.root]:
            assert piece == after[first:last], path


def _stands_beside(text: str) -> bool:
    """Whether a document is a group that was added for the workload before it."""
    roots = [document.root.data for document in parse(text) if document.root]
    ours = (("PodGroup",), ("Workload",))
    return len(roots) == 1 and (lookup(roots[0], ("kind",)),) in ours and LABEL in str(roots[0]["metadata"])


def _wanted(data: Any, cluster: Cluster, asked: PatchOptions) -> Any:
    """The document with every object changed as data alone."""
    root = next(iter(parse(dump(data)))).root
    if root is None or not isinstance(data, dict):
        return data
    for manifest in manifests(root, 0):
        pod_sets = podsets.pod_sets(manifest.data)
        if pod_sets and not is_partial(manifest, pod_sets):
            for one in apply_kinds(manifest, cluster, "default", asked).patches:
                data = patched(data, Patch(one.op, (*manifest.base, *one.path), one.value))
    return data


@given(
    st.lists(st.sampled_from([POD, WEB, MANY, "a: 1\n", "# nothing\n", "", "kind: Service\n"]), max_size=6)
)
def test_any_stream_keeps_what_is_not_recognised(pieces: list[str]) -> None:
    text = "".join(f"---\n{piece}" for piece in pieces)
    expected = "".join(
        f"---\n{run(piece, card='h20').raw.decode() if 'containers' in piece else piece}" for piece in pieces
    )
    found = run(text, card="h20")
    assert found.raw.decode() == expected
    assert run(found.raw, card="h20").raw == found.raw
