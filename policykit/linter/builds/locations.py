"""The location, in the source files, of a finding about a built object."""

from __future__ import annotations

from collections.abc import Callable

from policykit.linter.builds.source_files import (
    ParsedTexts,
    SourceFiles,
    SourceLocation,
    applied_patches,
    inside,
    is_for,
    path_of_pointer,
    source_location,
)
from policykit.linter.builds.templates import Templates
from policykit.linter.finding import Finding, Resource
from policykit.linter.input_file import BuiltKustomization, Kustomization, Route, origin_of, routes
from policykit.linter.location import relocation
from policykit.manifests.document import Manifest
from policykit.manifests.node import Span, node_at
from policykit.manifests.path import Path, lookup, pointer
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple

_GENERATORS = {"ConfigMap": "configMapGenerator", "Secret": "secretGenerator"}


class SourceFinding(NamedTuple):
    """A finding in a source file, and its object, which may be in another file."""

    finding: Finding
    source_location: tuple[str, Span]
    """File of the object, as reported, and its first line; suppressions there apply too."""
    outside_kustomization: bool = False
    """Whether the file is outside the folder of the kustomization."""


class SourceLocator:
    """Finds the source locations of the objects of one build."""

    def __init__(self, built: BuiltKustomization, read: Callable[[str], bytes], parsed: ParsedTexts) -> None:
        self._built = built
        self._rendered = f"{built.tree.file}#rendered"
        """Represents what helm renders, as a file that objects come from."""
        self._templates: Templates | None = None

        def content(file: str) -> bytes:
            if file == self._rendered:
                return built.rendered
            return read(built.names[file].file if file in built.names else file)

        self._texts = SourceFiles(content, parsed)
        self._text = self._texts.of(built.input_file.file)
        self._ways = routes(built.tree)

    def of(self, finding: Finding) -> SourceFinding | None:
        if self._built.file:
            file = self._built.file
            return self._reported(finding._replace(fix=None), file, self._ways[file], (file, finding.span))
        root = self._text.roots[finding.document]
        if root is None:
            return None
        manifest = Manifest(root.data, root, finding.document)
        path = path_of_pointer(manifest.data, finding.pointer)
        node = node_at(root, path)
        key = inner = None
        if finding.span != manifest.span(path):
            key = finding.span == manifest.span(path, key=True)
            if not key and node is not None and isinstance(node.data, str):
                inner = inside(self._text.text, path, node, finding.span)
        return self._source_finding(finding, manifest, path, bool(key), inner)

    def of_object(self, manifest: Manifest, path: Path) -> tuple[str, int] | None:
        """Reported path and line of a part of an object, by the files of the run: where it is written, else
        the patch that changes it, else the entry that leads to it; None: none of them leads there.
        """
        about = Finding(
            "", manifest.span(path), "", "", Severity.INFO, "", "", manifest.document, pointer=pointer(path)
        )
        file, route = self._origin(manifest)
        if self._built.file or file in self._built.names or file == self._rendered:
            found = self.of(about)
        else:
            found = self._at_patch(about, manifest, file, route) or self.of(about)
        return (found.finding.path, found.finding.span.line) if found else None

    def _at_patch(
        self, finding: Finding, manifest: Manifest, file: str, route: Route
    ) -> SourceFinding | None:
        """The start of the first file of the run that is a patch of an object."""
        home = self._home(manifest, file)
        for _, patch in applied_patches(route) if home else ():
            input_file = self._built.names.get(patch.file)
            objects = self._texts.of(patch.file).objects() if input_file else ()
            if (
                input_file
                and home
                and any(is_for(patch.target, each, home, manifest) for each in objects or (None,))
            ):
                place = Span(1, 1, 1, 2)
                return SourceFinding(
                    finding._replace(path=input_file.path, span=place), (input_file.path, place)
                )
        return None

    def _source_finding(
        self, finding: Finding, manifest: Manifest, path: Path, key: bool, inner: Span | None
    ) -> SourceFinding | None:
        file, route = self._origin(manifest)
        home = self._home(manifest, file)
        if home is None:
            return self._generated(finding, manifest, path, inner, route)
        found = source_location(manifest, home, file, route, path, self._texts)
        resource = Resource(home.api_version, home.kind, home.namespace or None, home.name)
        place = _place(found, key, inner, lookup(manifest.data, path))
        where = pointer(found.base if found.relocate else (*found.base, *found.path))
        finding = finding._replace(
            span=place, document=found.document, pointer=where, resource=resource, fix=None
        )
        line = home.node.start.line + 1
        return self._reported(finding, found.file, found.route, (file, Span(line, 1, line, 1)))

    def _origin(self, manifest: Manifest) -> tuple[str, Route]:
        """The file that an object was read from, or the kustomization that made it."""
        origin = origin_of(manifest.data)
        path = origin.get("path") or origin.get("configuredIn")
        file = _joined(self._built.folder, path) if isinstance(path, str) else ""
        by = origin.get("configuredBy")
        of_chart = isinstance(by, dict) and by.get("kind") == "HelmChartInflationGenerator"
        if file not in self._ways:
            file = self._built.tree.file
            of_chart = bool(self._built.tree.charts)
        return self._rendered if of_chart else file, self._ways[file]

    def _home(self, manifest: Manifest, file: str) -> Manifest | None:
        """The object in its file, by kind and by the name before the build."""
        alike = [
            each
            for each in self._texts.of(file).objects()
            if each.kind == manifest.kind and each.group == manifest.group
        ]
        named = [each for each in alike if each.name and each.name in manifest.name]
        best = max(
            named,
            key=lambda each: (
                each.name == manifest.name,
                each.namespace == manifest.namespace,
                len(each.name),
            ),
            default=None,
        )
        return best or (alike[0] if len(alike) == 1 else None)

    def _generated(
        self, finding: Finding, manifest: Manifest, path: Path, inner: Span | None, route: Route
    ) -> SourceFinding | None:
        """The location in a file that a generator reads, else the generator's entry in the kustomization."""
        tree = route[-1][0]
        at, name = self._generator(tree, manifest)
        resource = Resource(manifest.api_version, manifest.kind, None, name or manifest.name)
        finding = finding._replace(fix=None, resource=resource, document=0)
        for listed in tree.generated:
            if at and listed.at[: len(at)] == at and path == ("data", listed.key):
                text = self._texts.of(listed.file)
                if text.text == lookup(manifest.data, path):
                    led = (*route[:-1], (tree, listed.at))
                    finding = finding._replace(span=inner or Span(1, 1, 1, 2), pointer="")
                    return self._reported(finding, listed.file, led, (listed.file, finding.span))
        return self._at_entry(finding, (*route[:-1], (tree, at)), "")

    def _generator(self, tree: Kustomization, manifest: Manifest) -> tuple[Path, str]:
        field = _GENERATORS.get(manifest.kind, "")
        root = self._texts.of(tree.file).root(tree.document)
        entries = root.data.get(field) if root and isinstance(root.data, dict) else None
        names = [
            (len(each["name"]), -number, each["name"])
            for number, each in enumerate(entries if isinstance(entries, list) else ())
            if isinstance(each, dict) and isinstance(each.get("name"), str) and each["name"] in manifest.name
        ]
        if not names:
            return (), ""
        _, number, name = max(names)
        return (field, -number), name

    def _reported(
        self, finding: Finding, file: str, route: Route, home: tuple[str, Span]
    ) -> SourceFinding | None:
        """The finding at its location if the file is part of the run, else at the entry that leads to it."""
        built = self._built
        if file == self._rendered:
            return self._in_template(finding, route, home)
        if file in built.silent:
            return None
        if file not in built.names:
            return self._at_entry(finding, route, file)
        finding = finding._replace(path=built.names[file].path)
        outside = not (built.file or file.startswith(f"{built.root or _folder(built.tree.file)}/"))
        home_path = built.names[home[0]].path if home[0] in built.names else finding.path
        return SourceFinding(
            finding, (home_path, home[1] if home[0] in built.names else finding.span), outside
        )

    def _in_template(self, finding: Finding, route: Route, home: tuple[str, Span]) -> SourceFinding | None:
        if self._templates is None:
            self._templates = Templates(
                self._texts.of(self._rendered).text,
                self._built.tree.every_chart(),
                lambda file: self._texts.of(file).text,
            )
        place, start = self._templates.place(finding.span), self._templates.place(home[1])
        finding = finding._replace(document=0)
        if place is None or start is None:
            return self._at_entry(finding, route, "")
        return self._reported(finding._replace(span=place.span), place.file, route, (start.file, start.span))

    def _at_entry(self, finding: Finding, route: Route, file: str) -> SourceFinding | None:
        for tree, at in reversed(route):
            if tree.file in self._built.silent:
                return None
            input_file = self._built.names.get(tree.file)
            root = self._texts.of(tree.file).root(tree.document)
            if input_file is None or root is None:
                continue
            where = f"it is in {_relative(file, tree.file)}:{finding.span.line}" if file else ""
            finding = finding._replace(
                path=input_file.path,
                span=root.location(at),
                document=tree.document,
                pointer=pointer(at),
                help=f"{finding.help}\n{where}".strip("\n"),
            )
            return SourceFinding(finding, (input_file.path, finding.span), True)
        return None


def _place(found: SourceLocation, key: bool, inner: Span | None, value: object) -> Span:
    place = found.root.location(found.path, key=key)
    node = node_at(found.root, found.path)
    if inner and node is not None and node.data == value:
        place = relocation(found.text, found.path, node)(inner)
    return found.relocate(place) if found.relocate else place


def _folder(file: str) -> str:
    return file.rpartition("/")[0]


def _joined(folder: str, path: str) -> str:
    import posixpath

    return posixpath.normpath(posixpath.join(folder, path))


def _relative(file: str, from_file: str) -> str:
    import posixpath

    return posixpath.relpath(file, _folder(from_file) or "/")
