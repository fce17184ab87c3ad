"""Every rule, in the order of the catalogue; a test notices a file that is not listed.

Rules are imported only when a run can use them: most runs of a hook look at one file.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import NamedTuple

from policykit.linter.rule import AnyRule


class Entry(NamedTuple):
    """A rule as listed: enough to choose it, without importing it."""

    code: str
    family: str
    """Folder of its file."""
    name: str
    needs_policy: bool = False
    preview: bool = False
    on_request: bool = False
    """Off in every preset: speaks only where its code or name is selected."""


CATALOGUE = (
    Entry("PK001", "reading", "syntax-error"),
    Entry("PK002", "reading", "duplicate-key"),
    Entry("PK003", "reading", "unknown-field"),
    Entry("PK004", "reading", "invalid-field"),
    Entry("PK005", "reading", "invalid-quantity"),
    Entry("PK006", "reading", "invalid-label"),
    Entry("PK007", "reading", "removed-api-version"),
    Entry("PK008", "reading", "unknown-api-kind"),
    Entry("PK101", "placement", "missing-toleration", True),
    Entry("PK102", "placement", "no-feasible-pool", True),
    Entry("PK103", "placement", "missing-usage-affinity", True),
    Entry("PK104", "placement", "wrong-usage", True),
    Entry("PK105", "placement", "missing-preference", True),
    Entry("PK106", "placement", "wrong-card", True),
    Entry("PK107", "placement", "unsatisfiable-affinity"),
    Entry("PK108", "placement", "unknown-node-label", True),
    Entry("PK109", "placement", "leaking-or-term", True),
    Entry("PK110", "placement", "attracted-but-repelled", True),
    Entry("PK111", "placement", "tolerated-but-not-selected", True),
    Entry("PK112", "placement", "tolerates-everything"),
    Entry("PK113", "placement", "control-plane-toleration", True),
    Entry("PK114", "placement", "cpu-workload-on-card-pool", True),
    Entry("PK115", "placement", "dead-toleration", True),
    Entry("PK116", "placement", "invalid-toleration"),
    Entry("PK117", "placement", "negative-only-selection"),
    Entry("PK118", "placement", "pinned-to-node"),
    Entry("PK120", "placement", "daemonset-misses-pool", True),
    Entry("PK122", "placement", "scheduler-metadata-ignored"),
    Entry("PK123", "placement", "oversized-card", True),
    Entry("PK124", "placement", "card-not-requested", True),
    Entry("PK125", "placement", "lost-fallback", True),
    Entry("PK126", "placement", "selection-resource-mismatch", True),
    Entry("PK130", "placement", "card-model-not-stated", True),
    Entry("PK201", "resources", "card-request-limit-mismatch"),
    Entry("PK202", "resources", "wrong-card-resource", True),
    Entry("PK203", "resources", "exceeds-node", True),
    Entry("PK206", "resources", "quota-key-never-counted"),
    Entry("PK207", "resources", "limitrange-injects-cards"),
    Entry("PK208", "resources", "hpa-on-card-metric"),
    Entry("PK210", "resources", "job-shape"),
    Entry("PK211", "resources", "unknown-card-resource"),
    Entry("PK301", "gangs", "gang-exceeds-replicas"),
    Entry("PK302", "gangs", "partial-gang"),
    Entry("PK303", "gangs", "gang-not-declared"),
    Entry("PK306", "gangs", "gang-without-group"),
    Entry("PK801", "native", "unknown-scheduler-plugin"),
    Entry("PK903", "housekeeping", "unused-suppression"),
    Entry("PK904", "housekeeping", "expired-suppression"),
    Entry("PK905", "housekeeping", "suppression-without-reason", on_request=True),
    Entry("PK909", "housekeeping", "baseline-stale"),
)


@cache
def rule(entry: Entry) -> AnyRule:
    """The rule itself, from the file of its name."""
    module = import_module(f"policykit.rules.{entry.family}.{entry.name.replace('-', '_')}")
    found = module.RULE
    assert isinstance(found, tuple)
    return found  # type: ignore[return-value]


def rules(*, with_policy: bool = True) -> tuple[AnyRule, ...]:
    """The rules that can speak in a run with or without a policy, in order."""
    return tuple(rule(entry) for entry in CATALOGUE if with_policy or not entry.needs_policy)
