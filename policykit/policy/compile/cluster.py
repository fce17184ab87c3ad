"""Compiles a merged, well-formed policy into a Cluster."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping

import policykit
from policykit.kube.names import dns_subdomain_problem, label_key_problem, label_value_problem
from policykit.manifests.path import Path
from policykit.model.cluster import Cluster, LintSettings
from policykit.model.pool import Card, Pool
from policykit.model.taint import HARD_EFFECTS, Taint
from policykit.model.topology import LEVELS
from policykit.policy.compile.applied import check_applied
from policykit.policy.compile.cards import collect_cards, compile_card
from policykit.policy.compile.draft import DefinedNames, Draft
from policykit.policy.compile.formerly import with_formerly
from policykit.policy.compile.placements import compile_placements
from policykit.policy.compile.pools import compile_pools
from policykit.policy.compile.priorities_and_quotas import compile_priorities, compile_quotas
from policykit.policy.compile.queues import (
    compile_preemption,
    compile_queues,
    compile_reservations,
    compile_tenants,
)
from policykit.policy.compile.references import check_references
from policykit.policy.compile.scheme import cluster_scheme, control_plane_taint
from policykit.policy.compile.targets import compile_schedulers, compile_targets
from policykit.policy.compile.topology import compile_levels
from policykit.policy.compile.workloads import compile_workloads
from policykit.policy.models.policy import Policy
from policykit.policy.models.scheme import KeyPart, PoolScheme, Scheme, TaintPart
from policykit.policy.problems import Problems
from policykit.policy.tree import SourcedValue
from policykit.policy.version import clauses, satisfies

_STAND_IN = "policy.invalid"
"""Replaces a malformed domain so that other mistakes can still be found."""
_RULE = re.compile(r"(PK[0-9]{1,3}|[a-z][a-z0-9]*(-[a-z0-9]+)*)\Z")


def compile_policy(
    policy: Policy, problems: Problems, tree: SourcedValue, texts: Mapping[str, str], source: str
) -> Cluster:
    """The cluster that a policy describes. Adds mistakes to `problems`; the result is unusable then."""
    draft = Draft(policy, problems, tree, DefinedNames(tree), texts=texts)
    _check_head(draft)
    if dns_subdomain_problem(policy.domain):
        # Reported once at `domain`; errors about keys derived from it would add nothing.
        policy = policy.model_copy(update={"domain": _STAND_IN if policy.domain else ""})
        draft = draft._replace(policy=policy)
    draft = draft._replace(cards=collect_cards(draft))
    check_references(draft)
    check_applied(draft)
    _check_schemes(draft)
    scheme = cluster_scheme(policy.scheme, policy.domain)
    pools = compile_pools(draft, scheme)
    cards = {name: compile_card(draft, card, scheme) for name, card in draft.cards.items()}
    placements = compile_placements(draft)
    workloads = compile_workloads(draft)
    targets = compile_targets(draft, workloads)
    control_plane = _control_plane(draft)
    usage_key = scheme.usage.key if scheme.usage.label or scheme.usage.taint else ""
    cluster = Cluster(
        name=policy.metadata.name,
        pools=pools,
        cards=cards,
        workloads=workloads,
        usage_key=usage_key,
        control_plane_taint=control_plane,
        complete=policy.coverage == "complete",
        provider=policy.provider or scheme.preset.provider,
        queues=compile_queues(draft),
        priorities=compile_priorities(draft),
        quotas=compile_quotas(draft),
        targets=targets,
        schedulers=compile_schedulers(draft, targets, workloads, placements),
        kubernetes_version=targets["kubernetes"].version,
        feature_gates=dict(policy.feature_gates),
        declared_keys=_declared_keys(usage_key, cards.values(), pools),
        taint_keys=_taint_keys(pools, control_plane),
        lint=_lint_settings(draft),
        output=_output_folder(draft),
        source=source,
        node_forms=policy.generate.nodes,
        placements=placements,
        levels=compile_levels(draft),
        preemption=compile_preemption(draft),
        tenants=compile_tenants(draft),
        reservations=compile_reservations(draft, pools),
        taints_pools=any(taint.effect in HARD_EFFECTS for taint in scheme.taints),
    )
    return with_formerly(draft, cluster)


def _check_head(draft: Draft) -> None:
    policy = draft.policy
    if not policy.metadata.name:
        draft.problems.error(("metadata",), "the policy has no name", "add metadata: {name: ...}", key=True)
    else:
        name = policy.metadata.name
        draft.check(("metadata", "name"), f"name {name!r}", dns_subdomain_problem(name))
    if policy.domain:
        draft.check(("domain",), f"domain {policy.domain!r}", dns_subdomain_problem(policy.domain))
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


def _declared_keys(usage_key: str, cards: Iterable[Card], pools: Iterable[Pool]) -> frozenset[str]:
    """The keys that the policy owns: the usage key, the cards' keys, and every key that pools declare."""
    keys = {usage_key, *(key for card in cards for key in card.label_keys)}
    for pool in pools:
        keys |= {*pool.labels, *(key for shape in pool.shapes for key in shape.labels)}
    return frozenset(key for key in keys if key)


