"""Gangs, and how close together or far apart pods are placed."""

from typing import Annotated, Literal

from pydantic import Field, Tag

from policykit.policy.models.base import BY_FORM, Duration, Model

LevelName = Literal["zone", "domain", "rack", "switch", "nvlink"]
Mode = Literal["hard", "soft"]


class Gang(Model):
    """A gang with settings beyond `all`."""

    size: int | None = Field(
        None, ge=1, description="Minimum number of pods that must start together. Default: all pods of a job."
    )
    timeout: Duration | None = Field(
        None,
        description="How long placed pods wait for the rest of the gang: 10m. Default: the scheduler's own.",
    )
    on_timeout: Literal["wait", "start", "fail"] | None = Field(
        None,
        description="wait: release the placed pods and try the gang again; start: run the placed pods; "
        "fail: fail the job. Default: the scheduler's own.",
    )


GangChoice = Annotated[
    Annotated[Literal["all", "none"], Tag("<text>")] | Annotated[Gang, Tag("<map>")], BY_FORM
]


class Within(Model):
    """Keeps the pods of a job within one rack, switch, ..."""

    level: LevelName | None = Field(None, description="Topology level.")
    mode: Mode = Field("soft", description="hard: pods wait until they fit within one; soft: a preference.")


class Across(Model):
    """Spreads the pods of a workload evenly over racks, nodes, ..."""

    level: LevelName | Literal["node"] | None = Field(
        None, description="Topology level, or node for single nodes."
    )
    mode: Mode = Field(
        "soft", description="hard: pods wait until they can be spread evenly; soft: a preference."
    )
    skew: int = Field(1, ge=1, description="Largest allowed difference in pods between any two of them.")
