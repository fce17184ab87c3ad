"""README of Volcano's generated files: what each is and how to apply it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from policykit.targets.release import Version

_RELOAD = (
    "The scheduler watches its configuration: a change takes effect without a restart, about a minute after "
    "the ConfigMap changed. If it cannot parse the file, it logs an error and keeps the previous "
    "configuration, so check the scheduler's log after a change."
)
_AGENT = (
    "If the chart's agent scheduler is enabled, it gets the same override, rejects its actions and runs with "
    "its built-in configuration: the weights apply to the scheduler `volcano` only."
)


_ROWS: Mapping[str, str] = {
    "queues.yaml": (
        "the queues, parents first. `kubectl apply -f queues.yaml`, or use the kustomization in the parent "
        "folder. Volcano creates `default` and `root` itself."
    ),
    "hypernodes.yaml": (
        "the topology: a HyperNode for each place in the policy, which selects nodes by label. `kubectl "
        "apply -f hypernodes.yaml`, or use the kustomization in the parent folder."
    ),
    "nodegroups.sh": (
        "the node label that assigns pools to queues. Run it before the configuration takes effect: plugin "
        "`nodegroup` keeps pods of these queues off nodes without the label."
    ),
    "namespaces/kustomization.yaml": (
        "a kustomize component with the tenants' queues, for the kustomization that contains their "
        "Namespaces: it neither creates nor deletes a Namespace."
    ),
}


def text(paths: Sequence[str], namespace: str, version: Version, *, agent: bool) -> str:
    """Markdown for the files at `paths`, the configuration first.

    `agent`: the release's chart has an agent scheduler that reads the same value.
    """
    names = [path.partition("/")[2] for path in paths]
    rows = [_configuration_row(names[0], namespace)]
    rows += [f"- `{name}`: {_ROWS[name]}" for name in names[1:] if name in _ROWS]
    parts = (f"# Volcano {version}", "\n".join(rows), _RELOAD, *((_AGENT,) if agent else ()))
    return "\n\n".join(parts) + "\n"


def _configuration_row(name: str, namespace: str) -> str:
    if name == "values.yaml":
        return (
            f"- `{name}`: Helm values with the whole scheduler configuration; its comments explain the "
            f"arithmetic of the weights. `helm upgrade volcano volcano-sh/volcano -n {namespace} "
            f"--reuse-values -f {name}`. Leave `basic.scheduler_config_file` as it is."
        )
    return (
        f"- `{name}`: the scheduler configuration as the ConfigMap of Volcano's installer, in namespace "
        f"`{namespace}`; its comments explain the arithmetic of the weights. `kubectl apply -f {name}`."
    )
