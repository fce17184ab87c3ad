"""What the forms of all clouds share: pool names, reserved domains, and the script that creates a pool."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256

from policykit.generator.artifact import Artifact
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.model.taint import Taint
from policykit.namedtuple import NamedTuple


class Form(NamedTuple):
    """Files of one pool in the form of a cloud, and what that form cannot express."""

    artifacts: tuple[Artifact, ...]
    left_out: tuple[str, ...] = ()
    """Notices."""


Write = Callable[[Cluster, Pool], Form]


class LabelsAndTaints(NamedTuple):
    """Labels and taints that a cloud accepts, and those it rejects, as text."""

    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    refused: tuple[str, ...] = ()


def in_domain(key: str, domains: Iterable[str]) -> bool:
    """Whether a key's prefix is one of the domains or a subdomain."""
    prefix, slash, _ = key.partition("/")
    return bool(slash) and any(prefix == domain or prefix.endswith(f".{domain}") for domain in domains)


def without_domains(
    labels: Mapping[str, str], taints: Iterable[Taint], domains: tuple[str, ...]
) -> LabelsAndTaints:
    """Labels and taints without those in a domain that the cloud reserves."""
    taints = tuple(taints)
    refused = [
        *(f"label {key}" for key in labels if in_domain(key, domains)),
        *(f"taint {taint}" for taint in taints if in_domain(taint.key, domains)),
    ]
    return LabelsAndTaints(
        {key: value for key, value in labels.items() if not in_domain(key, domains)},
        tuple(taint for taint in taints if not in_domain(taint.key, domains)),
        tuple(refused),
    )


def create_or_update(comments: Iterable[str], file: str, create: str, updates: Iterable[str]) -> str:
    """A script whose first argument is create or update; the others are passed to the cloud's command."""
    says = "".join(f"# {comment}\n" for comment in comments)
    cases = [_case("create", [create]), _case("update", list(updates))]
    usage = f'*)\n  echo "usage: sh {file} create|update [ARGUMENT]..." >&2\n  exit 2\n  ;;\n'
    return f'#!/bin/sh\n{says}set -eu\n\ncase "${{1:-}}" in\n' + "".join(cases) + usage + "esac\n"


def _case(name: str, commands: list[str]) -> str:
    lines = [f"  {line}\n" for each in ["shift", *commands] for line in each.splitlines()]
    return f"{name})\n" + "".join(lines) + "  ;;\n"


def call(words: str, arguments: Iterable[str]) -> str:
    """A command on several lines that passes on the script's arguments."""
    return " \\\n  ".join([words, *arguments, '"$@"'])


_HASH = 4


class NameRule(NamedTuple):
    """What a cloud accepts as the name of a node pool: lower-case letters, digits and `joint`."""

    limit: int
    joint: str = "-"


def pool_names(cluster: Cluster, rule: NameRule) -> dict[str, str]:
    """Pool name in the policy to the cloud's, each unique: a shortened name ends in a hash."""
    plain = {pool.name: _plain(pool.name, rule) for pool in cluster.pools}
    uses = Counter(plain.values())
    return {
        name: made if len(made) <= rule.limit and uses[made] == 1 else _hashed(name, made, rule)
        for name, made in plain.items()
    }


def _plain(name: str, rule: NameRule) -> str:
    made = re.sub(r"[^a-z0-9]+", rule.joint, name).strip("-")
    return made if made[:1].isalpha() else f"p{rule.joint}{made}"


def _hashed(name: str, made: str, rule: NameRule) -> str:
    tail = sha256(name.encode()).hexdigest()[:_HASH]
    return f"{made[: rule.limit - _HASH]}{tail}"
