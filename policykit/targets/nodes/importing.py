"""Reads generated pools back: from the table of nodes/README.md, then from commands and flags."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping

from policykit.kube.tolerations import EFFECTS
from policykit.linter.import_reader import ImportReader
from policykit.manifests.document import manifests
from policykit.manifests.parser import parse
from policykit.model.inventory import GeneratedPool, Inventory
from policykit.model.pool import Taint
from policykit.model.topology import LEVELS
from policykit.namedtuple import NamedTuple

_ROW = re.compile(
    r"\| (?P<name>[^|`]+) \| (?P<size>[^|]+) \| (?P<ours>[^|]+) \| (?P<others>[^|]+) \| (?P<taints>[^|]+) \|"
)
_LEVEL = re.compile(rf"^\| ({'|'.join(LEVELS)}) \| `([^`]+)` \|$", re.MULTILINE)
_SIZE = re.compile(r"(?P<low>[0-9]{1,9})(?: to (?P<high>[0-9]{1,9})| (?P<open>or more))?\Z")
_FLAGS = ("--node-labels=", "--register-with-taints=")
_PROVIDERS = {"gke": "gke", "aks": "aks", "eksctl": "eks", "ack": "ack"}
"""Start of the name of a cloud's node pool file, to the cloud."""


class NodesReader(ImportReader):
    """Reads the files of pools that `gen` wrote."""

    target_name = "nodes"

    def __init__(self, inventory: Inventory) -> None:
        super().__init__(inventory)
        self.readme = ""
        self.files: dict[str, dict[str, str]] = {}
        """Pool to file name to text."""

    def read_generated(self, path: tuple[str, ...], source: str) -> bool:
        folder, file = path[0], path[-1]
        if path == ("README.md",):
            self.readme = source
            self.inventory.levels_complete = True
            for level, key in levels(source).items():
                self.inventory.add_level(level, key)
        elif len(path) != 2 or folder == "daemons":
            pass
        elif folder == "control-plane":
            self.inventory.control_plane = next(iter(node_arguments(source).taints), None)
        else:
            self.files.setdefault(folder, {})[file] = source
            tool = file.partition(".")[0].partition("-")[0]
            self.inventory.provider = self.inventory.provider or _PROVIDERS.get(tool, "")
        return True

    def finish(self) -> None:
        self.inventory.generated = pools(self.files, self.readme)


class NodeArguments(NamedTuple):
    """Nodes, labels and taints in kubectl commands or kubelet flags."""

    names: tuple[str, ...] = ()
    selector: Mapping[str, str] = {}
    labels: Mapping[str, str] = {}
    taints: tuple[Taint, ...] = ()


def pools(files: Mapping[str, Mapping[str, str]], page: str) -> tuple[GeneratedPool, ...]:
    """Pools from `page` (nodes/README.md), or from the folders if it is missing.

    `files` maps pool to file name to text. Only the page contains the number of nodes of a pool
    and the labels that others set.
    """
    rows = {
        row["name"]: row for line in page.splitlines() if (row := _ROW.match(line)) and row["name"] != "pool"
    }
    rows.pop("---", None)
    return tuple(
        _pool(name, rows.get(name), files.get(name, {})) for name in dict.fromkeys((*rows, *sorted(files)))
    )


def levels(page: str) -> dict[str, str]:
    """Level of the topology to its node label key, from nodes/README.md."""
    return dict(_LEVEL.findall(page))


def taint_of(text: str) -> Taint | None:
    """A taint from kubectl's form `key=value:Effect`; None: not a taint."""
    body, _, effect = text.rpartition(":")
    key, _, value = body.partition("=")
    return Taint(key, value, effect) if key and effect in EFFECTS else None


