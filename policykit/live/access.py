"""What the command line says about the cluster to read."""

from __future__ import annotations

from policykit.namedtuple import NamedTuple


class Access(NamedTuple):
    """Which cluster to read, and how much of it."""

    context: str = ""
    """Empty: the current context."""
    kubeconfig: str = ""
    """Empty: as kubectl finds it."""
    namespace: str = ""
    """Empty: that of the context."""
    every_namespace: bool = False
    timeout: float = 30.0
    """Seconds that one answer may take."""
