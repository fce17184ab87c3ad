"""Compiles a merged, well-formed policy into a Cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import policykit
from policykit.kube.names import dns_subdomain_problem
from policykit.model.card import Card
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.model.taint import HARD_EFFECTS, Taint
from policykit.policy.compile.cards import compile_card, known_cards
from policykit.policy.compile.draft import Draft, Written
from policykit.policy.compile.levels import compile_levels
from policykit.policy.compile.placements import compile_placements
from policykit.policy.compile.pools import compile_pools
from policykit.policy.compile.priorities import compile_priorities
from policykit.policy.compile.queues import compile_preemption, compile_queues
from policykit.policy.compile.quotas import compile_quotas
from policykit.policy.compile.references import check_references
from policykit.policy.compile.reservations import compile_reservations
from policykit.policy.compile.scheme import check_schemes
from policykit.policy.compile.settings import compile_lint, compile_output
from policykit.policy.compile.targets import compile_schedulers, compile_targets
from policykit.policy.compile.tenants import compile_tenants
from policykit.policy.compile.workloads import compile_workloads
from policykit.policy.design import cluster_design, control_plane_taint
from policykit.policy.models.policy import Policy
from policykit.policy.problems import Problems
from policykit.policy.tree import Said
from policykit.policy.version import clauses, release, satisfies

_STAND_IN = "policy.invalid"
"""Replaces a malformed domain so that other mistakes can still be found."""


def compile_policy(
    policy: Policy, problems: Problems, tree: Said, texts: Mapping[str, str], source: str
) -> Cluster:
    """The cluster that a policy describes. Adds mistakes to `problems`; the result is unusable then."""
    draft = Draft(policy, problems, tree, Written(tree))
    _check_head(draft)
    if dns_subdomain_problem(policy.domain):
        # Told once at `domain`, or not said at all: keys made from it say nothing new.
        policy = policy.model_copy(update={"domain": _STAND_IN if policy.domain else ""})
        draft = draft._replace(policy=policy)
    draft = draft._replace(cards=known_cards(draft))
    check_references(draft)
    check_schemes(draft)
    design = cluster_design(policy.scheme, policy.domain)
    pools = compile_pools(draft, design)
    cards = {name: compile_card(draft, card, design) for name, card in draft.cards.items()}
    placements = compile_placements(draft)
    workloads = compile_workloads(draft)
    targets = compile_targets(draft, workloads, texts)
    control_plane = _control_plane(draft)
    usage_key = design.usage.key if design.usage.label or design.usage.taint else ""
    return Cluster(
        name=policy.metadata.name,
        pools=pools,
        cards=cards,
        workloads=workloads,
        usage_key=usage_key,
        control_plane_taint=control_plane,
        complete=policy.coverage == "complete",
        provider=policy.provider or design.preset.provider,
        queues=compile_queues(draft),
        priorities=compile_priorities(draft),
        quotas=compile_quotas(draft),
        targets=targets,
        schedulers=compile_schedulers(draft, targets, workloads, placements),
        kubernetes_version=policy.kubernetes.removeprefix("v"),
        declared_keys=_declared(usage_key, cards.values(), pools),
        taint_keys=_taint_keys(pools, control_plane),
        lint=compile_lint(draft),
        output=compile_output(draft),
        source=source,
        node_forms=policy.generate.nodes,
        placements=placements,
        levels=compile_levels(draft),
        preemption=compile_preemption(draft),
        tenants=compile_tenants(draft),
        reservations=compile_reservations(draft, pools),
        taints_pools=any(taint.effect in HARD_EFFECTS for taint in design.taints),
    )


def _check_head(draft: Draft) -> None:
    policy = draft.policy
    if not policy.metadata.name:
        draft.problems.error(("metadata",), "the policy has no name", "add metadata: {name: ...}", key=True)
    else:
        name = policy.metadata.name
        draft.check(("metadata", "name"), f"name {name!r}", dns_subdomain_problem(name))
    if policy.domain:
        draft.check(("domain",), f"domain {policy.domain!r}", dns_subdomain_problem(policy.domain))
    if policy.kubernetes and release(policy.kubernetes) is None:
        draft.problems.error(("kubernetes",), f"{policy.kubernetes!r} is not a version", 'use quotes: "1.36"')
    _check_pin(draft, policy.policykit)


def _check_pin(draft: Draft, pin: str) -> None:
    if pin and clauses(pin) is None:
        draft.problems.error(
            ("policykit",), f"{pin!r} is not a version range", 'use a form such as ">=0.1,<0.2"'
        )
    elif pin and not satisfies(policykit.__version__, pin):
        message = f"this policy requires policykit {pin}, but {policykit.__version__} is running"
        draft.problems.error(("policykit",), message, "install a matching version, or change the range")


def _control_plane(draft: Draft) -> Taint | None:
    scheme = draft.policy.scheme
    taint = control_plane_taint(scheme, draft.policy.domain)
    stated = not isinstance(scheme, str) and scheme.control_plane
    if stated and taint is None:
        hint = "add domain: example.com, or key"
        draft.problems.error(("scheme", "controlPlane"), "the control plane taint has no key", hint, key=True)
    return taint


def _declared(usage_key: str, cards: Iterable[Card], pools: Iterable[Pool]) -> frozenset[str]:
    """The keys that the policy owns: the usage key, the cards' keys, and every key that pools declare."""
    keys = {usage_key, *(key for card in cards for key in card.label_keys)}
    for pool in pools:
        keys |= {*pool.labels, *(key for shape in pool.shapes for key in shape.labels)}
    return frozenset(key for key in keys if key)


def _taint_keys(pools: Iterable[Pool], control_plane: Taint | None) -> frozenset[str]:
    keys = {taint.key for pool in pools for taint in pool.taints}
    return frozenset(keys | ({control_plane.key} if control_plane else set()))
