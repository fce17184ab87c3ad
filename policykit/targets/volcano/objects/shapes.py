"""Parts of Volcano's objects whatever their shape: what is not there, or is something else, is empty."""

from __future__ import annotations

from policykit.model.pool import Amounts
from policykit.model.quantity import amount_text


def quantities(wanted: Amounts) -> dict[str, str]:
    """A resource list, sorted by name."""
    return {resource: amount_text(resource, wanted[resource]) for resource in sorted(wanted)}
