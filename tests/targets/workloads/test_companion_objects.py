"""Objects that must stand beside workloads: where they come to stand, and when they stay as they are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit import api
from policykit.errors import PolicykitError
from policykit.manifests.extents import slices
from policykit.manifests.parser import parse
from policykit.manifests.writer import dump
from policykit.targets.workloads.companion_objects import (
    CompanionObject,
    CompanionResult,
    add_companions,
    identity,
)
from policykit.targets.workloads.patch_options import PatchOptions
from policykit.targets.workloads.stream import ManifestText, PatchedText, objects, patch
from tests.targets.workloads.objects import JOB, JOB_SET
from tests.targets.workloads.policies import CLUSTERS

GROUP: dict[str, Any] = {
    "apiVersion": "scheduling.volcano.sh/v1beta1",
    "kind": "PodGroup",
    "metadata": {"name": "a", "labels": {"policykit.io/workload": "training"}},
    "spec": {"minMember": 4},
}
TEXT = dump(GROUP)
WORK = "kind: Job\napiVersion: batch/v1\n"


def put(text: str, document: int = 0, elsewhere: Any = None, **spec: Any) -> CompanionResult:
    wanted = {**GROUP, "spec": {**GROUP["spec"], **spec}}
    return add_companions(text, [CompanionObject(wanted, document)], (elsewhere or {}).get)


@pytest.mark.parametrize(
    ("text", "document", "expected"),
    [
        (WORK, 0, f"{WORK}---\n{TEXT}"),
        (f"# words\n---\n{WORK}# end\n", 0, f"# words\n---\n{WORK}# end\n---\n{TEXT}"),
        (f"{WORK}---\na: 1\n", 0, f"{WORK}---\n{TEXT}---\na: 1\n"),
        (f"a: 1\n---\n{WORK}---\nb: 1\n", 1, f"a: 1\n---\n{WORK}---\n{TEXT}---\nb: 1\n"),
        (f"{WORK}...\nb: 1\n", 0, f"{WORK}...\n---\n{TEXT}...\nb: 1\n"),
        (WORK.rstrip("\n"), 0, f"{WORK}---\n{TEXT}".rstrip("\n")),
        (WORK.replace("\n", "\r\n"), 0, f"{WORK}---\n{TEXT}".replace("\n", "\r\n")),
        (f"---\n{WORK}--- # next\nb: 1\n", 0, f"---\n{WORK}---\n{TEXT}--- # next\nb: 1\n"),
    ],
    ids=["alone", "comments", "before another", "between", "ended", "no final newline", "CRLF", "marker"],
)
def test_it_comes_right_behind_its_workload(text: str, document: int, expected: str) -> None:
    found = put(text, document)
    assert found == CompanionResult(expected, ("PodGroup/a",))
    assert put(found.text, document) == CompanionResult(expected)


@pytest.mark.parametrize(
    "text",
    [
        '{"kind": "Job", "apiVersion": "batch/v1"}\n',
        "kind: List\napiVersion: v1\nitems:\n- {kind: Job, apiVersion: batch/v1}\n",
        f"{WORK}data: |\n  text",
    ],
    ids=["JSON", "list", "a block that a line ending would change"],
)
def test_where_there_is_no_room_it_is_handed_back(text: str) -> None:
    found = put(text)
    assert (found.text, found.changed) == (text, ())
    assert [one.data for one in found.unwritten] == [GROUP]


def test_ours_is_brought_up_to_date_wherever_it_stands() -> None:
    there = TEXT.replace("minMember: 4", "minMember: 2 # two\n  queue: old").replace("spec:", "# kept\nspec:")
    found = put(f"{there}---\n{WORK}", 1)
    expected = TEXT.replace("minMember: 4", "minMember: 4 # two").replace("spec:", "# kept\nspec:")
    assert found == CompanionResult(f"{expected}---\n{WORK}", ("PodGroup/a",))


def test_ours_in_a_list_is_brought_up_to_date() -> None:
    there = "".join(f"  {line}\n" for line in TEXT.replace("minMember: 4", "minMember: 2").splitlines())
    text = f"kind: List\napiVersion: v1\nitems:\n- {there[2:]}- {{kind: Job, apiVersion: batch/v1}}\n"
    assert put(text) == CompanionResult(text.replace("minMember: 2", "minMember: 4"), ("PodGroup/a",))


@pytest.mark.parametrize("label", ["app: x", "policykit.io/workload: inference"])
def test_what_is_somebody_elses_stays(label: str) -> None:
    text = f"{WORK}---\n{TEXT.replace('policykit.io/workload: training', label)}"
    assert put(text) == CompanionResult(text)
    different = text.replace("minMember: 4", "minMember: 2")
    assert put(different) == CompanionResult(
        different,
        notes=(
            "PodGroup/a already exists and differs (spec.minMember is 2, the policy needs 4): left unchanged",
        ),
    )


def test_what_stands_in_another_file_is_not_added() -> None:
    elsewhere = objects(TEXT.encode(), "default")
    assert put(WORK, elsewhere=elsewhere) == CompanionResult(WORK)
    found = put(WORK, elsewhere=elsewhere, minMember=8)
    assert found.notes == (
        "PodGroup/a already exists and differs (spec.minMember is 4, the policy needs 8): left unchanged",
    )
    another = objects(TEXT.replace("name: a", "name: a\n  namespace: ml").encode(), "default")
    assert put(WORK, elsewhere=another).changed == ("PodGroup/a",)


def test_one_that_two_workloads_want_is_added_once() -> None:
    text = f"{WORK}---\n{WORK}"
    other = {**GROUP, "spec": {"minMember": 5}}
    found = add_companions(text, [CompanionObject(GROUP, 0), CompanionObject(GROUP, 1)], lambda name: None)
    assert found == CompanionResult(f"{WORK}---\n{TEXT}---\n{WORK}", ("PodGroup/a",))
    found = add_companions(text, [CompanionObject(GROUP, 0), CompanionObject(other, 1)], lambda name: None)
    assert found.notes == (
        "PodGroup/a is needed twice, with different contents (spec.minMember is 4, the policy needs 5)",
    )


def test_the_namespace_tells_groups_apart() -> None:
    assert identity(GROUP, "ml") == ("scheduling.volcano.sh", "PodGroup", "ml", "a")
    named = {**GROUP, "metadata": {"name": "a", "namespace": "ml"}}
    assert identity(named, "default") == identity(GROUP, "ml")


PIECES = [WORK, "a: 1\n", "# words\n", "", TEXT, "data: |\n  text\n\n", "- 1\n", "{a: b}\n"]


@given(
    st.lists(st.sampled_from(PIECES), max_size=5),
    st.sampled_from(["---\n", "...\n---\n", "---\r\n"]),
    st.booleans(),
)
def test_every_other_document_stays(pieces: list[str], joint: str, ended: bool) -> None:
    text = joint.join([*pieces, WORK])
    text = text if ended else text.rstrip("\n")
    at = len(slices(text)) - 1
    found = put(text, at)
    before, after = ([d.root.data for d in parse(t) if d.root] for t in (text, found.text))
    if found.changed:
        assert after == [*before, GROUP]
        assert found.text.startswith(text)
    else:
        assert (TEXT in text, found.text) == (True, text)
    assert put(found.text, at) == CompanionResult(found.text)


def patched(text: str, target_name: str, **source: Any) -> PatchedText:
    return patch(
        ManifestText("a.yaml", text.encode(), **source),
        CLUSTERS[target_name],
        PatchOptions("training", "h20"),
    )


@pytest.mark.parametrize(
    ("text", "target_name"), [(JOB, "koordinator"), (JOB_SET, "volcano"), (JOB, "old volcano")]
)
def test_a_workload_and_its_group_lint_clean(text: str, target_name: str) -> None:
    block = dump(next(d.root.data for d in parse(text) if d.root))
    found = patched(block, target_name)
    assert found.changed[1:] == ("PodGroup/a",)
    report = api.lint_texts({"a.yaml": found.raw}, CLUSTERS[target_name])
    assert [f"{one.code} {one.message}" for one in report.findings if one.code.startswith("PK3")] == []
    again = patched(found.raw.decode(), target_name)
    assert (again.raw, again.changed) == (found.raw, ())


def test_a_change_of_the_workload_reaches_its_group() -> None:
    block = dump(next(d.root.data for d in parse(JOB) if d.root))
    first = patched(block, "koordinator").raw.decode()
    grown = first.replace("parallelism: 4", "parallelism: 6").replace("completions: 4", "completions: 6")
    found = patched(grown, "koordinator")
    assert found.changed == ("PodGroup/a",)
    assert found.raw.decode() == grown.replace("minMember: 4", "minMember: 6")


def test_a_group_that_cannot_be_edited_is_refused() -> None:
    anchored = f"{TEXT.replace('spec:', 'spec: &x').replace('minMember: 4', 'minMember: 2')}status: *x\n"
    block = dump(next(d.root.data for d in parse(JOB) if d.root))
    koordinated = anchored.replace("scheduling.volcano.sh/v1beta1", "scheduling.sigs.k8s.io/v1alpha1")
    with pytest.raises(PolicykitError) as caught:
        patched(f"{block}---\n{koordinated}", "koordinator")
    assert caught.value.place == "a.yaml"
    assert caught.value.message.startswith("a companion object of its workloads: ")
