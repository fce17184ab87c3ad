"""Opens a connection as kubectl does: --kubeconfig, KUBECONFIG, the home folder, or a pod's account.

A kubeconfig may name a program that is run for credentials. It is therefore never taken from a policy or
a repository, only from the command line and the environment.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from policykit.errors import UsageError
from policykit.live.client import Client, ClusterError, server_name
from policykit.namedtuple import NamedTuple

if TYPE_CHECKING:
    from kubernetes.client import Configuration


class Access(NamedTuple):
    """Which cluster to read, and how much of it."""

    context: str = ""
    """Empty: the current context."""
    kubeconfig: str = ""
    """Empty: as kubectl finds it."""
    namespace: str = ""
    """Empty: that of the context."""
    every_namespace: bool = False
    timeout: float = 30.0
    """Seconds that one answer may take."""


_ENVIRONMENT = "KUBECONFIG"
_HOME = "~/.kube/config"
_IN_CLUSTER = "KUBERNETES_SERVICE_HOST"
_OWN_NAMESPACE = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
_DEFAULT = "default"


def connect(access: Access) -> Client:
    """A client for the cluster. Nothing is asked of it yet.

    Raises UsageError without the package `kubernetes`, ClusterError for an unusable kubeconfig.
    """
    try:
        from kubernetes import client as package
    except ImportError:
        raise UsageError(
            "reading a cluster needs the package kubernetes",
            "install policykit-k8s[live] from the source you use, or kubernetes into this environment",
        ) from None
    settings: Configuration = package.Configuration()
    with _quiet() as messages:
        context, namespace = (
            _in_cluster(settings) if _is_in_pod(access) else _from_kubeconfig(access, settings)
        )
    if messages:
        raise ClusterError(f"no credentials for {server_name(settings.host)}: {messages[0]}", _LOGIN)
    settings.retries = False
    chosen = "" if access.every_namespace else access.namespace or namespace or _DEFAULT
    return Client(package.ApiClient(settings), server_name(settings.host), context, chosen, access.timeout)


_CORRECT = "correct it, or name another one"
_LOGIN = "check the user of the context in the kubeconfig"


def _is_in_pod(access: Access) -> bool:
    named = access.kubeconfig or access.context or os.environ.get(_ENVIRONMENT)
    there = named or os.path.exists(os.path.expanduser(_HOME))
    return not there and bool(os.environ.get(_IN_CLUSTER))


def _in_cluster(settings: Configuration) -> tuple[str, str]:
    """Uses the service account of the pod; no context, and its namespace."""
    from kubernetes.config import ConfigException
    from kubernetes.config.incluster_config import load_incluster_config

    try:
        load_incluster_config(client_configuration=settings)
    except (ConfigException, OSError) as error:
        raise ClusterError(
            f"no service account in this pod: {error}", "mount its token, or use --kubeconfig"
        ) from None
    try:
        with open(_OWN_NAMESPACE, encoding="utf-8") as file:
            return "", file.read().strip()
    except OSError:
        return "", ""


def _from_kubeconfig(access: Access, settings: Configuration) -> tuple[str, str]:
    """Uses a context of the kubeconfig; its name and namespace."""
    import yaml
    from kubernetes.config import ConfigException
    from kubernetes.config.kube_config import list_kube_config_contexts, load_kube_config

    path = access.kubeconfig or os.environ.get(_ENVIRONMENT) or _HOME
    if not any(os.path.exists(os.path.expanduser(each)) for each in path.split(os.pathsep) if each):
        raise ClusterError(
            f"no kubeconfig: {path} does not exist", "name one with --kubeconfig or KUBECONFIG"
        )
    try:
        contexts, current = list_kube_config_contexts(config_file=path)
        chosen = _context(access.context, contexts, current)
        load_kube_config(
            config_file=path, context=chosen["name"], client_configuration=settings, persist_config=False
        )
    except yaml.YAMLError:
        # The error would quote the file, which may hold a token.
        raise ClusterError(f"the kubeconfig {path} is not YAML", _CORRECT) from None
    except (ConfigException, OSError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise ClusterError(f"the kubeconfig {path} cannot be used: {_reason(error)}", _CORRECT) from None
    return str(chosen["name"]), str((chosen.get("context") or {}).get("namespace") or "")


def _context(name: str, contexts: list[dict[str, Any]], current: dict[str, Any]) -> dict[str, Any]:
    if not name:
        return current
    found = next((each for each in contexts if each.get("name") == name), None)
    if found is None:
        known = ", ".join(sorted(str(each.get("name")) for each in contexts)) or "none"
        raise ClusterError(f"the kubeconfig has no context {name!r}", f"contexts: {known}")
    return found


def _reason(error: Exception) -> str:
    """What the client says of a kubeconfig: which key is missing, never the value of one."""
    from kubernetes.config import ConfigException

    if isinstance(error, OSError):
        return error.strerror or "it cannot be read"
    if isinstance(error, ConfigException):
        return str(error).partition("\n")[0]
    return "it does not have the structure of one"


@contextmanager
def _quiet() -> Iterator[list[str]]:
    """Collects what the client logs: a program for credentials that fails is only logged."""
    messages: list[str] = []

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(record.getMessage().partition("\n")[0])

    root, collector = logging.getLogger(), Collector(logging.ERROR)
    root.addHandler(collector)
    try:
        yield messages
    finally:
        root.removeHandler(collector)