def _taint_keys(pools: Iterable[Pool], control_plane: Taint | None) -> frozenset[str]:
    keys = {taint.key for pool in pools for taint in pool.taints}
    return frozenset(keys | ({control_plane.key} if control_plane else set()))


def _lint_settings(draft: Draft) -> LintSettings:
    """The lint settings as written; the linter checks whether a rule exists."""
    lint = draft.policy.lint
    for part in ("select", "ignore"):
        for number, rule in enumerate(getattr(lint, part)):
            _check_rule(draft, ("lint", part, number), rule)
    for rule in lint.severity:
        _check_rule(draft, ("lint", "severity", rule), rule)
    for glob, rules in lint.per_path.items():
        for number, rule in enumerate(rules):
            _check_rule(draft, ("lint", "perPath", glob, number), rule)
    return LintSettings(
        lint.select,
        lint.ignore,
        dict(lint.severity),
        tuple(lint.per_path.items()),
        lint.exclude,
        lint.extra_plugins,
        lint.preset,
        lint.crds,
        {str(reason): globs for reason, globs in lint.accept_not_judged.items()},
    )


def _output_folder(draft: Draft) -> str:
    """The output folder, which must be the policy's own or one below it."""
    out = draft.policy.generate.out
    if posixpath.isabs(out):
        draft.problems.error(
            ("generate", "out"), f"out {out!r} is not relative to the policy", "use a relative path"
        )
    return posixpath.normpath(out) if out else ""


def _check_rule(draft: Draft, path: Path, rule: str) -> None:
    if not _RULE.match(rule):
        hint = "use PK101, missing-toleration, or a family such as PK1"
        key = isinstance(path[-1], str)
        draft.problems.error(path, f"{rule!r} is not a rule name", hint, key=key)


def _check_schemes(draft: Draft) -> None:
    """Reports malformed keys and values in the cluster's scheme and in those of pools."""
    scheme = draft.policy.scheme
    if isinstance(scheme, Scheme):
        _check_scheme(draft, ("scheme",), scheme)
        _check_scheme_taint(draft, ("scheme", "controlPlane"), scheme.control_plane)
        for level in LEVELS:
            _check_key(draft, ("scheme", "topology", level), getattr(scheme.topology, level))
    for name, pool in draft.policy.pools.items():
        if isinstance(pool.scheme, PoolScheme):
            _check_scheme(draft, ("pools", name, "scheme"), pool.scheme)


def _check_scheme(draft: Draft, path: Path, scheme: PoolScheme) -> None:
    for name, part in (("usage", scheme.usage), ("product", scheme.product)):
        if isinstance(part, KeyPart):
            _check_key(draft, (*path, name, "key"), part.key)
            _check_scheme_taint(draft, (*path, name, "taint"), part.taint)


def _check_scheme_taint(draft: Draft, path: Path, taint: bool | TaintPart | None) -> None:
    if isinstance(taint, TaintPart):
        _check_key(draft, (*path, "key"), taint.key)
        value = taint.value or ""
        draft.check((*path, "value"), f"taint value {value!r}", label_value_problem(value))


def _check_key(draft: Draft, path: Path, key: str) -> None:
    if key:
        draft.check(path, f"key {key!r}", label_key_problem(key))
