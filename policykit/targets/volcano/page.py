"""The page beside Volcano's generated files: what each is and how it is applied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from policykit.targets.release import Version

_RELOAD = (
    "The scheduler watches its configuration: a change takes effect without a restart, about a minute after "
    "the ConfigMap changed. A file it cannot parse is logged as an error and the former configuration stays, "
    "so look into the scheduler's log after a change."
)
_AGENT = (
    "Where the chart's agent scheduler is enabled, it is given the same override, refuses its actions and "
    "runs on its built-in configuration: the weights hold for the scheduler `volcano` only."
)


_ROWS: Mapping[str, str] = {
    "queues.yaml": (
        "the queues, parents first. `kubectl apply -f queues.yaml`, or by the kustomization of this folder's "
        "parent. Volcano makes `default` and `root` itself."
    ),
    "hypernodes.yaml": (
        "the topology: a HyperNode for each place that the policy states, found by labels of its nodes. "
        "`kubectl apply -f hypernodes.yaml`, or by the kustomization of this folder's parent."
    ),
    "nodegroups.sh": (
        "the node label that tells queues their pools. Run it before the configuration takes effect: plugin "
        "`nodegroup` keeps the pods of these queues off nodes without it."
    ),
    "namespaces/kustomization.yaml": (
        "a kustomize component with the tenants' queues, for the kustomization that holds their Namespaces: "
        "nothing here makes a Namespace, or takes one away."
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
            f"- `{name}`: Helm values with the whole scheduler configuration; the comments in it give the "
            f"arithmetic of the weights. `helm upgrade volcano volcano-sh/volcano -n {namespace} "
            f"--reuse-values -f {name}`. Leave `basic.scheduler_config_file` as it is."
        )
    return (
        f"- `{name}`: the scheduler configuration as the ConfigMap of Volcano's installer, in namespace "
        f"`{namespace}`; the comments in it give the arithmetic of the weights. `kubectl apply -f {name}`."
    )
