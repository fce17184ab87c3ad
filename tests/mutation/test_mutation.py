"""Faults in clean manifests are found: a sample of each kind, always the same one."""

from collections.abc import Sequence
from functools import cache

import pytest

from policykit.rules import CATALOGUE
from tests.mutation.clean import Clean, clean
from tests.mutation.fault import Fault
from tests.mutation.faults import FAULTS
from tests.mutation.measure import Try, tries
from tests.mutation.misses import MISSES, unexplained
from tests.shared import SHARED

SHARE = 4
"""One in so many manifests of people's; what is generated and the pages' examples are all taken."""
PLACES = 6

pytestmark = pytest.mark.skipif(SHARED is None, reason="no shared corpus beside the checkout")


@cache
def sample() -> Sequence[Clean]:
    return clean(SHARE)


@cache
def tried(fault: Fault) -> tuple[Try, ...]:
    return tuple(tries(fault, sample(), PLACES))


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.kind)
def test_a_fault_is_found_or_its_miss_is_explained(fault: Fault) -> None:
    missed = [" ".join((*one.key, *one.said)) for one in unexplained(tried(fault))]
    assert not missed, "\n".join(missed)


def test_nearly_all_are_found() -> None:
    every = [one for fault in FAULTS for one in tried(fault)]
    assert len(every) > 700
    assert sum(one.found for one in every) / len(every) >= 0.99


def test_kinds_have_names_of_their_own_and_misses_name_kinds() -> None:
    kinds = [fault.kind for fault in FAULTS]
    assert len(set(kinds)) == len(kinds) > 40
    assert all(set(row.faults) <= set(kinds) for row in MISSES)


def test_every_rule_about_manifests_has_a_kind_of_fault() -> None:
    """PK009 and PK140 are about kustomizations; PK9 about policies, suppressions, generated files, Kueue.

    PK313 is about a PodGroup and objects that join it: no clean file of people's, under a policy, has both so
    that one change makes them too large. Its cases are in tests/rules/gangs.
    """
    expected = {code for fault in FAULTS for code in fault.codes} | {"PK009", "PK140", "PK313"}
    assert [entry.code for entry in CATALOGUE if entry.code < "PK9" and entry.code not in expected] == []
