"""What HAMi does not read, or cannot use, of its configurations of cards and of nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.placeholders import is_filled_in, is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, numbered, text, whole
from policykit.model.severity import Severity
from policykit.rules.resources.hami_requests import MODES
from policykit.rules.resources.plugin_values import (
    COUNT,
    FLAG,
    LIST,
    MAP,
    NUMBER,
    TEXT,
    Reader,
    unknown_keys,
    wrong_types,
    wrong_word,
)
from policykit.targets.nodes.device_plugin_facts import HAMI_NAMES

_HAMI = Reader("HAMi", "it does not start")
_NODES = Reader("HAMi", "it reads nothing of the file", Severity.WARNING, folds=True)
_NVIDIA = ("nvidia",)
_POSITIVE = ("deviceSplitCount", "deviceMemoryScaling", "deviceCoreScaling", "gpuMemoryFactor")
"""Numbers that have to be above 0; the last one of Volcano's vGPU plugin, which reads such a file too."""
_TYPES: Mapping[str, str] = {
    "deviceSplitCount": COUNT,
    "deviceMemoryScaling": NUMBER,
    "deviceCoreScaling": NUMBER,
    "defaultMemory": COUNT,
    "defaultCores": COUNT,
    "defaultGPUNum": COUNT,
    "memoryFactor": COUNT,
    "gpuMemoryFactor": COUNT,
    "preConfiguredDeviceMemory": COUNT,
    "overwriteEnv": FLAG,
    "disableCoreLimit": FLAG,
    "enableNumaTopology": FLAG,
    "migProfileAllowlist": LIST,
}
_FIELDS = (
    *_TYPES,
    *HAMI_NAMES,
    "resourcePriorityName",
    "migstrategy",
    "gpuCorePolicy",
    "libCudaLogLevel",
    "runtimeClassName",
    "migProfiles",
    "knownMigGeometries",
)
_WORDS: Mapping[str, tuple[str, ...]] = {
    "gpuCorePolicy": ("default", "force", "disable"),
    "libCudaLogLevel": ("0", "1", "2", "3", "4"),
}
_SECTIONS = (
    "amd",
    "awsneuron",
    "biren",
    "cambricon",
    "enflame",
    "hygon",
    "iluvatars",
    "kunlun",
    "metax",
    "mthreads",
    "nvidia",
    "vastai",
    "vnpus",
)
_OF_SECTIONS = (
    "chipName",
    "commonWord",
    "memoryFactor",
    "resourceCoreName",
    "resourceCountName",
    "resourceMemoryName",
    "resourceNameDRSGCU",
    "resourceNameGCU",
    "resourceNameGCUCore",
    "resourceNameGCUMemory",
    "resourceNameVGCU",
    "resourceNameVGCUPercentage",
    "resourceVCoreName",
    "resourceVCountName",
    "resourceVMemoryName",
    "sgpuTopologyAware",
)
_CHIP: Mapping[str, str] = {
    "commonWord": TEXT,
    "resourceName": TEXT,
    "resourceMemoryName": TEXT,
    "resourceCoreName": TEXT,
    "memoryAllocatable": COUNT,
    "memoryCapacity": COUNT,
    "memoryFactor": COUNT,
    "aiCore": COUNT,
    "aiCPU": COUNT,
    "overwriteEnv": FLAG,
    "superPod": FLAG,
    "templates": LIST,
}
_TEMPLATE: Mapping[str, str] = {"memory": COUNT, "aiCore": COUNT, "aiCPU": COUNT}
_NODE: Mapping[str, str] = {
    "name": TEXT,
    "operatingmode": TEXT,
    "devicememoryscaling": NUMBER,
    "devicecorescaling": NUMBER,
    "devicesplitcount": COUNT,
    "preconfigureddevicememory": COUNT,
    "libcudaloglevel": TEXT,
    "enablenumatopology": FLAG,
    "migstrategy": TEXT,
    "filterdevices": MAP,
    "enablegetpreferredallocation": FLAG,
}
_FACTORS = ("devicesplitcount", "devicememoryscaling", "devicecorescaling")
_ALL = 100


