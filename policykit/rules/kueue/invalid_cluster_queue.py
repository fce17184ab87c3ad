"""Kueue refuses a ClusterQueue or Cohort.

Each resource and each flavor belongs to one resource group, and every flavor lists the resources of
its group in their order. Limits on borrowing and lending need a cohort.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit.kube.names import label_key_problem
from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, text
from policykit.model.quantity import Quantity, parse
from policykit.model.release import Version
from policykit.model.severity import Severity
from policykit.targets.kueue import versions
from policykit.targets.kueue.names import GROUP
from policykit.targets.kueue.queue_facts import flavor_places

BAD = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: research
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors:
    - name: h20
      resources:
      - name: cpu
        nominalQuota: 64
        borrowingLimit: 32
      - name: memory
        nominalQuota: 512Gi
"""

GOOD = BAD.replace("  namespaceSelector: {}", "  cohortName: shared\n  namespaceSelector: {}")

_Found = Iterator[Violation]
_GROUPS: Path = ("spec", "resourceGroups")
_NEXT = "TryNextFlavor"
_BORROW_DEFAULT, _PREEMPT_DEFAULT = "MayStopSearch", "TryNextFlavor"
_SMALLEST_WEIGHT = 1
"""In billionths; a weight above 0 must be larger."""
_MAX_BEFORE = 16
"""Flavors and resources of a group before 0.14."""
_MAX_TOTAL = 256
_MAX_COMBINATIONS = 512
"""Resources of all flavors of a group; before 0.14 the other limits keep it below."""


def check(manifest: Manifest, context: Context) -> _Found:
    """Source: `pkg/webhooks` and the CRDs' validation rules (0.9 to 0.19)."""
    if manifest.group != GROUP:
        return
    spec, queue = mapping(manifest.data.get("spec")), manifest.kind == "ClusterQueue"
    above = ("cohortName", "cohort") if queue else ("parentName", "parent")
    # What a patch leaves out may be in the whole object.
    alone = not manifest.partial and not any(spec.get(field) for field in above)
    yield from _groups(spec, context, field=above[0] if alone else "", queue=queue)
    yield from _weight(spec, versions.release_of(context.cluster))
    if queue:
        yield from _preemption(spec)
        yield from _fungibility(spec)
        yield from _checks(spec, manifest, versions.release_of(context.cluster))


def _groups(spec: Mapping[str, Any], context: Context, *, field: str, queue: bool) -> _Found:
    """`field` is the cohort that is not set; empty: it is."""
    resources: set[str] = set()
    flavors: set[str] = set()
    groups = spec.get("resourceGroups")
    have = versions.release_of(context.cluster)
    for number, group in enumerate(groups if isinstance(groups, list) else ()):
        path: Path = (*_GROUPS, number)
        covered = _list(mapping(group), "coveredResources")
        for index, name in enumerate(covered):
            yield from _covered(name, (*path, "coveredResources", index), resources)
        there = _list(mapping(group), "flavors")
        yield from _sizes(path, {"coveredResources": covered, "flavors": there}, have)
        combinations = sum(len(_list(mapping(flavor), "resources")) for flavor in there)
        if combinations > _MAX_COMBINATIONS:
            yield Violation(
                (*path, "flavors"),
                f"the flavors have {combinations} resources together, more than {_MAX_COMBINATIONS}",
                "divide the group, or remove some",
            )
        for index, flavor in enumerate(there):
            yield from _flavor(mapping(flavor), (*path, "flavors", index), covered, flavors)
            yield from _quotas(mapping(flavor), (*path, "flavors", index, "resources"), field, queue=queue)
    for what, names in (("flavors", flavors), ("resources", resources)):
        if len(names) > _MAX_TOTAL:
            yield Violation(
                _GROUPS,
                f"the groups have {len(names)} {what} together, more than {_MAX_TOTAL}",
                "remove some",
            )


def _list(data: Mapping[str, Any], field: str) -> list[Any]:
    found = data.get(field)
    return found if isinstance(found, list) else []


def _covered(name: object, path: Path, seen: set[str]) -> _Found:
    if not isinstance(name, str) or is_placeholder(name):
        return
    if name in seen:
        yield Violation(
            path, f"resource {name} is covered twice", "cover it in one group, with all flavors that have it"
        )
    elif problem := label_key_problem(name):
        yield Violation(path, f"resource {name!r} {problem}", "write a resource name: cpu, nvidia.com/gpu")
    seen.add(name)


def _sizes(path: Path, lists: Mapping[str, Sequence[object]], have: Version | None) -> _Found:
    """The limit of later releases is in the schema."""
    if have is None or have >= versions.LARGE_GROUPS:
        return
    for field, items in lists.items():
        if len(items) > _MAX_BEFORE:
            yield Violation(
                (*path, field),
                f"{field} has {len(items)} entries, but Kueue {have} allows {_MAX_BEFORE}",
                f"use several groups, or Kueue {versions.LARGE_GROUPS} or newer",
            )


