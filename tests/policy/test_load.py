"""Extending, merging and where mistakes stand when a policy is several files."""

from __future__ import annotations

import pytest

from policykit.errors import PolicyError, SourceError
from policykit.model.cluster import Cluster
from policykit.policy.files import MAX_BYTES, MAX_FILES
from policykit.policy.load import load, load_profile, load_text
from policykit.targets.koordinator.options import KoordinatorOptions
from tests.policy.memory import HEAD, load_body, load_files, mistakes

NO_HEAD = "apiVersion: policykit.io/v1alpha1\nkind: Policy\n"
BASE = (
    HEAD
    + """\
cards:
  h20: {product: NVIDIA-H20}
pools:
  train: {usage: training, card: h20, nodes: 16}
  infer: {usage: inference, card: h20, nodes: 8, labels: {tier: gold}}
workloads:
  training: {usages: [training], prefer: {training: 100}}
"""
)


def overlay(body: str) -> dict[str, str]:
    text = f"{NO_HEAD}extends: [../base/policykit.yaml]\n{body}"
    return {"base/policykit.yaml": BASE, "prod/policykit.yaml": text}


def load_overlay(body: str) -> Cluster:
    return load_files(overlay(body), "prod/policykit.yaml").cluster


def test_maps_merge_deeply() -> None:
    cluster = load_overlay("pools:\n  train: {nodes: 32}\n")
    assert [(p.name, p.usage, p.shapes[0].minimum) for p in cluster.pools] == [
        ("train", "training", 32),
        ("infer", "inference", 8),
    ]


def test_lists_replace() -> None:
    cluster = load_overlay("workloads:\n  training: {usages: [training, inference]}\n")
    assert cluster.workloads["training"].usages == ("training", "inference")


def test_null_deletes() -> None:
    cluster = load_overlay("pools:\n  infer: null\n  train: {labels: {a: b}}\n")
    assert [p.name for p in cluster.pools] == ["train"]
    assert load_overlay("pools:\n  infer: {labels: {tier: null}}\n").pool("infer").labels.get("tier") is None


def test_later_bases_win_and_the_file_itself_last() -> None:
    files = {
        "a.yaml": HEAD + 'coverage: complete\nkubernetes: "1.34"\nprovider: eks\n',
        "b.yaml": NO_HEAD + 'kubernetes: "1.35"\nprovider: aks\n',
        "policykit.yaml": NO_HEAD + "extends: [a.yaml, b.yaml]\nprovider: gke\n",
    }
    loaded = load_files(files)
    assert (loaded.cluster.complete, loaded.cluster.kubernetes_version, loaded.cluster.provider) == (
        True,
        "1.35",
        "gke",
    )
    assert loaded.files == ("policykit.yaml", "a.yaml", "b.yaml")


def test_a_profile_is_a_base() -> None:
    loaded = load_files(
        {"policykit.yaml": NO_HEAD + "extends: [profile:hybrid-volcano]\nmetadata: {name: mine}\n"}
    )
    assert loaded.cluster.name == "mine"
    assert [p.name for p in loaded.cluster.pools] == ["train-h20", "infer-h20", "hybrid-h20"]
    assert loaded.files == ("policykit.yaml", "profile:hybrid-volcano")


def test_mistakes_point_into_the_file_that_said_it() -> None:
    files = overlay("pools:\n  train: {card: h200}\n  new: {usage: training, nodes: -1}\n")
    files["base/policykit.yaml"] += "  inference: {usages: [inferense]}\n"
    assert mistakes(files, "prod/policykit.yaml") == (
        "base/policykit.yaml:12:24 no pool has usage 'inferense'",
        "prod/policykit.yaml:5:17 unknown card 'h200'",
        "prod/policykit.yaml:6:33 pools.new.nodes must be 0 or more, not -1",
    )


def test_a_base_may_be_incomplete() -> None:
    base = NO_HEAD + "domain: d.example\n"
    files = {"base.yaml": base, "policykit.yaml": NO_HEAD + "extends: [base.yaml]\nmetadata: {name: a}\n"}
    assert load_files(files).cluster.name == "a"
    assert mistakes(files, "base.yaml") == ("base.yaml:1:1 the policy has no name",)


