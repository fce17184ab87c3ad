"""Node taints and pod tolerations."""

from policykit.namedtuple import NamedTuple

HARD_EFFECTS = frozenset({"NoSchedule", "NoExecute"})


class Taint(NamedTuple):
    """A node taint. Effect is NoSchedule, PreferNoSchedule or NoExecute."""

    key: str
    value: str = ""
    effect: str = "NoSchedule"

    @property
    def hard(self) -> bool:
        """Whether it keeps pods away; PreferNoSchedule only lowers the score."""
        return self.effect in HARD_EFFECTS

    @property
    def evicts(self) -> bool:
        """Whether it also removes running pods that do not tolerate it."""
        return self.effect == "NoExecute"

    def __str__(self) -> str:
        value = f"={self.value}" if self.value else ""
        return f"{self.key}{value}:{self.effect}"


class Toleration(NamedTuple):
    """A pod toleration as stored: an empty operator means Equal, an empty effect any."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    seconds: int | None = None

    def __str__(self) -> str:
        value = "" if self.operator == "Exists" else f"={self.value}"
        effect = f":{self.effect}" if self.effect else ""
        return f"{self.key or '*'}{value}{effect}"
