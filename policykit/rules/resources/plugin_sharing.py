"""What NVIDIA's device plugin refuses of its configuration, or does not read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.durations import is_signed_duration
from policykit.kube.names import dns_subdomain_problem
from policykit.kube.placeholders import is_filled_in, is_placeholder
from policykit.kube.podsets import pod_sets
from policykit.linter.rule import Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, text
from policykit.model.severity import Severity
from policykit.nearest import nearest
from policykit.rules.resources.plugin_values import (
    COUNT,
    FLAG,
    LIST,
    MAP,
    TEXT,
    Reader,
    unknown_keys,
    wrong_types,
    wrong_word,
)
from policykit.targets.nodes import plugin_settings

_WHO = "the device plugin"
_STOPS = "it does not start"
_WAYS = ("timeSlicing", "mps")
_SHARING = ("renameByDefault", "failRequestsGreaterThanOne", "resources")
_RESOURCE = ("name", "rename", "devices", "replicas")
STRATEGIES = ("none", "single", "mixed")
"""Of MIG."""
_LEAST = 2
_LONGEST = 63
_CLIENTS = 48
_DOMAIN = "nvidia.com/"
_TOP = ("version", "flags", "resources", "sharing", "imex")
_FLAGS: Mapping[str, str] = {
    "migStrategy": TEXT,
    "failOnInitError": FLAG,
    "mpsRoot": TEXT,
    "nvidiaDriverRoot": TEXT,
    "nvidiaDevRoot": TEXT,
    "gdrcopyEnabled": FLAG,
    "gdsEnabled": FLAG,
    "mofedEnabled": FLAG,
    "useNodeFeatureAPI": FLAG,
    "deviceDiscoveryStrategy": TEXT,
    "plugin": MAP,
    "gfd": MAP,
}
_PLUGIN: Mapping[str, str] = {
    "passDeviceSpecs": FLAG,
    "deviceIDStrategy": TEXT,
    "cdiAnnotationPrefix": TEXT,
    "nvidiaCTKPath": TEXT,
    "containerDriverRoot": TEXT,
    "sharedDevicesAllocationPolicy": TEXT,
}
_DISCOVERY: Mapping[str, str] = {
    "oneshot": FLAG,
    "noTimestamp": FLAG,
    "outputFile": TEXT,
    "machineTypeFile": TEXT,
}
_LISTS = "deviceListStrategy"
_WORDS: Mapping[Path, tuple[str, ...]] = {
    ("flags", "deviceDiscoveryStrategy"): ("auto", "nvml", "tegra"),
    ("flags", "plugin", "deviceIDStrategy"): ("uuid", "index"),
    ("flags", "plugin", "sharedDevicesAllocationPolicy"): ("distributed", "packed"),
}
LIST_WORDS = ("envvar", "volume-mounts", "cdi-annotations", "cdi-cri")


def violations(manifest: Manifest) -> Iterator[Violation]:
    """Sources: `api/config/v1` and `validateFlags` of k8s-device-plugin (0.12 to 0.20)."""
    where = _chosen(manifest)
    for violation in _violations(manifest, Reader(_WHO, f"{_STOPS}{where}")):
        yield violation._replace(severity=Severity.WARNING) if where else violation


def of_daemon(manifest: Manifest) -> Iterator[Violation]:
    """A MIG strategy among the variables and flags of the plugin itself."""
    for pod_set in pod_sets(manifest.data):
        for strategy, path in plugin_settings.mig_strategies(pod_set):
            if strategy not in STRATEGIES:
                near = nearest(strategy, STRATEGIES)
                yield Violation(
                    path,
                    f"the MIG strategy is {strategy!r}, which {_WHO} does not know: it does not start",
                    f"did you mean {near}?" if near else "write none, single or mixed",
                )


def _violations(manifest: Manifest, who: Reader) -> Iterator[Violation]:
    flags, sharing = mapping(manifest.data.get("flags")), mapping(manifest.data.get("sharing"))
    version = manifest.data.get("version")
    if version not in ("v1", "", None) and not (isinstance(version, str) and is_filled_in(version)):
        what = f"version is {version!r}, which {_WHO} does not know: {who.effect}"
        yield Violation(("version",), what, "write version: v1")
    strategy = text(flags.get("migStrategy"))
    if strategy and strategy not in STRATEGIES and not is_placeholder(strategy):
        near = nearest(strategy, STRATEGIES)
        yield Violation(
            ("flags", "migStrategy"),
            f"migStrategy is {strategy!r}, which {_WHO} does not know: {who.effect}",
            f"did you mean {near}?" if near else "write none, single or mixed",
        )
    yield from _flags(flags, who)
    yield from unknown_keys(manifest.data, (), _TOP, _WHO, folds=True)
    yield from _channels(mapping(manifest.data.get("imex")), who)
    for path, written in ((("flags",), flags), (("sharing",), sharing), ((), manifest.data)):
        yield from _elsewhere(written, path)
    yield from _ways(sharing, strategy or "", who)
    for kind in _WAYS:
        shared = mapping(sharing.get(kind))
        yield from unknown_keys(shared, ("sharing", kind), _SHARING, _WHO)
        yield from wrong_types(shared, ("sharing", kind), _SHARED, who)
        listed = shared.get("resources")
        if not listed and isinstance(sharing.get(kind), dict) and not _is_partial(manifest):
            at: Path = ("sharing", kind, "resources") if "resources" in shared else ("sharing", kind)
            advice = f"list the resources to share, or delete {kind}"
            yield Violation(at, f"{kind} shares no resources: {who.effect}", advice, key=True)
        for number, each in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(each, dict) and not _is_completed(manifest, each):
                at = ("sharing", kind, "resources", number)
                yield from _resource(each, at, who)
                yield from _of_kind(each, at, kind, strategy or "")


_SHARED: Mapping[str, str] = {
    "renameByDefault": FLAG,
    "failRequestsGreaterThanOne": FLAG,
    "resources": LIST,
}


def _flags(flags: Mapping[str, Any], who: Reader) -> Iterator[Violation]:
    plugin, discovery = mapping(flags.get("plugin")), mapping(flags.get("gfd"))
    yield from unknown_keys(flags, ("flags",), tuple(_FLAGS), _WHO, folds=True)
    yield from wrong_types(flags, ("flags",), _FLAGS, who)
    yield from unknown_keys(plugin, ("flags", "plugin"), (*_PLUGIN, _LISTS), _WHO, folds=True)
    yield from wrong_types(plugin, ("flags", "plugin"), _PLUGIN, who)
    yield from unknown_keys(discovery, ("flags", "gfd"), (*_DISCOVERY, "sleepInterval"), _WHO, folds=True)
    yield from wrong_types(discovery, ("flags", "gfd"), _DISCOVERY, who)
    unknown = f"which {_WHO} does not know: {who.effect}"
    for path, known in _WORDS.items():
        yield from wrong_word((flags if len(path) == 2 else plugin).get(str(path[-1])), path, known, unknown)
    listed = plugin.get(_LISTS)
    base: Path = ("flags", "plugin", _LISTS)
    for position, word in enumerate(listed if isinstance(listed, list) else ()):
        yield from wrong_word(word, (*base, position), LIST_WORDS, unknown)
    yield from wrong_word(listed, base, LIST_WORDS, unknown)
    pause = discovery.get("sleepInterval")
    good = not isinstance(pause, str) or pause == "infinite" or is_signed_duration(pause)
    if not good and not is_filled_in(str(pause)):
        what = f"sleepInterval is {pause!r}, no duration: {who.effect}"
        yield Violation(("flags", "gfd", "sleepInterval"), what, "write one such as 60s")


def _channels(imex: Mapping[str, Any], who: Reader) -> Iterator[Violation]:
    """Source: `AssertChannelIDsValid` (0.17 to 0.20)."""
    channels = imex.get("channelIDs")
    yield from wrong_types(imex, ("imex",), {"channelIDs": LIST, "required": FLAG}, who)
    if isinstance(channels, list) and channels not in ([], [0]):
        what = f"channelIDs is {channels}, but only channel 0 is supported: {who.effect}"
        yield Violation(("imex", "channelIDs"), what, "write [0], or []")


def _ways(sharing: Mapping[str, Any], strategy: str, who: Reader) -> Iterator[Violation]:
    """Source: `ReplicatedResources` and `validateFlags` (0.15 to 0.20)."""
    if not isinstance(sharing.get("mps"), dict):
        return
    if strategy == "mixed":
        what = f"migStrategy is mixed, which {_WHO} refuses beside mps: {who.effect}"
        yield Violation(("flags", "migStrategy"), what, "write none or single, or share with timeSlicing")
    if sharing.get("timeSlicing"):
        what = f"{_WHO} does not read timeSlicing beside mps"
        at = ("sharing", "timeSlicing")
        yield Violation(at, what, "keep one of the two", Severity.WARNING, key=True)


def _is_partial(manifest: Manifest) -> bool:
    return manifest.partial or (manifest.holder is not None and manifest.holder.partial)


def _named(name: object, path: Path, who: Reader) -> Iterator[Violation]:
    """Source: `NewResourceName`."""
    if not isinstance(name, str) or is_filled_in(name) or not name:
        return
    whole = name if name.startswith(_DOMAIN) else f"{_DOMAIN}{name}"
    if len(whole) > _LONGEST:
        what = f"{path[-1]} is {whole}, with {len(whole)} characters, more than {_LONGEST}: {who.effect}"
        yield Violation(path, what, "write a shorter name")
    elif fault := dns_subdomain_problem(whole.removeprefix(_DOMAIN)):
        what = f"{path[-1]} is {name}, read as {whole}: what follows {_DOMAIN} {fault}: {who.effect}"
        yield Violation(path, what, "write a name of NVIDIA's, such as nvidia.com/gpu")


def _cards(chosen: object, path: Path, who: Reader) -> Iterator[Violation]:
    """`all`, a number of cards, or a list of their positions and UUIDs."""
    wrong = isinstance(chosen, str) and chosen != "all" and not is_filled_in(chosen)
    if wrong or (isinstance(chosen, int | float) and chosen <= 0) or isinstance(chosen, bool | dict):
        what = f"devices is {chosen!r}: {who.effect}"
        yield Violation((*path, "devices"), what, "write all, or leave it out")
    for position, card in enumerate(chosen if isinstance(chosen, list) else ()):
        if isinstance(card, str) and not is_filled_in(card) and not _is_card(card):
            what = f"devices has {card!r}, neither the number nor the UUID of a card: {who.effect}"
            yield Violation((*path, "devices", position), what, "write all, or leave it out")


def _is_card(text: str) -> bool:
    return text.replace(":", "", 1).isdecimal() or text.startswith(("GPU-", "MIG-"))


def _is_completed(manifest: Manifest, written: Mapping[str, Any]) -> bool:
    """Whether a kustomization still replaces the number, which is then often 0."""
    holder = manifest.holder
    return holder is not None and holder.partial and not written.get("replicas")


def _chosen(manifest: Manifest) -> str:
    """Where a configuration is read that is one of several in a ConfigMap; empty: by every node."""
    data = mapping(manifest.holder.data.get("data")) if manifest.holder is not None else {}
    return " on nodes that choose it" if len(data) > 1 else ""


def _resource(written: Mapping[str, Any], path: Path, who: Reader) -> Iterator[Violation]:
    yield from _unread(written, path)
    yield from wrong_types(written, path, {"name": TEXT, "rename": TEXT, "replicas": COUNT}, who)
    replicas = written.get("replicas")
    if "name" not in written and not any(map(is_placeholder, written)):
        yield Violation(path, f"the resource has no name: {_WHO} does not start", "write nvidia.com/gpu")
    yield from _named(written.get("name"), (*path, "name"), who)
    yield from _named(written.get("rename"), (*path, "rename"), who)
    yield from _cards(written.get("devices"), path, who)
    if "replicas" not in written:
        yield Violation(
            path,
            f"the resource has no replicas: {_WHO} does not start",
            f"add the number of pods that share a card, at least {_LEAST}",
        )
    elif isinstance(replicas, int) and not isinstance(replicas, bool) and replicas < _LEAST:
        yield Violation(
            (*path, "replicas"),
            f"replicas is {replicas}, but must be at least {_LEAST}: {who.effect.replace('it', _WHO, 1)}",
            "raise it, or delete the resource if its cards are not shared",
        )
    if text(written.get("rename")):
        yield Violation(
            (*path, "rename"),
            "the device plugin ignores rename: only renameByDefault changes the name, "
            "to one ending in .shared",
            "delete it, or set renameByDefault: true",
            Severity.WARNING,
            key=True,
        )


def _of_kind(written: Mapping[str, Any], path: Path, kind: str, strategy: str) -> Iterator[Violation]:
    """Sources: `getIDsOfDevicesToReplicate` and, of MPS, `assertReplicas` and `Daemons` (0.15 to 0.20)."""
    name, replicas = text(written.get("name")) or "", written.get("replicas")
    sliced = kind == "timeSlicing" and name.removeprefix(_DOMAIN).startswith("mig-")
    if sliced and strategy in ("none", "single"):
        yield Violation(
            (*path, "name"),
            f"{kind} shares {name}, but migStrategy is {strategy}: slices have names of their own only with "
            "mixed, and nothing is shared",
            "write nvidia.com/gpu for the slices of single, or migStrategy: mixed",
            Severity.WARNING,
        )
    if kind == "mps" and isinstance(replicas, int) and replicas > _CLIENTS:
        yield Violation(
            (*path, "replicas"),
            f"replicas is {replicas}, but a card takes {_CLIENTS} clients of MPS, one before Turing 16: its "
            "control daemon does not start",
            f"write at most {_CLIENTS}",
            Severity.WARNING,
        )


def _unread(written: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    """Fields of a resource that the plugin ignores, such as an amount of memory."""
    for key in written:
        if isinstance(key, str) and key not in _RESOURCE and not is_filled_in(key):
            near = nearest(key, _RESOURCE)
            advice = (
                f"did you mean {near}?"
                if near and near not in written
                else f"it reads {', '.join(_RESOURCE)}"
            )
            yield Violation((*path, key), f"{_WHO} does not read {key}", advice, Severity.WARNING, key=True)


def _elsewhere(written: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    """Settings of a way of sharing that are not within it."""
    for key in _WAYS if path != ("sharing",) else ():
        if key in written and not written.get("sharing"):
            advice = f"move it under sharing: sharing.{key} has the resources"
            yield Violation(
                (*path, key), f"{_WHO} does not read {key} here", advice, Severity.WARNING, key=True
            )
    for key in _SHARING:
        if key not in written:
            continue
        what, advice = (
            f"{_WHO} does not read {key} here",
            "move it under sharing.timeSlicing, or under sharing.mps",
        )
        if not path and _names_cards(written[key]):
            what = f"{_WHO} ignores {key}, which would name cards by their product"
            advice = f"delete {key}: the plugin logs that it is not supported yet"
        yield Violation((*path, key), what, advice, Severity.WARNING, key=True)


def _names_cards(value: object) -> bool:
    """Whether `resources` is what the plugin has a type for: patterns of products, with a name each.

    Source: `DisableResourceNamingInConfig` of `api/config/v1/config.go` (0.12 to 0.20).
    """
    return isinstance(value, dict) and ("gpus" in value or "mig" in value)
