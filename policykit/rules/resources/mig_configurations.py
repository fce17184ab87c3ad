"""What nvidia-mig-manager refuses of its file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from policykit.catalogue import cards
from policykit.kube.placeholders import is_filled_in, is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, numbered, whole
from policykit.model.cluster import Cluster
from policykit.model.severity import Severity
from policykit.nearest import nearest
from policykit.rules.resources import node_slices

_REFUSED = "nvidia-mig-manager refuses the file"
_TOP = ("version", "mig-configs")
_FIELDS = ("device-filter", "devices", "mig-enabled", "mig-devices")
_NEEDED = ("devices", "mig-enabled")
_SLICES = 7
"""Compute slices of a card with MIG, from A100 to B200; others have fewer."""
_CARDS: Mapping[str, str] = {
    "0x20B0": "NVIDIA-A100-SXM4-40GB",
    "0x20B1": "NVIDIA-A100-PCIE-40GB",
    "0x20B2": "NVIDIA-A100-SXM4-80GB",
    "0x20B5": "NVIDIA-A100-80GB-PCIe",
    "0x20B7": "NVIDIA-A30",
    "0x20F3": "NVIDIA-A800-SXM4-80GB",
    "0x20F5": "NVIDIA-A800-80GB-PCIe",
    "0x2321": "NVIDIA-H100-NVL",
    "0x2322": "NVIDIA-H800-PCIe",
    "0x2324": "NVIDIA-H800",
    "0x2329": "NVIDIA-H20",
    "0x2330": "NVIDIA-H100-80GB-HBM3",
    "0x2331": "NVIDIA-H100-PCIe",
    "0x2335": "NVIDIA-H200",
    "0x233B": "NVIDIA-H200-NVL",
    "0x2342": "NVIDIA-GH200-480GB",
    "0x2348": "NVIDIA-GH200-144G-HBM3e",
    "0x2901": "NVIDIA-B200",
    "0x2941": "NVIDIA-GB200",
    "0x2BB5": "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition",
    "0x3182": "NVIDIA-B300-SXM6-AC",
    "0x31C2": "NVIDIA-GB300",
}
"""Device to product. Source: what NVIDIA's operator (26.7) has in its default configurations."""
_VENDOR = "10DE"
_PROFILE = re.compile(r"(?:[1-9]c\.)?[1-9]g\.[1-9][0-9]*gb(?:[+-][a-z.]+)*\Z")


def violations(written: Mapping[str, Any], cluster: Cluster | None) -> Iterator[Violation]:
    """Source: `api/spec/v1` of mig-parted (0.12 to 0.15), which reads it strictly."""
    yield from _of_pools(mapping(written.get("mig-configs")), node_slices.cards_of(cluster))
    version = written.get("version")
    if version is None:
        yield Violation((), f"the file has no version: {_REFUSED}", "write version: v1")
    elif version != "v1" and not (isinstance(version, str) and is_filled_in(version)):
        yield Violation(("version",), f"version is {version!r}, not v1: {_REFUSED}", "write version: v1")
    yield from _unknown(written, (), _TOP)
    configurations = mapping(written.get("mig-configs"))
    if written.get("mig-configs") == {}:
        what = f"mig-configs is empty: {_REFUSED}"
        yield Violation(("mig-configs",), what, "write at least one configuration", key=True)
    for name, entries in configurations.items():
        path: Path = ("mig-configs", name)
        if not isinstance(entries, list) or not entries:
            empty = "is empty" if not entries else "is not a list"
            advice = "write a list of one or more entries, each with devices and mig-enabled"
            yield Violation(path, f"{name} {empty}: {_REFUSED}", advice, key=True)
            continue
        for position, entry in enumerate(entries):
            if isinstance(entry, dict) and not any(map(is_placeholder, entry)):
                yield from _entry(entry, (*path, position), str(name))


def _unknown(written: Mapping[str, Any], path: Path, known: tuple[str, ...]) -> Iterator[Violation]:
    for key in written:
        if isinstance(key, str) and key not in known and not is_filled_in(key):
            near = nearest(key, known)
            advice = f"did you mean {near}?" if near and near not in written else "delete it"
            yield Violation((*path, key), f"{key} is not a field here: {_REFUSED}", advice, key=True)


def _entry(entry: Mapping[str, Any], path: Path, name: str) -> Iterator[Violation]:
    yield from _unknown(entry, path, _FIELDS)
    for field in _NEEDED:
        if field not in entry:
            yield Violation(path, f"an entry of {name} has no {field}: {_REFUSED}", f"add {field}")
    enabled, devices = entry.get("mig-enabled"), entry.get("mig-devices")
    if enabled is not None and not isinstance(enabled, bool) and not _open(enabled):
        what = f"mig-enabled is {enabled!r}: {_REFUSED}"
        yield Violation((*path, "mig-enabled"), what, "write true or false, without quotes")
    if enabled is True and devices is None:
        what = f"{name} has no mig-devices, but mig-enabled is true: {_REFUSED}"
        yield Violation(
            (*path, "mig-enabled"), what, "add mig-devices, or write mig-enabled: false", key=True
        )
    yield from _selection(entry, path)
    if isinstance(devices, dict):
        if enabled is True:
            yield from _of_cards(entry.get("device-filter"), devices, (*path, "mig-devices"))
        yield from _devices(devices, (*path, "mig-devices"), name, off=enabled is False)


