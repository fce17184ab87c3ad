"""Random policies that are valid, over the whole vocabulary: for property tests of every target.

`policies()` draws policy data as people write it, `clusters()` what it compiles to.
"""

from tests.policies.whole import clusters, policies

__all__ = ["clusters", "policies"]