def _flavor(flavor: Mapping[str, Any], path: Path, covered: Sequence[Any], seen: set[str]) -> _Found:
    name = text(flavor.get("name"))
    if name and name in seen:
        yield Violation((*path, "name"), f"flavor {name} is listed twice", "list it once, in one group")
    seen.add(name)
    listed = [text(mapping(each).get("name")) for each in _list(flavor, "resources")]
    wanted = [each for each in covered if isinstance(each, str)]
    if not listed or listed == wanted or any(is_placeholder(each) for each in (*listed, *wanted)):
        return
    twice = next((each for at, each in enumerate(listed) if each in listed[:at]), "")
    if twice:
        what = f"flavor {name} lists {twice} twice"
    elif sorted(listed) == sorted(wanted):
        shown = ", ".join(listed)
        what = f"the resources of flavor {name} are {shown}, in a different order from coveredResources"
    else:
        what = f"flavor {name} has {', '.join(listed)}, but coveredResources has {', '.join(wanted)}"
    yield Violation(
        (*path, "resources"),
        what,
        f"list {', '.join(wanted)} in this order, with nominalQuota 0 for what it has none of",
        key=True,
    )


def _quotas(flavor: Mapping[str, Any], path: Path, field: str, *, queue: bool) -> _Found:
    for number, each in enumerate(_list(flavor, "resources")):
        quota = mapping(each)
        name = text(quota.get("name"))
        amounts = {
            limit: (quota[limit], parse(quota[limit]))
            for limit in ("nominalQuota", "borrowingLimit", "lendingLimit")
            if limit in quota
        }
        for limit, (written, amount) in amounts.items():
            if amount and amount.nanos < 0:
                yield Violation(
                    (*path, number, limit), f"{limit} of {name} is {written}, below 0", "write 0 or more"
                )
        for limit in ("borrowingLimit", "lendingLimit"):
            if field and quota.get(limit) is not None:
                yield Violation(
                    (*path, number, limit),
                    f"{name} has a {limit}, but {field} is not set",
                    f"set spec.{field}, or remove the limit",
                    key=True,
                )
        if queue and not field:
            yield from _lending((*path, number, "lendingLimit"), name, amounts)


def _lending(path: Path, name: str, amounts: Mapping[str, tuple[Any, Quantity | None]]) -> _Found:
    """A Cohort may lend more than its own quota: that of the queues below it."""
    lent, nominal = amounts.get("lendingLimit"), amounts.get("nominalQuota")
    if lent and nominal and lent[1] and nominal[1] and lent[1].nanos > nominal[1].nanos:
        yield Violation(
            path,
            f"lendingLimit of {name} is {lent[0]}, above its nominalQuota of {nominal[0]}",
            f"write at most {nominal[0]}, or remove it to lend everything",
        )


def _weight(spec: Mapping[str, Any], have: Version | None) -> _Found:
    """Weights close to 0 are refused since 0.12.10 and 0.13.5."""
    weight = mapping(spec.get("fairSharing")).get("weight")
    amount = parse(weight)
    if amount is None or amount.nanos > _SMALLEST_WEIGHT or amount.nanos == 0:
        return
    small = amount.nanos > 0
    if small and have and not versions.refuses_small_weights(have):
        return
    since = f": Kueue refuses that since {versions.SMALL_WEIGHTS}" if small and not have else ""
    yield Violation(
        ("spec", "fairSharing", "weight"),
        f"weight is {weight}, {'too close to' if small else 'below'} 0{since}",
        "write 0, or a number above it: 1 is the default",
        Severity.WARNING if since else None,
    )


def _preemption(spec: Mapping[str, Any]) -> _Found:
    found = mapping(spec.get("preemption"))
    borrow = text(mapping(found.get("borrowWithinCohort")).get("policy")) or "Never"
    reclaim = text(found.get("reclaimWithinCohort")) or "Never"
    if reclaim == "Never" and borrow != "Never" and not is_placeholder(borrow):
        yield Violation(
            ("spec", "preemption", "borrowWithinCohort"),
            f"borrowWithinCohort is {borrow}, but reclaimWithinCohort is Never",
            "set reclaimWithinCohort to LowerPriority or Any, or remove borrowWithinCohort",
            key=True,
        )


def _fungibility(spec: Mapping[str, Any]) -> _Found:
    found = mapping(spec.get("flavorFungibility"))
    borrow = text(found.get("whenCanBorrow")) or _BORROW_DEFAULT
    preempt = text(found.get("whenCanPreempt")) or _PREEMPT_DEFAULT
    if found.get("preference") and not borrow == preempt == _NEXT:
        yield Violation(
            ("spec", "flavorFungibility", "preference"),
            f"preference is set, but whenCanBorrow is {borrow} and whenCanPreempt {preempt}",
            f"set both to {_NEXT}, or remove preference",
            key=True,
        )


def _checks(spec: Mapping[str, Any], manifest: Manifest, have: Version | None) -> _Found:
    """Flavors of admission checks are those of the queue; compared since 0.18."""
    if manifest.partial or (have or versions.newest()) < versions.CHECKED_FLAVORS:
        return
    flavors = {name for _, name in flavor_places(manifest.data)}
    checks = _list(mapping(spec.get("admissionChecksStrategy")), "admissionChecks")
    for number, check_ in enumerate(checks):
        for index, name in enumerate(_list(mapping(check_), "onFlavors")):
            if isinstance(name, str) and name not in flavors and not is_placeholder(name):
                there = ", ".join(sorted(flavors)) or "none"
                yield Violation(
                    ("spec", "admissionChecksStrategy", "admissionChecks", number, "onFlavors", index),
                    f"onFlavors has {name}, which is not a flavor of the queue"
                    + ("" if have else f": Kueue refuses that since {versions.CHECKED_FLAVORS}"),
                    f"its flavors: {there}",
                    None if have else Severity.WARNING,
                )


RULE = Rule(
    code="PK920",
    name="invalid-cluster-queue",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"ClusterQueue", "Cohort"}),
)
