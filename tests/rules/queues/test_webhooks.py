"""The rules about trees say something of queues exactly where the systems' own webhooks refuse them."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from policykit import api
from tests.targets.koordinator.webhook import PREFIX, ROOT, Webhook
from tests.targets.volcano.webhook import refused_queues

NAMES = ("a", "b", "c", "d")
RESOURCES = ("cpu", "memory", "nvidia.com/gpu")

amounts = st.dictionaries(st.sampled_from(RESOURCES), st.integers(1, 4), max_size=3)


@st.composite
def volcano(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Queues, parents first, each below the root or one of those before it."""
    objects: list[dict[str, Any]] = []
    for number, name in enumerate(NAMES[: draw(st.integers(1, 4))]):
        parent = draw(st.sampled_from(("", "root", *NAMES[:number], "missing")))
        spec: dict[str, Any] = {"weight": 1, **({"parent": parent} if parent else {})}
        spec["deserved"], spec["capability"] = draw(amounts), draw(amounts)
        kept = draw(amounts)
        spec["guarantee"] = {"resource": {key: kept[key] for key in kept if key in spec["deserved"]}}
        objects.append(
            {
                "apiVersion": "scheduling.volcano.sh/v1beta1",
                "kind": "Queue",
                "metadata": {"name": name},
                "spec": spec,
            }
        )
    return objects


@st.composite
def koordinator(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Quotas, parents first; a minimum names what the maximum does."""
    objects: list[dict[str, Any]] = []
    for number, name in enumerate(NAMES[: draw(st.integers(1, 4))]):
        parent = draw(st.sampled_from((ROOT, *NAMES[:number], "missing")))
        labels = {
            f"{PREFIX}parent": parent,
            f"{PREFIX}is-parent": draw(st.sampled_from(("true", "false"))),
        }
        named = draw(st.sampled_from((RESOURCES[:1], RESOURCES[:2], RESOURCES[:2])))
        every = st.fixed_dictionaries({resource: st.integers(1, 4) for resource in named})
        objects.append(
            {
                "apiVersion": "scheduling.sigs.k8s.io/v1alpha1",
                "kind": "ElasticQuota",
                "metadata": {"name": name, "namespace": "kube-system", "labels": labels},
                "spec": {"min": draw(every), "max": draw(every)},
            }
        )
    return objects


def said(objects: list[dict[str, Any]]) -> list[str]:
    """What the rules about queues say of them, but for a maximum that Koordinator does not compare."""
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}).encode()
    findings = api.lint_texts({"queues.json": text}, None).findings
    rules = ("PK403", "PK404", "PK405", "PK406")
    koordinators = objects[0]["kind"] == "ElasticQuota"
    return [f.message for f in findings if f.code in rules and not (koordinators and f.code == "PK405")]


@given(volcano())
@settings(max_examples=150, deadline=None)
def test_volcano(objects: list[dict[str, Any]]) -> None:
    assert bool(said(objects)) == bool(refused_queues(objects, (1, 15, 1)))


@given(koordinator())
@settings(max_examples=150, deadline=None)
def test_koordinator(objects: list[dict[str, Any]]) -> None:
    webhook = Webhook()
    refused = [why for quota in objects for why in webhook.create(quota)]
    assert bool(said(objects)) == bool(refused)
