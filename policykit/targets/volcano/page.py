"""The page beside Volcano's generated files: what each is and how it is applied."""

from __future__ import annotations

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


def text(configuration: str, queues: str, namespace: str, version: Version, *, agent: bool) -> str:
    """Markdown. `configuration` and `queues` are paths of files, `queues` empty where there are none.

    `agent`: the release's chart has an agent scheduler that reads the same value.
    """
    rows = [_configuration_row(_name(configuration), namespace)]
    if queues:
        rows.append(
            f"- `{_name(queues)}`: the queues, parents first. `kubectl apply -f {_name(queues)}`, or by the "
            "kustomization of this folder's parent. Volcano makes `default` and `root` itself."
        )
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


def _name(path: str) -> str:
    return path.rpartition("/")[2]
