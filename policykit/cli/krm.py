"""`policykit krm`: a KRM function: generator, transformer or validator."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from policykit import api
from policykit.cli import click
from policykit.cli.options import allow_path, cache_of, cluster_for
from policykit.cli.output import print_error, print_escaped, print_message, write_data
from policykit.errors import SourceError, UsageError
from policykit.formats import FormatContext, krm
from policykit.formats.krm import API, ROLES, FunctionConfig, function_config
from policykit.formats.text import summary, text
from policykit.generator.artifact import Role
from policykit.linter.finding import Finding, Report
from policykit.linter.workspace import Options
from policykit.manifests.document import manifests
from policykit.manifests.parser import parse
from policykit.manifests.writer import dump
from policykit.model.severity import Severity
from policykit.targets import writers
from policykit.targets.workloads.patch_options import PatchOptions
from policykit.targets.workloads.stream import ManifestText, patch, unique_notices
from policykit.workspace import safe_paths
from policykit.workspace.linting.request import today
from policykit.workspace.policies import reader

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from policykit.model.cluster import Cluster

_INLINE = "functionConfig"


@click.command(
    "krm",
    epilog="Run by `kustomize build --enable-alpha-plugins --enable-exec`. List Lint last under"
    " `transformers`: under `validators` its findings also fail the build, but kustomize (5.8, its issue"
    " 5036) rejects the output of every function there, unless a function under `transformers` ran"
    " before it and changed nothing. Line numbers count within an object as kustomize renders it.",
)
@click.argument("role", required=False, type=click.Choice(ROLES))
@allow_path
def command(role: str | None) -> int:
    """Read a ResourceList from standard input and write it to standard output.

    The functionConfig selects the function: apiVersion policykit.io/v1alpha1 and kind Generate
    (spec: policy, targets), Patch (policy, workload, card, queue, only, namespace) or Lint
    (policy, select, ignore, failOn, complete, namespace). spec.policy is a file relative to the
    kustomization, profile:NAME, or an inline policy. A functionConfig of kind Policy generates.
    ROLE is for callers without a functionConfig.
    """
    given = krm.read(_standard_input())
    config = function_config(given.config, role or "")
    cluster = _cluster(config)
    if config.role == "lint":
        return _lint(given, config, cluster)
    if cluster is None:
        raise SourceError(
            "no policykit.yaml found in this or any parent folder", "name the policy in spec.policy"
        )
    write_data(
        _generated(given, config, cluster) if config.role == "generate" else _patched(given, config, cluster)
    )
    return 0


def _standard_input() -> bytes:
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("standard input is not a ResourceList", "run this command through kustomize")
    return sys.stdin.buffer.read()


def _cluster(config: FunctionConfig) -> Cluster | None:
    if not config.inline:
        if config.policy and not config.policy.startswith("profile:"):
            safe_paths.readable(config.policy, by=_INLINE)
        return cluster_for(os.getcwd(), config.policy or None, cache_of((config.policy,)))
    from policykit.policy.load import load_text

    policy = {"apiVersion": API, "kind": "Policy", **config.inline}
    loaded = load_text(dump(policy).encode(), _INLINE, reader(_INLINE))
    for notice in loaded.notices:
        print_error(notice)
    return loaded.cluster


def _generated(given: krm.ResourceList, config: FunctionConfig, cluster: Cluster) -> str | bytes:
    """The list with every object that the generated kustomization applies."""
    known = [name for name, _ in writers(cluster)]
    for target in config.targets:
        if target not in known:
            raise UsageError(f"the policy has no target {target!r}", f"available targets: {', '.join(known)}")
    generated = api.generate(cluster, config.targets)
    for notice in generated.notices:
        print_message(f"{notice.target}: {notice.message}")
    return krm.with_items(
        given,
        (
            manifest.data
            for artifact in generated.artifacts
            if artifact.role is Role.MANIFEST
            for index, document in enumerate(parse(artifact.text))
            if document.root
            for manifest in manifests(document.root, index)
        ),
    )


def _patched(given: krm.ResourceList, config: FunctionConfig, cluster: Cluster) -> str | bytes:
    """The list with its workloads patched. All items share one document."""
    options = PatchOptions(config.workload, config.card, config.queue, config.only)
    options.check(cluster)
    source = ManifestText("ResourceList", given.text.encode(), config.namespace or "default", rendered=True)
    patched = patch(source, cluster, options)
    options.check_found(patched.objects)
    for note in (*patched.notes, *unique_notices(patched.notices)):
        print_message(f"policykit: {note}")
    # Another item fits into a list, but the text of the input is not preserved then.
    return krm.with_items(krm.read(patched.raw), patched.unwritten) if patched.unwritten else patched.raw


def _lint(given: krm.ResourceList, config: FunctionConfig, cluster: Cluster | None) -> int:
    """Findings as results and on standard error; the items are unchanged."""
    items = {f"{n:08}": item for n, item in enumerate(given.items) if not krm.local(item)}
    texts = {name: dump(item).encode() for name, item in items.items()}
    setting = api.setting(cluster, None, config.select, config.ignore, config.namespace or "default")
    workspace = api.workspace_of(texts, setting, complete=config.complete)
    report = api.lint(workspace, Options(today=today(), workers=1))
    results = [krm.result(finding, items[finding.path]) for finding in report.findings]
    write_data(krm.with_results(given.text, given, results))
    shown = report._replace(
        findings=tuple(_with_location(finding, items[finding.path]) for finding in report.findings)
    )
    _print_report(shown, cluster)
    return int(any(_fails(finding, Severity(config.fail_on)) for finding in report.findings))


def _with_location(finding: Finding, item: Mapping[str, Any]) -> Finding:
    """With the item's file, or its object if the file is unknown, instead of its number."""
    return finding._replace(path=krm.path_of(item) or krm.object_name(item))


def _fails(finding: Finding, fail_on: Severity) -> bool:
    return finding.severity is not Severity.INFO and finding.severity.rank <= fail_on.rank


def _print_report(report: Report, cluster: Cluster | None) -> None:
    found = text(report, FormatContext())
    if found:
        print_escaped(found.removesuffix("\n"))
    if cluster is None and report.silent_rules:
        silent = f"{report.silent_rules} rule{'s' if report.silent_rules != 1 else ''}"
        print_message(f"policykit: no policy: {silent} did not run (name one in spec.policy)")
    print_message(summary(report))