def node_arguments(text: str) -> NodeArguments:
    """Nodes, selector, labels and taints in a script or an environment file."""
    tokens = shlex.split(text.replace("\\\n", " "), comments=True)
    if any(token.startswith("KUBELET_EXTRA_ARGS=") for token in tokens):
        return _flags(shlex.split(tokens[0].partition("=")[2]))
    names: dict[str, None] = {}
    selectors: list[dict[str, str]] = []
    labels: dict[str, str] = {}
    taints: dict[Taint, None] = {}
    listed = iter(tokens[tokens.index("nodes") + 1 :] if "nodes" in tokens else ())
    for token in listed:
        taint = taint_of(token)
        if token == "-l":
            selectors.append(_pairs(next(listed, "").split(",")))
        elif taint:
            taints[taint] = None
        elif "=" in token:
            labels.update(_pairs([token]))
        elif token not in ("kubectl", "label", "taint", "nodes") and not token.startswith("-"):
            names[token] = None
    return NodeArguments(tuple(names), _common(selectors), labels, tuple(taints))


def _common(selectors: list[dict[str, str]]) -> dict[str, str]:
    """Labels that every command selects by; each shape of a pool has its own command."""
    first = selectors[0] if selectors else {}
    return {key: value for key, value in first.items() if all(each.get(key) == value for each in selectors)}


def _pool(name: str, row: re.Match[str] | None, files: Mapping[str, str]) -> GeneratedPool:
    arguments = {
        file: node_arguments(text)
        for file, text in sorted(files.items())
        if file in ("labels.sh", "taints.sh") or file.endswith(".env")
    }
    by_node = _labels_of_nodes(files.get("labels.yaml", ""))
    cells = [row[part] for part in ("ours", "others")] if row else []
    pairs = [pair for cell in cells for pair in _cell(cell)] or [
        f"{key}={value}" for each in arguments.values() for key, value in each.labels.items()
    ]
    labels = _agreed(pairs)
    taints = [taint_of(text) for text in _cell(row["taints"])] if row else []
    taints = taints or [taint for each in arguments.values() for taint in each.taints]
    low, high = _size(row["size"]) if row else (0, None)
    names = {node: None for each in arguments.values() for node in each.names} | dict.fromkeys(by_node)
    selector = {key: value for each in arguments.values() for key, value in each.selector.items()}
    own = {node: {k: v for k, v in have.items() if k not in labels} for node, have in by_node.items()}
    return GeneratedPool(
        name,
        labels,
        tuple(sorted({taint for taint in taints if taint})),
        low,
        high,
        tuple(sorted(names)),
        selector,
        own,
    )


def _flags(flags: Iterable[str]) -> NodeArguments:
    labels: dict[str, str] = {}
    taints: list[Taint] = []
    for flag in flags:
        name, _, value = flag.partition("=")
        if f"{name}=" == _FLAGS[0]:
            labels.update(_pairs(value.split(",")))
        elif f"{name}=" == _FLAGS[1]:
            taints += [taint for text in value.split(",") if (taint := taint_of(text))]
    return NodeArguments(labels=labels, taints=tuple(taints))


def _labels_of_nodes(text: str) -> dict[str, dict[str, str]]:
    return {
        manifest.name: manifest.labels
        for number, document in enumerate(parse(text))
        if document.root is not None
        for manifest in manifests(document.root, number)
        if manifest.kind == "Node"
    }


def _cell(text: str) -> list[str]:
    return [part.strip("`") for part in text.strip().split("<br>") if part.startswith("`")]


def _pairs(texts: Iterable[str]) -> dict[str, str]:
    return {key: value for key, equals, value in (text.partition("=") for text in texts) if equals}


def _agreed(pairs: Iterable[str]) -> dict[str, str]:
    """Labels with a single value; a key with several values differs between nodes."""
    values: dict[str, set[str]] = {}
    for key, _, value in (pair.partition("=") for pair in pairs):
        values.setdefault(key, set()).add(value)
    return {key: next(iter(have)) for key, have in values.items() if len(have) == 1}


def _size(text: str) -> tuple[int, int | None]:
    match = _SIZE.match(text.strip())
    if match is None:
        return 0, None
    low = int(match["low"])
    return low, None if match["open"] else int(match["high"] or low)
