"""Which placements have a profile, and what is said of the others."""

from typing import Any

import pytest

from policykit.model.cluster import TargetSettings
from policykit.model.placement import Placement
from policykit.model.taint import Taint
from policykit.targets.kubernetes.options import SchedulerOptions
from policykit.targets.kubernetes.scheduler.plan import plan
from policykit.targets.kubernetes.versions import parse
from tests.targets.kubernetes.clusters import DENSE, GPU, TRAINING, cluster, pool

VOLCANO = TargetSettings("volcano", scheduler_name="volcano")
BARE = DENSE._replace(scheduler="")
DEFAULT = DENSE._replace(scheduler="default-scheduler")
BY_DEFAULT = TRAINING._replace(scheduler="")


@pytest.mark.parametrize(
    ("placements", "stated", "fields", "way", "names"),
    [
        ((), SchedulerOptions(), {}, "second", []),
        ((DENSE,), SchedulerOptions(), {}, "second", ["dense-scheduler"]),
        ((DENSE, DENSE._replace(name="twin")), SchedulerOptions(), {}, "second", ["dense-scheduler"]),
        ((BARE,), SchedulerOptions(), {}, "second", []),
        ((DENSE,), SchedulerOptions("cluster"), {}, "cluster", ["default-scheduler", "dense-scheduler"]),
        ((BARE,), SchedulerOptions("cluster"), {}, "cluster", []),
        ((BARE,), SchedulerOptions("cluster", "dense"), {}, "cluster", ["default-scheduler"]),
        ((DEFAULT,), SchedulerOptions("cluster"), {}, "cluster", ["default-scheduler"]),
        ((DEFAULT,), SchedulerOptions(), {}, "second", []),
        ((DENSE,), SchedulerOptions("cluster"), {"provider": "gke"}, "second", ["dense-scheduler"]),
        ((DENSE._replace(scheduler="volcano"),), SchedulerOptions(), {"others": (VOLCANO,)}, "second", []),
        ((DENSE._replace(scheduler="koord-scheduler"),), SchedulerOptions(), {}, "second", []),
    ],
    ids=[
        "no placement",
        "a second scheduler",
        "one profile for a name",
        "no scheduler stated",
        "the cluster's own keeps its profile",
        "no profile, no configuration",
        "placement of the default",
        "default named outright",
        "default beside the cluster's own",
        "a managed control plane",
        "another system's",
        "another system's usual name",
    ],
)
def test_profiles(
    placements: tuple[Placement, ...],
    stated: SchedulerOptions,
    fields: dict[str, Any],
    way: str,
    names: list[str],
) -> None:
    made = plan(cluster(*placements, **fields), stated, parse("1.36"))
    assert (made.way, [profile.scheduler for profile in made.profiles]) == (way, names)


@pytest.mark.parametrize(
    ("placement", "stated", "fields", "said"),
    [
        (DENSE, SchedulerOptions(), {}, ()),
        (
            BARE,
            SchedulerOptions(),
            {"kinds": (BY_DEFAULT,)},
            (
                "placement dense has no scheduler, so it gets no profile: set its scheduler, or use it "
                "for default-scheduler with targets.kubernetes.scheduler.default and as: cluster",
            ),
        ),
        (BARE, SchedulerOptions(), {"kinds": (BY_DEFAULT,), "others": (VOLCANO,)}, ()),
        (
            DEFAULT,
            SchedulerOptions(),
            {},
            (
                "placement dense uses default-scheduler, which a second scheduler must not serve. "
                "Nearest: give the placement its own scheduler name,"
                " or set targets.kubernetes.scheduler.as: cluster",
            ),
        ),
        (
            DENSE._replace(scheduler="volcano"),
            SchedulerOptions(),
            {},
            (
                "placement dense: its scheduler volcano belongs to another system, so no "
                "kube-scheduler profile is written for it",
            ),
        ),
        (
            DENSE,
            SchedulerOptions("cluster"),
            {"provider": "aks"},
            (
                "the control plane of aks is managed, and its scheduler takes no configuration: a second "
                "scheduler is generated instead of targets.kubernetes.scheduler.as: cluster",
            ),
        ),
        (
            DENSE._replace(avoid=(GPU,)),
            SchedulerOptions(),
            {"pools": (pool("open"), pool("shut")._replace(taints=(Taint("k", "v", "NoSchedule"),)))},
            (
                "placement dense: kube-scheduler has no score that keeps other pods off nvidia.com/gpu. "
                "Nearest: a taint on its nodes"
                ": pool open has no such taint",
            ),
        ),
        (
            DENSE._replace(avoid=(GPU,)),
            SchedulerOptions(),
            {"pools": (pool("shut")._replace(taints=(Taint("k", "v", "NoSchedule"),)),)},
            (
                "placement dense: kube-scheduler has no score that keeps other pods off nvidia.com/gpu. "
                "Nearest: a taint on its nodes"
                ", which pool shut has",
            ),
        ),
        (
            DENSE._replace(avoid=(GPU,)),
            SchedulerOptions(),
            {"pools": tuple(pool(name)._replace(taints=(Taint("k", "v", "NoSchedule"),)) for name in "ab")},
            (
                "placement dense: kube-scheduler has no score that keeps other pods off nvidia.com/gpu. "
                "Nearest: a taint on its nodes"
                ", which pools a, "
                "b have",
            ),
        ),
        (
            DENSE._replace(avoid=(GPU,), scheduler=""),
            SchedulerOptions(),
            {"others": (VOLCANO,), "kinds": ()},
            (),
        ),
    ],
    ids=[
        "nothing",
        "no scheduler",
        "no scheduler beside Volcano",
        "default",
        "another's",
        "managed",
        "avoid an open pool",
        "avoid a tainted pool",
        "avoid tainted pools",
        "avoid by another system",
    ],
)
def test_notices(
    placement: Placement, stated: SchedulerOptions, fields: dict[str, Any], said: tuple[str, ...]
) -> None:
    assert plan(cluster(placement, **fields), stated, parse("1.36")).notices == said


def test_weights_of_the_default_scheduler_are_known() -> None:
    made = plan(cluster(BARE), SchedulerOptions("cluster", "dense"), parse("1.36"))
    assert made.weights_default
    assert not plan(cluster(DENSE), SchedulerOptions("cluster"), parse("1.36")).weights_default
