"""Targets in random versions, and settings."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.policies.names import Draw, Names, maybe, optional, some

_SERVED = {"volcano": "volcano", "koordinator": "koord-scheduler", "yunikorn": "yunikorn"}
_RELEASES = {"volcano": range(8, 16), "koordinator": range(3, 9), "yunikorn": range(3, 10)}
_FIRST_FIT_PLUS, _FIRST_OVERRIDE, _FIRST_DEVICESHARE = 6, 10, 9
KUBERNETES = st.sampled_from([f"1.{minor}" for minor in range(28, 38)])


def targets(draw: Draw, names: Names) -> tuple[dict[str, Any], Names]:
    """Systems to generate for, and the schedulerNames they serve."""
    found: dict[str, Any] = {}
    served = {}
    for name in some(draw, tuple(_SERVED), 0, 3):
        target: dict[str, Any] = {}
        releases = _RELEASES[name]
        if name == "volcano" and names.virtual:
            releases = range(_FIRST_DEVICESHARE, releases.stop)
        minor = draw(st.sampled_from([None, *releases]))
        if minor is not None:
            target["version"] = f"1.{minor}"
        maybe(draw, target, "namespace", st.just(f"{name}-here"))
        if name == "volcano":
            _volcano(draw, target, names, minor)
        if name == "koordinator":
            _koordinator(draw, target, names, minor)
        if name == "volcano" and not draw(st.integers(0, 5)):
            target["schedulerName"] = f"our-{name}"
        served[name] = target.get("schedulerName", _SERVED[name])
        found[name] = target
    return found, names._replace(schedulers=tuple(served.values()))


def _volcano(draw: Draw, target: dict[str, Any], names: Names, minor: int | None) -> None:
    old = minor is not None and minor < _FIRST_OVERRIDE
    delivery = st.just("manifest") if old else st.sampled_from(["helm-values", "manifest"])
    if old or draw(st.booleans()):
        target["delivery"] = draw(delivery)
    weights = {name: draw(st.integers(0, 20)) for name in (*some(draw, names.cards), "cpu")}
    maybe(draw, target, "binpack", optional(weight=st.integers(0, 20), resources=st.just(weights)))


def _koordinator(draw: Draw, target: dict[str, Any], names: Names, minor: int | None) -> None:
    maybe(draw, target, "delivery", st.sampled_from(["post-render", "manifest"]))
    offered = tuple(dict.fromkeys(names.whole.values()))
    if (minor is None or minor >= _FIRST_FIT_PLUS) and offered:
        kinds = st.sampled_from(["MostAllocated", "LeastAllocated"])
        fit = optional(type=kinds, weight=st.integers(1, 20))
        maybe(draw, target, "fit", st.just({name: draw(fit) for name in some(draw, offered, 1)}))


def settings(draw: Draw) -> dict[str, Any]:
    """`lint`, `generate`, `schedulers` and `coverage`."""
    found: dict[str, Any] = {}
    forms = ["labels", "taints", "kubelet", "kubeadm", "provider", "karpenter", "nfd"]
    generate = optional(
        out=st.just("generated"), nodes=st.lists(st.sampled_from(forms), unique=True, max_size=7)
    )
    lint = optional(
        preset=st.sampled_from(["minimal", "recommended", "strict"]),
        ignore=st.just(["PK101"]),
        select=st.just(["PK1", "PK2"]),
        severity=st.just({"PK102": "warning"}),
        perPath=st.just({"vendor/*": ["PK1"]}),
        exclude=st.just(["vendor/**"]),
        extraPlugins=st.just(["OurPlugin"]),
    )
    maybe(draw, found, "generate", generate)
    maybe(draw, found, "lint", lint)
    maybe(draw, found, "schedulers", st.just(["our-scheduler"]))
    maybe(draw, found, "coverage", st.sampled_from(["partial", "complete"]))
    maybe(draw, found, "kubernetes", KUBERNETES)
    maybe(draw, found, "provider", st.sampled_from(["gke", "eks", "aks", "ack"]))
    return found
