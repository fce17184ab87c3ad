"""Files of device plugins for adapters: that for SR-IOV, and that for shared RDMA.

Sources: `readConfig`, `validConfigs` and the selectors of sriov-network-device-plugin (3.3 to 3.11);
`ReadConfig`, `ValidateConfigs` and the selectors of k8s-rdma-shared-dev-plugin (1.2 to 26.4). Both compare
identifiers with those of ghw, which writes them in lower case.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.placeholders import is_filled_in, is_placeholder
from policykit.kube.structure.admission.checks import Data, name_of, refused, words
from policykit.kube.structure.problem import BAD_VALUE, UNKNOWN_FIELD, WRONG_TYPE
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping, numbered, text, whole
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple
from policykit.nearest import nearest

ADDRESS = re.compile(r"[0-9a-f]{4,}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]")
"""As Linux names PCI devices; a domain has more digits behind some bridges."""
LONGEST = 100_000
"""Characters of a file that is read."""


class _Plugin(NamedTuple):
    """A plugin that reads such a file. Keys are in lower case, as Go reads those of JSON in any case."""

    who: str
    word: str
    """Of each of its files."""
    name: re.Pattern[str]
    entry: tuple[str, ...]
    lists: tuple[str, ...]
    """Selectors that are lists."""
    flags: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()


_SRIOV = _Plugin(
    "the device plugin for SR-IOV",
    '"resourceName"',
    re.compile(r"[a-zA-Z0-9_-]+"),
    ("resourceName", "resourcePrefix", "deviceType", "excludeTopology", "selectors", "additionalInfo"),
    (
        *("vendors", "devices", "drivers", "pciAddresses", "acpiIndexes", "pfNames", "rootDevices"),
        *("linkTypes", "ddpProfiles", "pKeys", "auxTypes"),
    ),
    ("isRdma", "needVhostNet"),
    ("vdpaType",),
    ("vendors", "devices"),
    ("pciAddresses", "rootDevices"),
)
_RDMA = _Plugin(
    "the device plugin for shared RDMA",
    '"rdmaHcaMax"',
    re.compile(r"[a-zA-Z0-9_]+"),
    ("resourceName", "resourcePrefix", "rdmaHcaMax", "devices", "selectors"),
    ("vendors", "deviceIDs", "drivers", "ifNames", "linkTypes"),
    identifiers=("vendors", "deviceIDs"),
)
_LISTS: Mapping[str, _Plugin] = {"resourceList": _SRIOV, "configList": _RDMA}
_OF_OPERATOR = ("rdmaSharedDevicePlugin", "sriovDevicePlugin")
_TYPES = ("netDevice", "accelerator", "auxNetDevice")
_LINKS = ("ether", "infiniband")
_IDENTIFIER = re.compile(r"[0-9a-f]{4}")
_OTHERS: Mapping[str, str] = {"deviceids": "devices", "ifnames": "pfNames", "devices": "deviceIDs"}
"""What the other plugin calls a selector."""


def files(data: Data) -> Iterator[Problem]:
    """A ConfigMap, perhaps with such a file."""
    for key, written in mapping(data.get("data")).items():
        yield from _file(written, ("data", key))


def of_nic_operator(data: Data) -> Iterator[Problem]:
    """A NicClusterPolicy."""
    for field in _OF_OPERATOR:
        path: Path = ("spec", field, "config")
        yield from _file(lookup(data, path), path)


def where(error: Exception) -> str:
    """In words of the user's text, not of Python."""
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno}, column {error.colno}"
    return "it is nested too deeply"


def _file(written: object, path: Path) -> Iterator[Problem]:
    if not isinstance(written, str) or len(written) > LONGEST:
        return
    for field, plugin in _LISTS.items():
        if f'"{field}"' in written and plugin.word in written:
            try:
                found = mapping(json.loads(written))
            except (ValueError, RecursionError) as error:
                if not is_placeholder(written):
                    what = f"is not JSON: {where(error)}"
                    yield refused(path, what, f"{plugin.who} does not start with this file", kind=BAD_VALUE)
            else:
                yield from _entries(found.get(field), field, path, plugin)
                every = whole(found.get("periodicUpdateInterval"))
                if plugin is _RDMA and every is not None and every < 0:
                    yield _stops(path, f"has periodicUpdateInterval {every}, below 0", plugin, "write 60")


def _stops(path: Path, what: str, plugin: _Plugin, advice: str) -> Problem:
    return refused(path, what, f"{advice}: {plugin.who} does not start with this file")


def _odd(path: Path, what: str, advice: str, kind: str = BAD_VALUE) -> Problem:
    return refused(path, what, advice, Severity.WARNING, kind=kind)


def _entries(listed: object, field: str, path: Path, plugin: _Plugin) -> Iterator[Problem]:
    seen: set[tuple[str, str]] = set()
    for position, each in numbered(listed):
        at = f"{field}[{position}]"
        folded = {key.lower(): value for key, value in each.items() if isinstance(key, str)}
        name = name_of(folded, "resourcename")
        whole_name = ("" if plugin is _RDMA else text(folded.get("resourceprefix")) or "", name)
        if name and whole_name in seen:
            what = f"has the resource {'/'.join(filter(None, whole_name))} twice"
            yield _stops(path, what, plugin, "name each once")
        seen.add(whole_name)
        stated = folded.get("resourcename")
        if stated in (None, "") or (name and not plugin.name.fullmatch(name)):
            what = f"names {at} {name!r}, and letters, digits and underscores make a name" if name else ""
            advice = "write the domain as resourcePrefix" if "/" in name else "name the resource"
            yield _stops(path, what or f"has {at} without resourceName", plugin, advice)
        yield from _of_sriov(folded, at, path) if plugin is _SRIOV else _of_rdma(folded, at, path)
        yield from _beside(each, folded, at, path, plugin)
        chosen = folded.get("selectors")
        if isinstance(chosen, dict):
            yield from _selectors(chosen, f"{at}.selectors", path, plugin)
        for number, one in numbered(chosen if plugin is _SRIOV else ()):
            yield from _selectors(one, f"{at}.selectors[{number}]", path, plugin)