def test_a_circle_is_told_where_it_closes() -> None:
    files = {
        "policykit.yaml": HEAD + "extends: [b/x.yaml]\n",
        "b/x.yaml": NO_HEAD + "extends:\n- y.yaml\n",
        "b/y.yaml": NO_HEAD + "extends: [../policykit.yaml]\n",
    }
    assert mistakes(files) == (
        "b/y.yaml:3:11 extends forms a cycle: policykit.yaml -> b/x.yaml -> b/y.yaml -> policykit.yaml",
    )


def test_one_base_by_two_ways_is_no_circle() -> None:
    files = {
        "base.yaml": BASE,
        "a.yaml": NO_HEAD + "extends: [base.yaml]\npools: {train: {nodes: 1}}\n",
        "b.yaml": NO_HEAD + "extends: [base.yaml]\npools: {extra: {nodes: 2}}\n",
        "policykit.yaml": NO_HEAD + "extends: [a.yaml, b.yaml]\n",
    }
    cluster = load_files(files).cluster
    assert [(p.name, p.shapes[0].minimum) for p in cluster.pools] == [
        ("train", 16),
        ("infer", 8),
        ("extra", 2),
    ]


def test_a_base_is_merged_once_however_many_ways_lead_to_it() -> None:
    files = {f"{n}.yaml": NO_HEAD + f"extends: [{n + 1}.yaml, {n + 1}.yaml]\n" for n in range(MAX_FILES)}
    files |= {f"{MAX_FILES}.yaml": BASE}
    loaded = load_files(files, "0.yaml")
    assert len(loaded.files) == MAX_FILES + 1
    assert [p.name for p in loaded.cluster.pools] == ["train", "infer"]


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (
            {f"{n}.yaml": NO_HEAD + f"extends: [{n + 1}.yaml]\n" for n in range(1_500)},
            "100.yaml:3:11 101.yaml: a policy can extend at most 100 files",
        ),
        (
            {"0.yaml": NO_HEAD + f"extends: [{', '.join(['1.yaml'] * 101)}]\n"},
            "0.yaml:3:1 extends lists 101 files, more than the maximum of 100",
        ),
        (
            {"0.yaml": NO_HEAD + "extends: [1.yaml]\n", "1.yaml": BASE + "#" * MAX_BYTES},
            "0.yaml:3:11 1.yaml: a policy can extend at most 10 MB",
        ),
    ],
    ids=["a chain", "a list", "large"],
)
def test_bases_are_bounded(files: dict[str, str], told: str) -> None:
    assert mistakes(files, "0.yaml") == (told,)


def test_names_without_end_end() -> None:
    """Links that lead back give one file ever longer names, and two of them ever more."""
    with pytest.raises(PolicyError) as caught:
        load("0.yaml", lambda _: (NO_HEAD + "extends: [x/0.yaml, y/0.yaml]\n").encode())
    assert {problem.message for problem in caught.value.problems} == {
        "x/0.yaml: a policy can extend at most 100 files",
        "y/0.yaml: a policy can extend at most 100 files",
    }


def test_mistakes_of_bases_come_first() -> None:
    files = {
        "base.yaml": HEAD + "pools: []\n",
        "policykit.yaml": NO_HEAD + "extends: [base.yaml]\nlint: []\n",
    }
    assert mistakes(files) == (
        "base.yaml:5:1 pools must be a map, not a list",
        "policykit.yaml:4:1 lint must be a map, not a list",
    )