def _open(value: object) -> bool:
    return isinstance(value, str) and is_filled_in(value)


def _selection(entry: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    """`all`, or positions of cards; a filter is one text or several."""
    places, models = entry.get("devices"), entry.get("device-filter")
    listed = isinstance(places, list) and all(type(each) is int for each in places)
    if places is not None and places != "all" and not listed and not _open(places):
        what = f"devices is {_shown(places)}: {_REFUSED}"
        yield Violation((*path, "devices"), what, "write all, or a list of numbers such as [0, 1]")
    several = isinstance(models, list) and all(isinstance(each, str) for each in models)
    if models is not None and not isinstance(models, str) and not several:
        what = f"device-filter is {_shown(models)}: {_REFUSED}"
        yield Violation((*path, "device-filter"), what, 'write one or more texts such as "0x233010DE"')


def _shown(value: object) -> str:
    if isinstance(value, list):
        return "a list of something else"
    return "a mapping" if isinstance(value, dict) else repr(value)


def _devices(devices: Mapping[str, Any], path: Path, name: str, *, off: bool) -> Iterator[Violation]:
    if devices and off:
        yield Violation(
            path,
            f"{name} has mig-devices, but mig-enabled is false: {_REFUSED}",
            "write mig-enabled: true, or delete mig-devices",
            key=True,
        )
    slices = sum(_slices(profile) * (whole(number) or 0) for profile, number in devices.items())
    if slices > _SLICES:
        yield Violation(
            path,
            f"{name} makes {slices} slices of a card, but no card has more than {_SLICES}: "
            "nvidia-mig-manager fails, and the node keeps its former devices",
            "make fewer or smaller devices: nvidia-smi mig -lgipp lists what fits",
            key=True,
        )
    for profile, number in devices.items():
        if isinstance(profile, str) and not _PROFILE.match(profile) and not is_filled_in(profile):
            yield Violation(
                (*path, profile),
                f"{profile} is not a MIG profile: {_REFUSED}",
                "write one such as 1g.10gb: nvidia-smi mig -lgip lists those of a card",
                key=True,
            )
        elif not _open(number) and (type(number) is not int or number < 0):
            yield Violation(
                (*path, profile),
                f"{profile} is {_shown(number)}: {_REFUSED}",
                "write the number of devices of this size, without quotes",
            )
    if devices and all(number == 0 and type(number) is int for number in devices.values()):
        what = f"all numbers of mig-devices are 0: {_REFUSED}"
        yield Violation(path, what, "write 1 or more, or mig-enabled: false without mig-devices", key=True)


def _of_cards(models: object, devices: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    """Profiles that one of the cards of a filter lacks, or has not as often."""
    for model in models if isinstance(models, list) else [models]:
        named = _CARDS.get(model[:2] + model[2:-4].upper()) if isinstance(model, str) else None
        known = cards.product(named) if named and str(model).upper().endswith(_VENDOR) else None
        most = {**known.older_mig_profiles, **known.mig_profiles} if known else {}
        for profile, number in devices.items() if most else ():
            plain = _plain(str(profile))
            wanted = whole(number) or 0
            if wanted <= 0 or not _PROFILE.match(str(profile)):
                continue
            if plain not in most:
                what = f"{model} is {named}, which has no {profile}"
                advice = f"its profiles: {', '.join(each for each in most if '+' not in each)}"
            elif profile in most and wanted > most[profile]:
                what = f"{model} is {named}, which has at most {most[profile]} of {profile}, not {wanted}"
                advice = "make fewer of them"
            else:
                continue
            yield Violation(
                (*path, profile),
                f"{what}: nvidia-mig-manager fails on nodes with this card",
                advice,
                Severity.WARNING,
            )


def _of_pools(configurations: Mapping[str, Any], known: list[cards.Product]) -> Iterator[Violation]:
    """A file of which no configuration has slices of any card of the policy.

    One that has some may be a file for other clusters too, as that of the operator is.
    """
    wanted: dict[str, Path] = {}
    for name, entries in configurations.items() if known else ():
        for position, entry in numbered(entries):
            for profile in mapping(entry.get("mig-devices")) if entry.get("mig-enabled") is True else ():
                at: Path = ("mig-configs", name, position, "mig-devices", profile)
                wanted.setdefault(_plain(str(profile)), at)
    there = {name for each in known for name in node_slices.profiles(each)}
    if not wanted or not there.isdisjoint(wanted) or not all(map(_PROFILE.match, wanted)):
        return
    names = ", ".join(dict.fromkeys(each.product for each in known))
    for profile, at in wanted.items():
        what = f"no card of the policy has slices {profile}: nvidia-mig-manager fails, and no card is cut"
        yield Violation(
            at,
            what,
            f"use those of {names}: {', '.join(node_slices.profiles(known[0]))}",
            Severity.WARNING,
            key=True,
        )


def _plain(profile: str) -> str:
    """Without the number of compute instances and without engines."""
    return re.sub(r"\A[1-9]c\.|[+-].*", "", profile)


def _slices(profile: object) -> int:
    """Compute slices of one device; 0: no profile, or one of several that share the slices of another."""
    found = re.match(r"([1-9])g\.", profile) if isinstance(profile, str) else None
    return int(found.group(1)) if found else 0
