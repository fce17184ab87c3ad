"""Reads the files to import: each system reads its own, the importer reads nodes."""

from __future__ import annotations

from collections.abc import Mapping

from policykit.errors import faults_at
from policykit.generator.header import owner
from policykit.importer import documents, nodes
from policykit.linter.import_reader import ImportReader
from policykit.linter.reader import is_template
from policykit.manifests.document import Manifest
from policykit.model.inventory import Inventory
from policykit.targets import TARGETS

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
        texts = {path: documents.text(raw, path) for path, raw in files.items()}
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
        for manifest in documents.objects(source, path):
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