def _of_sriov(folded: Mapping[str, Any], at: str, path: Path) -> Iterator[Problem]:
    kind = folded.get("devicetype")
    if isinstance(kind, str) and kind and kind not in _TYPES and not is_filled_in(kind):
        advice = f"write {_TYPES[0]}, {_TYPES[1]} or {_TYPES[2]}"
        yield _stops(path, f"has the unknown deviceType {kind} in {at}", _SRIOV, advice)
    if folded.get("selectors") is None:
        what = f"has no selectors in {at}, without which {_SRIOV.who} crashes"
        yield refused(path, what, "add selectors, such as vendors and devices")


def _of_rdma(folded: Mapping[str, Any], at: str, path: Path) -> Iterator[Problem]:
    most, stated = whole(folded.get("rdmahcamax")), folded.get("rdmahcamax")
    if most is not None and most < 0:
        yield _stops(path, f"has rdmaHcaMax {most} in {at}, below 0", _RDMA, "write how many pods share them")
    elif isinstance(stated, str) and not is_filled_in(stated):
        yield _stops(path, f"has rdmaHcaMax as a string in {at}", _RDMA, "write the number without quotes")
    elif most == 0 or stated is None:
        what = f"has {'rdmaHcaMax 0' if most == 0 else 'no rdmaHcaMax'} in {at}: no pod gets the resource"
        yield _odd(path, what, "write how many pods share the adapters, such as 63")
    chosen, devices = folded.get("selectors"), folded.get("devices")
    chooses = isinstance(chosen, dict) and any(chosen.values())
    if chooses and devices:
        yield _stops(path, f"has devices and selectors in {at}", _RDMA, "delete devices")
    elif not chooses and not devices:
        yield _stops(
            path, f"has neither selectors nor devices in {at}", _RDMA, "add selectors, such as ifNames"
        )


def _beside(
    each: Mapping[str, Any], folded: Mapping[str, Any], at: str, path: Path, plugin: _Plugin
) -> Iterator[Problem]:
    """Selectors beside `selectors`."""
    selectors = {name.lower(): name for name in (*plugin.lists, *plugin.flags, *plugin.texts)}
    known = {name.lower() for name in plugin.entry}
    for key in each:
        lower = key.lower() if isinstance(key, str) else ""
        if lower in selectors and lower not in known:
            what = f"has {key} in {at}, where {plugin.who} does not read it"
            yield _odd(path, what, f"move it into selectors: {selectors[lower]}", UNKNOWN_FIELD)


def _selectors(chosen: Mapping[str, Any], at: str, path: Path, plugin: _Plugin) -> Iterator[Problem]:
    fields = (*plugin.lists, *plugin.flags, *plugin.texts)
    by_lower = {name.lower(): name for name in fields}
    effect = "leaves the resource out" if plugin is _SRIOV else "does not start"
    for key, value in chosen.items():
        field = by_lower.get(key.lower()) if isinstance(key, str) else None
        if field is None:
            near = _OTHERS.get(str(key).lower(), "") or nearest(str(key), fields, 0.7)
            if near in fields and near not in chosen and not is_filled_in(str(key)):
                what = f"has {key} in {at}, which {plugin.who} does not read"
                yield _odd(path, what, f"did you mean {near}?", UNKNOWN_FIELD)
        elif value is not None and not _has_type(field, value, plugin):
            wanted = "true or false" if field in plugin.flags else "a string" if field in plugin.texts else ""
            advice = f"write {wanted or 'a list of strings'}: {plugin.who} {effect}"
            yield refused(path, f"has {field} of another type in {at}", advice, kind=WRONG_TYPE)
        else:
            yield from _values(field, value, at, path, plugin)
    if plugin is _SRIOV and chosen.get("isRdma") is True and chosen.get("vdpaType"):
        yield _stops(path, f"has isRdma and vdpaType in {at}", plugin, "delete one of the two")


def _has_type(field: str, value: object, plugin: _Plugin) -> bool:
    if isinstance(value, str) and is_filled_in(value):
        return True
    if field in plugin.lists:
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    return isinstance(value, bool if field in plugin.flags else str)


def _values(field: str, listed: object, at: str, path: Path, plugin: _Plugin) -> Iterator[Problem]:
    """Words with which no device of a node is described."""
    for _, word in words(listed):
        meant = word.lower().removeprefix("0x")
        if field in plugin.identifiers and not _IDENTIFIER.fullmatch(word):
            advice = f"did you mean {meant}?" if _IDENTIFIER.fullmatch(meant) else "write it as 15b3"
        elif field in plugin.addresses and not ADDRESS.fullmatch(word.partition("#")[0]):
            meant = word.lower() if word.count(":") > 1 else f"0000:{word.lower()}"
            good = ADDRESS.fullmatch(meant.partition("#")[0])
            advice = f"did you mean {meant}?" if good else "write it as 0000:3b:00.0"
        elif field == "linkTypes" and word not in _LINKS:
            advice = f"write {_LINKS[0]} or {_LINKS[1]}"
        else:
            continue
        yield _odd(path, f"has {word} in {at}.{field}, which no adapter has: none is selected", advice)
