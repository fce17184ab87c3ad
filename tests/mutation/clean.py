"""Manifests without a finding: the corpus, the seeds, examples, what policies generate, patched ones."""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple
from zlib import crc32

from policykit import api
from policykit.errors import PolicykitError
from policykit.kube import podsets
from policykit.kube.podsets.podset import PodSet
from policykit.linter.configurations import bare, embedded_configurations, hinted
from policykit.linter.finding import Finding
from policykit.linter.reader import decode, documents
from policykit.manifests.document import Manifest, manifests
from policykit.model.cluster import Cluster
from policykit.model.severity import Severity
from policykit.rules import rules
from policykit.targets import ALL_TARGETS
from policykit.targets.workloads.patch_options import PatchOptions
from policykit.targets.workloads.stream import ManifestText, patch
from tests.mutation.policies import NAMES, PATCHING, WITHOUT_CARDS, page_of, under
from tests.rules.test_cases import BY_NAME
from tests.shared import ROOT, SHARED

_FOLDERS = ("tests/seeds", "examples/apps")
_BARE = re.compile(r"^( +)limits:\n( +)nvidia\.com/gpu: \d+$", re.MULTILINE)
_CARDS = ("gpu", "dongle")
_JUDGED = ("kind: Queue\n", "kind: ResourceQuota\n", "kind: DaemonSet\n", "scheduler.conf")
"""Of what policies judge without workloads in it."""


class Subject(NamedTuple):
    """An object of a clean file, or a configuration in one of its strings."""

    manifest: Manifest
    pod_sets: tuple[PodSet, ...]
    cluster: Cluster | None
    others: tuple[str, ...]
    """Kinds of all objects of the file."""
    text: str
    """Of the whole file."""

    @property
    def outer(self) -> int:
        """Index of the file's document that it stands in."""
        return (self.manifest.holder or self.manifest).document


class Clean(NamedTuple):
    """A file in which nothing is found under a policy."""

    name: str
    policy: str
    text: str
    subjects: tuple[Subject, ...]


def grave(text: str, cluster: Cluster | None, path: str = "manifest.yaml") -> tuple[Finding, ...]:
    """Errors and warnings of a file that is a scope of its own."""
    found = api.lint_texts({path: text.encode()}, cluster).findings
    return tuple(one for one in found if one.severity in (Severity.ERROR, Severity.WARNING))


def subjects(text: str, cluster: Cluster | None) -> Iterator[Subject]:
    """Every object of a file, and the configurations inside."""
    known = hinted(text, ALL_TARGETS.configurations)
    found: list[Manifest] = []
    for index, parsed in enumerate(documents(decode(text.encode()))):
        for manifest in manifests(parsed.root, index) if parsed.root and not parsed.problem else ():
            found.append(bare(manifest, known) or manifest)
            inner = embedded_configurations(manifest, text, known)
            found.extend(each.manifest for each in inner if not each.nested)
    kinds = tuple(manifest.kind for manifest in found)
    for manifest in found:
        if manifest.kind:
            yield Subject(manifest, podsets.pod_sets(manifest.data), cluster, kinds, text)


def originals() -> Iterator[tuple[str, str]]:
    """(name, text) of manifests that people wrote."""
    if SHARED:
        for path in sorted((SHARED / "corpus").rglob("*.yaml")):
            relative = path.relative_to(SHARED / "corpus")
            if relative.parts[0] != "crds":
                yield relative.as_posix(), path.read_text(encoding="utf-8")
    for folder in _FOLDERS:
        for path in sorted((ROOT / folder).glob("*.yaml")):
            yield f"{folder}/{path.name}", path.read_text(encoding="utf-8")
    for rule in rules():
        yield f"page of {rule.name}", _in_full(rule.good)


def _in_full(page: str) -> str:
    """Pages leave out what a container with cards asks for beside."""
    return _BARE.sub(r"\g<0>\n\2cpu: 8\n\2memory: 64Gi", page)


def candidates(share: int) -> Iterator[tuple[str, str, str]]:
    """(name, policy, text), clean or not: as written, generated, patched for a policy."""
    for name, text in originals():
        if not name.startswith("page of ") and crc32(name.encode()) % share:
            continue
        yield name, "none", text
        if any(word in text for word in _JUDGED):
            yield name, "hybrid-volcano", text
        if not name.startswith("page of ") and not any(
            each.severity is Severity.ERROR for each in grave(text, None)
        ):
            yield from _patched(name, text)
    for rule in rules():
        if rule.needs_policy and rule.good and rule.name in BY_NAME:
            yield f"page of {rule.name}", page_of(rule.name), _in_full(rule.good)
    for chosen in NAMES:
        yield from _generated(chosen)


def _generated(chosen: str) -> Iterator[tuple[str, str, str]]:
    cluster = under(chosen)
    for artifact in api.generate(cluster).artifacts if cluster else ():
        if artifact.path.endswith(".yaml"):
            yield f"generated {artifact.path}", chosen, artifact.text


def _patched(name: str, text: str) -> Iterator[tuple[str, str, str]]:
    """The manifest as each policy's workloads of each kind, where it asks for cards."""
    carded = any(word in text for word in _CARDS)
    for chosen in PATCHING if carded else WITHOUT_CARDS if name.startswith(_FOLDERS) else ():
        cluster = under(chosen)
        assert cluster is not None
        for workload in cluster.workloads:
            for card in cluster.cards if cluster.complete else ("",):
                try:
                    made = patch(ManifestText(name, text.encode()), cluster, PatchOptions(workload, card))
                except PolicykitError:
                    continue
                if made.changed:
                    yield f"{name} as {' '.join((workload, card)).strip()}", chosen, made.raw.decode()


@cache
def clean(share: int = 1) -> tuple[Clean, ...]:
    """Every candidate without an error or a warning; of people's manifests one in `share`."""
    found: list[Clean] = []
    for name, chosen, text in candidates(share):
        cluster = under(chosen)
        if "{{" not in text and not grave(text, cluster):
            found.append(Clean(name, chosen, text, tuple(subjects(text, cluster))))
    return tuple(found)
