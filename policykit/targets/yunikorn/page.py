"""The README of YuniKorn's generated files: what each is and how to apply it."""

from __future__ import annotations

from collections.abc import Sequence

from policykit.targets.release import Version
from policykit.targets.yunikorn.configuration.configmap import CONFIGS, DEFAULTS

_RELOAD = (
    "The scheduler reads changed queues without a restart. If it refuses a configuration, it logs that and "
    "keeps the previous one; at start-up it exits, so check its log after a change. Settings that begin with "
    "`service.` and `kubernetes.` need a restart."
)
_NAMESPACES = (
    "Pods go to the queue that their label `yunikorn.apache.org/queue` names, or else to the one in the "
    "annotation of their namespace, as listed here. The component in `namespaces/` adds the annotation to "
    "Namespaces of your own kustomization; for any other namespace run:"
)


def text(
    configuration: str,
    namespace: str,
    version: Version,
    table: Sequence[tuple[str, str]],
    commands: Sequence[str],
) -> str:
    """Markdown. `configuration` is the path of the file; `table` holds queues of the policy and paths."""
    parts = [f"# YuniKorn {version}", _configuration(configuration.rpartition("/")[2], namespace), _RELOAD]
    if table:
        rows = [f"| {name} | `{path}` |" for name, path in table]
        parts.append("\n".join(["| queue | in YuniKorn |", "|---|---|", *rows]))
    if commands:
        parts += [_NAMESPACES, "\n".join(["```sh", *commands, "```"])]
    return "\n\n".join(parts) + "\n"


def _configuration(name: str, namespace: str) -> str:
    if name == "values.yaml":
        return (
            f"- `{name}`: values for the chart, which keeps them in ConfigMap {DEFAULTS}. `helm upgrade "
            f"yunikorn yunikorn/yunikorn -n {namespace} --reuse-values -f {name}`. Keys of a ConfigMap "
            f"{CONFIGS} in the same namespace override them: there should be none with these keys."
        )
    return (
        f"- `{name}`: ConfigMap {CONFIGS} in namespace {namespace}, where the scheduler must run. Its keys "
        f"override those of the chart's ConfigMap {DEFAULTS}. `kubectl apply -f {name}`, or use the "
        "kustomization in the parent folder."
    )