def test_koordinators_configuration_is_read_from_where_it_was_named() -> None:
    files = {
        "base/policykit.yaml": HEAD + "targets: {koordinator: {config: sched.yaml}}\n",
        "base/sched.yaml": "kind: ConfigMap\n",
        "prod/policykit.yaml": NO_HEAD + "extends: [../base/policykit.yaml]\n",
    }
    loaded = load_files(files, "prod/policykit.yaml")
    assert loaded.cluster.targets["koordinator"].options == KoordinatorOptions(config="kind: ConfigMap\n")
    assert loaded.files == ("prod/policykit.yaml", "base/policykit.yaml", "base/sched.yaml")


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        pytest.param(
            "targets:\n  volcano:\n",
            "policykit.yaml:6:3: targets.volcano is null, which removes an inherited value, but no base sets"
            " it\n"
            "  help: use {} for an entry with defaults, or remove the line",
            id="null that removes nothing",
        ),
        pytest.param(
            "pools:\n  a: {usage: training}\n  b: {usage: spare}\nworkloads:\n  t: {usages: [training]}\n",
            "policykit.yaml:7:14: no workload kind uses usage 'spare'\n  help: known: training",
            id="usage nobody uses",
        ),
        pytest.param(
            "workloads:\n  t: {scheduler: volcanoo}\n",
            "policykit.yaml:6:18: no target serves schedulerName 'volcanoo'\n"
            "  help: did you mean volcano? If not, add volcanoo to schedulers",
            id="scheduler nobody serves",
        ),
        pytest.param(
            "cards:\n  d: {resource: e.com/d}\npools:\n  a: {card: d}\n",
            "policykit.yaml:8:13: the number of d cards per node is unknown, so sizes are not checked\n"
            "  help: add cardsPerNode",
            id="cards per node unknown",
        ),
        pytest.param(
            "cards:\n  a: {product: NVIDIA-H200}\npools:\n  p:\n    card: a\n"
            "    sharing: {mode: mig-single, profiles: {1g.17gb: 7}}\n",
            "policykit.yaml:10:44: MIG profile 1g.17gb is unknown for NVIDIA-H200\n"
            "  help: did you mean 1g.18gb?",
            id="profile the catalogue lacks",
        ),
        pytest.param(
            "queues:\n  p: {limit: {cpu: 4}}\n  c: {parent: p, limit: {cpu: 8}}\n",
            "policykit.yaml:7:31: queue c may use 8 cpu, but its parent p only 4",
            id="limit above the parent's",
        ),
    ],
)
def test_notices(body: str, wanted: str) -> None:
    assert [str(notice) for notice in load_body(body).notices] == [wanted]


def test_loading_by_name_path_and_text_agree() -> None:
    by_name = load_profile("koordinator-binpack")
    by_path = load("profile:koordinator-binpack", lambda path: b"")
    assert by_name == by_path
    text = BASE.encode()
    by_text = load_text(text, "policykit.yaml", lambda path: b"")
    by_path = load("policykit.yaml", lambda path: text)
    assert (by_text.cluster, by_text.files) == (by_path.cluster, by_path.files)
    assert list(map(str, by_text.notices)) == list(map(str, by_path.notices))


def test_a_file_that_cannot_be_read() -> None:
    def refuse(path: str) -> bytes:
        raise PermissionError(13, "Permission denied", path)

    with pytest.raises(SourceError, match="cannot be read: Permission denied"):
        load("policykit.yaml", refuse)


def test_a_profile_that_is_not_there() -> None:
    with pytest.raises(SourceError) as raised:
        load_profile("koordinator")
    assert str(raised.value) == (
        "profile:koordinator: unknown profile 'koordinator'\n  help: did you mean koordinator-binpack?"
    )


def test_what_a_missing_base_would_have_said_is_not_missed() -> None:
    text = HEAD + "extends: [base.yaml]\npools:\n  a: {card: h20, nodes: -1}\n"
    assert mistakes({"policykit.yaml": text}) == (
        "policykit.yaml:5:11 base.yaml: no such file",
        "policykit.yaml:7:25 pools.a.nodes must be 0 or more, not -1",
    )


def test_what_a_malformed_section_would_have_said_is_not_missed() -> None:
    text = (
        HEAD
        + "cards: [h20]\npools:\n  a: {card: h20}\nqueues: 3\nworkloads:\n  t: {queue: q, cards: [h20]}\n"
    )
    assert mistakes({"policykit.yaml": text}) == (
        "policykit.yaml:5:1 cards must be a map, not a list",
        "policykit.yaml:8:9 queues must be a map, not the number 3",
    )
