"""Workload kinds: which pools they may and should use, and how they are scheduled."""

from typing import Annotated, Literal

from pydantic import Field, Tag

from policykit.policy.models.autoscaling import Autoscaling
from policykit.policy.models.base import BY_FORM, Model
from policykit.policy.models.gang import Across, GangChoice, Within
from policykit.policy.models.placement import Weight


class Match(Model):
    """Identifies pod sets of the kind. All given parts must match."""

    kinds: tuple[str, ...] = Field((), description="API kinds: Deployment, or batch.volcano.sh/Job.")
    namespaces: tuple[str, ...] = Field((), description="Namespaces of the object.")
    labels: dict[str, str] = Field({}, description="Labels of the object or its pods.")
    names: tuple[str, ...] = Field((), description="Globs for the object's name.")


MatchChoice = Annotated[Annotated[Match, Tag("<map>")] | Annotated[tuple[Match, ...], Tag("<list>")], BY_FORM]
Cards = Annotated[
    Annotated[Literal["none"], Tag("<text>")] | Annotated[tuple[str, ...], Tag("<list>")], BY_FORM
]


class Workload(Model):
    """A kind of workload, such as training or inference."""

    usages: tuple[str, ...] = Field((), description="Usages of the pools it may run on. Default: any pool.")
    prefer: dict[str, Weight] = Field({}, description="Preferred usages: usage to weight, 1 to 100.")
    cards: Cards | None = Field(None, description="Cards it uses; `none` for none. Default: any.")
    scheduler: str = Field("", description="schedulerName its pods must have. Default: any.")
    gang: GangChoice | None = Field(
        None,
        description="all: the pods of a job start together or not at all; or {size, timeout, onTimeout}.",
    )
    within: Within | None = Field(None, description="How close together the pods of a job are placed.")
    across: Across | None = Field(None, description="Over what the pods of a workload are spread.")
    placement: str = Field(
        "",
        description="A placement of this policy, or binpack, which fills nodes one by one, or spread, "
        "which keeps them evenly used.",
    )
    priority_class: str = Field("", description="PriorityClass of its pods.")
    queue: str = Field("", description="Queue its jobs go to.")
    namespaces: tuple[str, ...] = Field((), description="Namespaces it runs in. Default: any.")
    helpers: tuple[str, ...] | None = Field(
        None,
        description="Pools for its pods that request no card: launchers, drivers, parameter servers. "
        "Default: the pools without cards.",
    )
    autoscaling: Autoscaling | None = Field(None, description="Bounds and metrics of its replicas.")
    match: MatchChoice = Field((), description="How to identify pod sets of this kind, if not by usage.")
