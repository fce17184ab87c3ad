"""Pool names as clouds take them."""

from __future__ import annotations

import re
from collections import Counter
from hashlib import sha256
from typing import NamedTuple

from policykit.model.cluster import Cluster

_HASH = 4


class NameRule(NamedTuple):
    """What a cloud takes for the name of a node pool: lower-case letters, digits and `joint`."""

    limit: int
    joint: str = "-"


def pool_names(cluster: Cluster, rule: NameRule) -> dict[str, str]:
    """Policy's pool name to the cloud's, unlike each other: a name that had to be cut ends in a hash."""
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
