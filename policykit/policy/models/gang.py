"""Pods that start together, stay close, and stand apart."""

from typing import Annotated, Literal

from pydantic import Field, Tag

from policykit.policy.models.base import BY_FORM, Duration, Model

LevelName = Literal["zone", "domain", "rack", "switch", "nvlink"]
Mode = Literal["hard", "soft"]


class Gang(Model):
    """A gang with more said of it than all."""

    size: int | None = Field(
        None, ge=1, description="How many must start together at least. Default: all of a job."
    )
    timeout: Duration | None = Field(
        None,
        description="How long pods that have a place wait for the others: 10m. Default: the scheduler's own.",
    )
    on_timeout: Literal["wait", "start", "fail"] | None = Field(
        None,
        description="wait: they give their places back and the gang tries again; start: those that have "
        "a place run; fail: the job fails. Default: the scheduler's own.",
    )


GangChoice = Annotated[
    Annotated[Literal["all", "none"], Tag("<text>")] | Annotated[Gang, Tag("<map>")], BY_FORM
]


class Within(Model):
    """The pods of one job stay within one rack, switch, ..."""

    level: LevelName | None = Field(None, description="Level of the topology.")
    mode: Mode = Field("soft", description="hard: they wait rather than stand apart; soft: a wish.")


class Across(Model):
    """The pods of one workload are spread evenly over racks, nodes, ..."""

    level: LevelName | Literal["node"] | None = Field(
        None, description="Level of the topology, or node for single nodes."
    )
    mode: Mode = Field("soft", description="hard: they wait rather than stand uneven; soft: a wish.")
    skew: int = Field(1, ge=1, description="Largest difference of pods between two of them.")