def violations(written: Mapping[str, Any]) -> Iterator[Violation]:
    """Sources: `pkg/device` and `readFromConfigFile` of HAMi (2.4 to 2.10)."""
    if "nodeconfig" in written:
        yield from _nodes(written.get("nodeconfig"))
        return
    yield from unknown_keys(written, (), _SECTIONS, "HAMi")
    for name in _SECTIONS:
        section = written.get(name)
        if name == "iluvatars" and isinstance(section, dict):
            what = "iluvatars is a mapping, but HAMi needs a list: it does not start"
            yield Violation((name,), what, "begin each chip with `- `", key=True)
        elif name not in ("nvidia", "vnpus"):
            for path, each in _parts(section, (name,)):
                yield from unknown_keys(each, path, _OF_SECTIONS, "HAMi")
                yield from _names(each, path)
    yield from _of_nvidia(mapping(written.get("nvidia")))
    chips = written.get("vnpus")
    base: Path = ("vnpus", "configs") if isinstance(chips, dict) else ("vnpus",)
    yield from _chips(mapping(chips).get("configs") if isinstance(chips, dict) else chips, base)


def _parts(section: object, path: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    for position, each in numbered(section):
        yield (*path, position), each
    if isinstance(section, dict):
        yield path, section


def _names(written: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    """Names of resources have a domain, and one each."""
    seen: dict[str, str] = {}
    for field, value in written.items():
        if not isinstance(field, str) or not field.startswith("resource") or field == "resourcePriorityName":
            continue
        name = text(value)
        if not name or is_placeholder(name):
            continue
        if "/" not in name:
            yield Violation(
                (*path, field),
                f"{field} is {name!r}, which pods cannot request: such a resource has a domain",
                "write a name such as nvidia.com/gpu",
            )
        elif name in seen:
            yield Violation(
                (*path, field),
                f"{field} is {name}, which {seen[name]} is too: HAMi cannot tell them apart",
                "give each of them a name of its own",
                Severity.WARNING,
            )
        seen.setdefault(name, field)


def _of_nvidia(written: Mapping[str, Any]) -> Iterator[Violation]:
    yield from unknown_keys(written, _NVIDIA, _FIELDS, "HAMi")
    yield from wrong_types(written, _NVIDIA, _TYPES, _HAMI)
    for field in _TYPES:
        there = written.get(field)
        if not isinstance(there, int | float) or isinstance(there, bool):
            continue
        if field in _POSITIVE and there <= 0:
            yield Violation(
                (*_NVIDIA, field),
                f"{field} is {there}: no card has anything to offer",
                "write 1 or more" if field == "deviceSplitCount" else "write a factor above 0, such as 1",
            )
        elif there < 0:
            yield Violation(
                (*_NVIDIA, field), f"{field} is {there}, below 0", "write 0 or more", Severity.WARNING
            )
        elif field == "defaultCores" and there > _ALL:
            what = f"{field} is {there}, but a card has {_ALL} percent of cores"
            yield Violation((*_NVIDIA, field), what, f"write at most {_ALL}", Severity.WARNING)
    for field, known in _WORDS.items():
        yield from wrong_word(
            written.get(field), (*_NVIDIA, field), known, "which HAMi does not know", Severity.WARNING
        )
    yield from _names(written, _NVIDIA)
    for path, each in _parts(written.get("migProfileAllowlist"), (*_NVIDIA, "migProfileAllowlist")):
        yield from _allowed(each, path)


def _allowed(written: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    """Source: `ValidateMigProfileAllowlist` (2.10)."""
    for field in ("models", "profiles"):
        if not written.get(field):
            yield Violation(path, f"{field} is empty: HAMi does not start", f"list {field}")
    listed = written.get("profiles")
    for position, profile in enumerate(listed if isinstance(listed, list) else ()):
        slices, dot, _ = profile.partition(".") if isinstance(profile, str) else ("", "", "")
        wrong = not dot or len(slices) <= 1 or not slices.endswith("g")
        if wrong and isinstance(profile, str) and not is_filled_in(profile):
            what = f"{profile} is not a MIG profile: HAMi does not start"
            yield Violation((*path, "profiles", position), what, "write one such as 1g.10gb")


def _chips(listed: object, base: Path) -> Iterator[Violation]:
    """Source: `pkg/device/ascend` of HAMi (2.4 to 2.10)."""
    seen: set[str] = set()
    for path, chip in _parts(listed, base):
        yield from unknown_keys(chip, path, (*_CHIP, "chipName", "runtimeClassName"), "HAMi")
        yield from wrong_types(chip, path, _CHIP, _HAMI)
        yield from _names(chip, path)
        word = text(chip.get("commonWord"))
        if not word:
            what = "the chip has no commonWord, by which HAMi names it"
            yield Violation(path, what, "add one such as Ascend910B3", Severity.WARNING)
        elif word in seen:
            what = f"commonWord is {word}, which another chip has too: the last one replaces it"
            yield Violation((*path, "commonWord"), what, "name each chip differently", Severity.WARNING)
        seen.add(word or "")
        yield from _sizes(chip, path)


def _sizes(chip: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    capacity, offered = whole(chip.get("memoryCapacity")), whole(chip.get("memoryAllocatable"))
    if capacity and offered and offered > capacity:
        what = f"memoryAllocatable is {offered}, above memoryCapacity {capacity}"
        yield Violation((*path, "memoryAllocatable"), what, "lower it", Severity.WARNING)
    names: set[str] = set()
    for where, part in _parts(chip.get("templates"), (*path, "templates")):
        yield from unknown_keys(part, where, ("name", *_TEMPLATE), "HAMi")
        yield from wrong_types(part, where, _TEMPLATE, _HAMI)
        name = text(part.get("name"))
        if not name or name in names:
            what = f"the template {name} is listed twice" if name else "the template has no name"
            advice = "write the names that npu-smi knows, each once"
            yield Violation((*where, "name") if name else where, what, advice, Severity.WARNING)
        names.add(name or "")
        for field, whole_chip in (("memory", "memoryCapacity"), ("aiCore", "aiCore"), ("aiCPU", "aiCPU")):
            size, most = whole(part.get(field)), whole(chip.get(whole_chip))
            if size and most and size > most:
                what = f"{field} is {size}, above {whole_chip} {most} of the whole chip"
                yield Violation((*where, field), what, "write a part of the chip", Severity.WARNING)


def _nodes(listed: object) -> Iterator[Violation]:
    """Source: `DevicePluginConfigs` of HAMi (2.4 to 2.10): JSON, whose keys are read in any case."""
    base: Path = ("nodeconfig",)
    if isinstance(listed, dict):
        what = "nodeconfig is a mapping, but HAMi needs a list: it reads nothing of the file"
        yield Violation(base, what, "write a list with an entry for each node", Severity.WARNING, key=True)
        return
    seen: set[str] = set()
    for path, node in _parts(listed, base):
        lower = {str(key).lower(): value for key, value in node.items()}
        for key in node:
            if isinstance(key, str) and key.lower() not in _NODE:
                yield from unknown_keys({key: None}, path, tuple(_NODE), "HAMi", 0.6)
        yield from wrong_types(node, path, _NODE, _NODES)
        name = text(lower.get("name"))
        if not name or name in seen:
            what = f"node {name} is listed twice" if name else "the entry names no node: no plugin reads it"
            at: Path = (*path, "name") if name and "name" in node else path
            yield Violation(at, what, "name each node once", Severity.WARNING)
        seen.add(name or "")
        for field, value in node.items():
            folded = str(field).lower()
            if folded == "operatingmode":
                what = "a mode that HAMi does not know"
                yield from wrong_word(value, (*path, field), MODES, what, Severity.WARNING)
            elif folded in _FACTORS and type(value) in (int, float) and value <= 0:
                what = f"{field} is {value}: no card of the node has anything to offer"
                yield Violation((*path, field), what, "write a number above 0", Severity.WARNING)
        devices = mapping(lower.get("filterdevices"))
        index = devices.get("index")
        for position, number in enumerate(index if isinstance(index, list) else ()):
            if isinstance(number, str) and "filterdevices" in node:
                what = (
                    f"index is the string {number!r}, but HAMi needs a number: it reads nothing of the file"
                )
                at = (*path, "filterdevices", "index", position)
                yield Violation(at, what, "write the number without quotes", Severity.WARNING)
