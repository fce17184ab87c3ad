"""Argo CD's waves: the depth of each object in its tree."""

from __future__ import annotations

from policykit.generator.artifact import ANNOTATION, in_waves

PARENTS = {"org": "", "a": "org", "b": "org", "a1": "a", "top": "root"}


def test_each_object_has_its_depth() -> None:
    objects = [{"kind": "Queue", "metadata": {"name": name}} for name in PARENTS]
    made = list(in_waves(objects, PARENTS))
    waves = [data["metadata"].get("annotations", {}).get(ANNOTATION) for data in made]
    assert waves == [None, "1", "1", "2", None]
    assert objects[1] == {"kind": "Queue", "metadata": {"name": "a"}}


def test_other_annotations_stay_and_a_cycle_ends() -> None:
    data = {"metadata": {"name": "a", "annotations": {"x": "y"}}}
    (made,) = in_waves([data], {"a": "b", "b": "a"})
    assert made["metadata"]["annotations"] == {"x": "y", ANNOTATION: "2"}
