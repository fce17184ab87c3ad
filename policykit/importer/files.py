"""Reads the files to import: each system reads its own objects, the importer reads nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.errors import SourceError, faults_at
from policykit.generator.header import owner
from policykit.importer import nodes
from policykit.linter.import_reader import ImportReader
from policykit.linter.reader import decode, is_template
from policykit.manifests.document import Manifest, manifests
from policykit.manifests.node import Node
from policykit.manifests.parser import parse
from policykit.model.inventory import Inventory
from policykit.targets import TARGETS

_LIST = "List"


def text(raw: bytes, path: str) -> str:
    """Raises SourceError for bytes that are not UTF-8."""
    decoded = decode(raw)
    if decoded.problem:
        raise SourceError(decoded.problem.message, "save it as UTF-8", path)
    return decoded.text


def objects(source: str, path: str) -> Iterator[Manifest]:
    """Every object of a file, from documents, Lists and JSON arrays.

    Raises SourceError at the first syntax error.
    """
    for number, document in enumerate(parse(source)):
        if document.problem:
            place = f"{path}:{document.problem.line + 1}:{document.problem.column + 1}"
            several = number and source.lstrip().startswith("{")
            hint = (
                "separate the objects with ---, or wrap them in one List"
                if several
                else "check that the file is complete"
            )
            raise SourceError(f"not YAML: {document.problem.message}", hint, place)
        if document.root is not None:
            yield from _objects(document.root, number)


def _objects(root: Node, number: int) -> Iterator[Manifest]:
    if isinstance(root.data, list):
        for item in root.entries:
            yield from manifests(item, number)
        return
    kind = root.data.get("kind") if isinstance(root.data, dict) else None
    items = kind.removesuffix(_LIST) if isinstance(kind, str) and kind.endswith(_LIST) else ""
    # In a NodeList from an API server, items have no kind.
    stated = {"kind": items, "apiVersion": root.data.get("apiVersion")} if items else {}
    for manifest in manifests(root, number):
        yield manifest if manifest.kind else manifest._replace(data={**stated, **manifest.data})


Files = Mapping[str, bytes]
"""Path, with `/`, to content, in reading order."""

_IGNORED = ("Kustomization", "Component", "Policy", "ConfigMap", "Deployment")
"""Kinds that are not reported where no system reads them."""


class ImportedFiles:
    """The contents of all files. Raises SourceError for a file that is not UTF-8 or not YAML."""

    def __init__(self, files: Files) -> None:
        self.inventory = Inventory()
        self.readers: tuple[ImportReader, ...] = tuple(
            target.import_reader.load()(self.inventory) for target in TARGETS if target.import_reader
        )
        """In the order of their systems."""
        self._read(files)
        for reader in self.readers:
            reader.finish()
        self._report_ignored()

    def _read(self, files: Files) -> None:
        texts = {path: text(raw, path) for path, raw in files.items()}
        generated = {path: source for path, source in texts.items() if owner(source)}
        finished = {path for path, source in generated.items() if self._read_generated(path, source)}
        for path, source in texts.items():
            if path not in finished:
                with faults_at(path):
                    self._read_objects(path, source)

    def _read_generated(self, path: str, source: str) -> bool:
        """Reads a file that `gen` wrote, by its path; whether it has no objects to read."""
        self.inventory.policy = self.inventory.policy or owner(source)
        steps = tuple(path.split("/"))
        folders = {step: number for number, step in enumerate(steps[:-1])}
        finished = False
        for reader in self.readers:
            if reader.target_name in folders:
                below = steps[folders[reader.target_name] + 1 :]
                finished = reader.read_generated(below, source) or finished
        return finished

    def _read_objects(self, path: str, source: str) -> None:
        if path.endswith((".md", ".sh", ".env")):
            return
        if is_template(source):
            self.inventory.add_remark(f"{path}: a template, not YAML until it is rendered; left out")
            return
        for manifest in objects(source, path):
            if not manifest.kind:
                self._read_values(path, manifest)
            elif manifest.kind == "Node":
                nodes.add_node(manifest, self.inventory)
            else:
                self._read_object(path, manifest)

    def _read_object(self, path: str, manifest: Manifest) -> None:
        kind, ignored = manifest.kind, self.inventory.ignored_kinds
        # Later systems build on earlier ones, and know their own configuration from those.
        if not any(reader.read_object(manifest, path) for reader in reversed(self.readers)):
            ignored.update({} if kind in _IGNORED else {kind: ignored.get(kind, 0) + 1})

    def _read_values(self, path: str, manifest: Manifest) -> None:
        data = manifest.data
        if data and not any(reader.read_values(data, path) for reader in reversed(self.readers)):
            self.inventory.add_remark(
                f"{path}: not an object or configuration that import can read; left out"
            )

    def _report_ignored(self) -> None:
        ignored = sorted(self.inventory.ignored_kinds.items())
        if ignored:
            kinds = ", ".join(f"{number} {kind}" for kind, number in ignored)
            self.inventory.add_remark(f"{kinds}: not part of a policy; ignored")
