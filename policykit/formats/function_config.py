"""The functionConfig of a KRM function, and the role it selects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.errors import UsageError
from policykit.model.severity import Severity
from policykit.nearest import nearest

API = "policykit.io/v1alpha1"
ROLES = ("generate", "patch", "lint")
_POLICY = "Policy"
_TEXTS = ("namespace", "workload", "card", "queue", "failOn")
_LISTS = ("targets", "only", "select", "ignore")
_NAMES = {"failOn": "fail_on"}
_FIELDS = {
    "generate": ("policy", "targets"),
    "patch": ("policy", "namespace", "workload", "card", "queue", "only"),
    "lint": ("policy", "namespace", "select", "ignore", "failOn", "complete"),
}


class FunctionConfig(NamedTuple):
    """The configuration of one function. Empty parts follow the policy and the defaults."""

    role: str
    """generate, patch or lint."""
    policy: str = ""
    """A file relative to the current folder, or profile:NAME."""
    inline: Mapping[str, Any] = {}
    """A whole policy as data."""
    namespace: str = ""
    targets: tuple[str, ...] = ()
    workload: str = ""
    card: str = ""
    queue: str = ""
    only: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    fail_on: str = Severity.WARNING
    complete: bool = False
    """The items are complete, so rules about missing objects apply."""


def function_config(data: Mapping[str, Any], role: str = "") -> FunctionConfig:
    """Reads a functionConfig: kind Generate, Patch or Lint, or a Policy.

    `role` comes from the command line: required without a functionConfig, and must agree with
    the functionConfig if there is one; for a Policy it defaults to generate. Raises UsageError.
    """
    if not data:
        return FunctionConfig(_needed(role))
    version, kind = data.get("apiVersion"), data.get("kind")
    if version != API:
        raise UsageError(f"functionConfig has apiVersion {version!r}", f"write {API}")
    if kind == _POLICY:
        return FunctionConfig(role or "generate", inline=data)
    known = {name.capitalize(): name for name in ROLES}
    if not isinstance(kind, str) or kind not in known:
        raise UsageError(
            f"functionConfig has kind {kind!r}", _suggestion(str(kind), (*known, _POLICY), "use one of")
        )
    if role and role != known[kind]:
        raise UsageError(f"functionConfig has kind {kind}, but the argument is {role}", "remove one of them")
    spec = data.get("spec")
    if spec is not None and not isinstance(spec, dict):
        raise UsageError(
            "spec of the functionConfig is not a mapping", "use `spec: {policy: policykit.yaml}`"
        )
    return _read(known[kind], spec or {})


def _needed(role: str) -> str:
    if not role:
        raise UsageError("the ResourceList has no functionConfig", f"pass one of: {', '.join(ROLES)}")
    return role


def _read(role: str, spec: Mapping[str, Any]) -> FunctionConfig:
    for field, value in spec.items():
        if field not in _FIELDS[role]:
            known = _FIELDS[role]
            raise UsageError(
                f"{role.capitalize()} has no field spec.{field}", _suggestion(field, known, "it has")
            )
        _check(field, value)
    config = FunctionConfig(role)
    made: dict[str, Any] = {_NAMES.get(field, field): _frozen(value) for field, value in spec.items()}
    if isinstance(made.get("policy"), dict):
        made["inline"] = made.pop("policy")
    return config._replace(**made)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _check(field: str, value: object) -> None:
    if field == "policy":
        right, wanted = isinstance(value, (str, dict)), "a file, profile:NAME, or a policy"
    elif field == "complete":
        right, wanted = isinstance(value, bool), "true or false"
    elif field == "failOn":
        levels = [severity.value for severity in Severity]
        right, wanted = value in levels, ", ".join(levels)
    elif field in _TEXTS:
        right, wanted = isinstance(value, str), "a text"
    else:
        right = isinstance(value, list) and all(isinstance(one, str) for one in value)
        wanted = "a list of strings"
    if not right:
        raise UsageError(f"spec.{field} of the functionConfig is {value!r}", f"write {wanted}")


def _suggestion(word: str, known: tuple[str, ...], otherwise: str) -> str:
    near = nearest(word, known)
    return f"did you mean {near}?" if near else f"{otherwise} {', '.join(known)}"
