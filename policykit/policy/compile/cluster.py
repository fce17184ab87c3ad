"""Compiles a merged, well-formed policy into a Cluster."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping

import policykit
from policykit.kube.names import dns_subdomain_problem, label_key_problem, label_value_problem
from policykit.manifests.path import Path
from policykit.model.cluster import Cluster, LintSettings
from policykit.model.pool import HARD_EFFECTS, Card, Pool, Taint
from policykit.model.topology import LEVELS
from policykit.nearest import nearest
from policykit.placement.former_names import FormerNames, with_former_names
from policykit.policy.compile.cards import collect_cards, compile_card
from policykit.policy.compile.draft import DefinedNames, Draft, check_references
from policykit.policy.compile.pools import compile_pools
from policykit.policy.compile.queues import (
    compile_preemption,
    compile_priorities,
    compile_queues,
    compile_quotas,
    compile_reservations,
    compile_tenants,
)
from policykit.policy.compile.releases import clauses, satisfies
from policykit.policy.compile.scheme import cluster_scheme, control_plane_taint
from policykit.policy.compile.targets import compile_schedulers, compile_targets
from policykit.policy.compile.topology import compile_levels
from policykit.policy.compile.workloads import compile_placements, compile_workloads
from policykit.policy.models.policy import AppliedFolder, Applies, Policy
from policykit.policy.models.pool import KeyPart, PoolScheme, Scheme, TaintPart
from policykit.policy.problems import Problems
from policykit.policy.tree import SourcedValue

_VARIABLE = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*\Z")


def check_applied(draft: Draft) -> None:
    """Reports paths that are not relative to the policy, and invalid names of variables."""
    stated = draft.policy.applies
    base: Path = ("applies", "folders") if isinstance(stated, Applies) else ("applies",)
    folders = stated.folders if isinstance(stated, Applies) else stated
    for number, each in enumerate(folders or ()):
        _check_applied_folder(draft, (*base, number), each)


def _check_applied_folder(draft: Draft, here: Path, each: AppliedFolder) -> None:
    if not each.path:
        draft.problems.error((*here, "path"), "path is empty", "name a folder; . is the policy's own")
    for path, name in _paths(each, here):
        if posixpath.isabs(name):
            message = f"{name!r} is not relative to the policy"
            draft.problems.error(path, message, "use a relative path")
    for name in each.substitute:
        if not _VARIABLE.match(name):
            message = f"{name!r} is not the name of a variable"
            hint = "use letters, digits and _, and no digit at the start"
            draft.problems.error((*here, "substitute", name), message, hint, key=True)


def _paths(each: AppliedFolder, here: Path) -> Iterator[tuple[Path, str]]:
    """Every path that an entry names."""
    yield (*here, "path"), each.path
    for index, name in enumerate(each.substitute_from):
        yield (*here, "substituteFrom", index), name
    for index, name in enumerate(each.helm.values if each.helm else ()):
        yield (*here, "helm", "values", index), name


_Names = Mapping[str, tuple[str, ...]]


def with_formerly(draft: Draft, cluster: Cluster) -> Cluster:
    """The cluster in which former names hold too."""
    stated = draft.policy.formerly
    if not stated.model_fields_set:
        return cluster
    usages = {pool.usage for pool in cluster.pools if pool.usage}
    products = {card.product for card in cluster.cards.values() if card.product}
    if len(cluster.cards) < len(draft.policy.cards):
        products |= stated.products.keys()  # a card with a mistake may have the product
    queues = {queue.name for queue in cluster.queues}
    _check_former_names(draft, "domain", stated.domain, {draft.policy.domain}, dns_subdomain_problem)
    _check_former_names(draft, "usages", stated.usages, usages, label_value_problem)
    _check_former_names(draft, "products", stated.products, products, label_value_problem)
    _check_former_names(draft, "queues", stated.queues, queues, dns_subdomain_problem)
    _check_former_names(draft, "name", stated.name, {cluster.name}, dns_subdomain_problem)
    names = FormerNames(stated.domain, stated.usages, stated.products, stated.queues, stated.name)
    return with_former_names(cluster, names)


def _check_former_names(draft: Draft, part: str, names: _Names, present: set[str], problem: object) -> None:
    """Reports names that the policy does not have, and former ones that it still has."""
    assert callable(problem)
    one = {"domain": "domain", "name": "name"}.get(part, part.removesuffix("s"))
    for new, olds in names.items():
        if new not in present:
            message = f"{one} {new} is not in the policy"
            known = sorted(present - {""})
            near = nearest(new, known)
            hint = f"write a present name: {', '.join(known)}" if known else ""
            hint = f"did you mean {near}?" if near else hint
            draft.problems.error(("formerly", part, new), message, hint, key=True)
        for number, old in enumerate(olds):
            path = ("formerly", part, new, number)
            draft.check(path, f"{one} {old!r}", problem(old))
            if old in present:
                message = f"{one} {old} is not a former name: the policy still has it"
                draft.problems.error(path, message, "remove it here, or there")


_PLACEHOLDER_DOMAIN = "policy.invalid"
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
        policy = policy.model_copy(update={"domain": _PLACEHOLDER_DOMAIN if policy.domain else ""})
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
        placed_elsewhere=frozenset(policy.placed_elsewhere),
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
