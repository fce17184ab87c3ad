"""The shared facts about kinds, said the way profiles/kinds says them (prose left out)."""

from __future__ import annotations

from typing import Any

_PARTS = {
    "task_size": "task",
    "clique_size": "clique",
    "group_size": "group",
    "role_size": "role",
    "role_minima": "role",
}
_PLAIN_GANG = ("unit", "members", "scheduler", "schedulers")


def translated(entry: dict[str, Any]) -> dict[str, Any]:
    """One entry of the shared table in the project's own keys."""
    result = {key: entry[key] for key in ("group", "kind", "versions", "purpose")}
    if "old_versions" in entry:
        result["old"] = entry["old_versions"]
    if entry.get("scope") == "Cluster":
        result["cluster_scoped"] = True
    if entry.get("synchronous"):
        result["synchronous"] = True
    if entry["list_patch"] == "strategic":
        result["strategic"] = True
    result["templates"] = {t["name"]: _template(t) for t in entry["templates"]}
    if entry.get("scheduler_name"):
        (place,) = entry["scheduler_name"]
        result["scheduler_name"] = _target(place)
    gang = _gang(entry.get("gang", {}))
    if gang:
        result["gang"] = gang
    if entry.get("queues"):
        result["queues"] = _queues(entry["queues"])
    if "priority" in entry:
        result["priority"] = _target(entry["priority"])
    if "restart_policy" in entry:
        result["restart_policy"] = _restart(entry["restart_policy"])
    return result


def path(steps: list[str]) -> str:
    """[spec, tasks, '[*]', template] is spec.tasks[*].template."""
    return ".".join(steps).replace(".[*]", "[*]").replace(".{*}", "{*}")


def _template(raw: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {"path": path(raw["path"])}
    if raw["shape"] != "podTemplate":
        result["shape"] = raw["shape"]
    if raw.get("use", "pods") != "pods":
        result["use"] = raw["use"]
    if "for" in raw:
        result["for"] = raw["for"]
    if "exists" in raw:
        result["exists"] = path(raw["exists"])
    if "only" in raw:
        result["only"] = [_condition(c) for c in raw["only"]]
    if "ref" in raw:
        ref = raw["ref"]
        result["ref"] = {k: path(v) if k != "key" else v for k, v in ref.items() if k != "note"}
    if "replicas" in raw:
        result["replicas"] = _replicas(raw["replicas"])
    if "metadata" in raw:
        result["metadata"] = {k: [path(p) for p in v] for k, v in raw["metadata"].items()}
    if "fields" in raw:
        result.update(_fields(raw["fields"]))
    if "devices" in raw:
        devices: dict[str, list[str]] = {}
        for device in raw["devices"]:
            devices.setdefault(device["form"], []).append(path(device["path"]))
        result["devices"] = devices
    return result


def _fields(fields: dict[str, list[str] | None]) -> dict[str, Any]:
    """Fields by their PodSpec name, fields that stand elsewhere, fields there are none of."""
    own = [name for name, steps in fields.items() if steps == [name]]
    moved = {name: path(steps) for name, steps in fields.items() if steps and steps != [name]}
    lacking = [name for name, steps in fields.items() if steps is None]
    return {key: value for key, value in (("fields", own), ("elsewhere", moved), ("lacks", lacking)) if value}


def _condition(raw: dict[str, Any]) -> dict[str, Any]:
    if "any" in raw:
        return {"any": [path(p) for p in raw["any"]]}
    if "target" in raw:
        return _target(raw)
    return {k: path(v) if k == "path" else v for k, v in raw.items()}


def _number(raw: dict[str, Any]) -> dict[str, Any]:
    result = {k: v for k, v in raw.items() if k in ("default", "rule", "less")}
    if "path" in raw:
        result = {"path": path(raw["path"]), **result}
    if "if_parent" in raw:
        result["if_parent"] = _number(raw["if_parent"])
    if "lookup" in raw:
        lookup = raw["lookup"]
        result["lookup"] = {k: path(v) for k, v in lookup.items()}
    if "inputs" in raw:
        result["inputs"] = [path(p) for p in raw["inputs"]]
    return result


def _replicas(raw: dict[str, Any]) -> Any:
    if list(raw) == ["default"]:
        return raw["default"]
    result = _number(raw)
    for bound in ("at_least", "at_most"):
        if bound in raw:
            result[bound] = _number(raw[bound])
    if "times" in raw:
        result["times"] = [_number(factor) for factor in raw["times"]]
    if "override" in raw:
        result["override"] = [
            {"when": [_condition(c) for c in o["when"]], **_number(o)} for o in raw["override"]
        ]
    return result


def _target(raw: dict[str, Any]) -> dict[str, Any]:
    """{field}, {label, at}, {annotation, at} or {namespace_annotation}, with what goes beside it."""
    result: dict[str, Any] = {}
    kind = raw.get("target")
    if kind == "field":
        result["field"] = path(raw["path"])
    elif kind == "namespace annotation":
        result["namespace_annotation"] = raw["key"]
    elif kind:
        result[kind] = raw["key"]
        result["at"] = path(raw["path"])
    for key in ("value", "wins"):
        if key in raw:
            result[key] = raw[key]
    default = raw.get("default")
    if isinstance(default, dict):
        result["rule"] = default["rule"]
    elif default is not None:
        result["default"] = default
    return result


def _gang(raw: dict[str, Any]) -> dict[str, Any]:
    result = {key: raw[key] for key in _PLAIN_GANG if key in raw}
    for key in ("size", "enable", "min_resources", "kube_scheduler"):
        if key in raw:
            result[key] = _target(raw[key])
    if "alternatives" in raw:
        result["alternatives"] = [_target(target) for target in raw["alternatives"]]
    parts = {name: _target(raw[key]) for key, name in _PARTS.items() if key in raw}
    if "role_minima" in raw:
        parts["role"]["field"] += "{*}"
    if parts:
        result["parts"] = parts
    return result


def _queues(raw: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for scheduler, selector in raw.items():
        if isinstance(selector, dict) and "koord_queue" in selector:
            result[scheduler] = selector["podMeta"]
            result["koord-queue"] = _target(selector["koord_queue"])
        elif isinstance(selector, dict) and "any_of" in selector:
            result[scheduler] = [_target(target) for target in selector["any_of"]]
        elif isinstance(selector, dict) and "target" in selector:
            result[scheduler] = _target(selector)
        elif isinstance(selector, dict):
            result[scheduler] = {what: _target(target) for what, target in selector.items()}
        else:
            result[scheduler] = selector
    return result


def _restart(raw: dict[str, Any]) -> dict[str, Any]:
    result = {k: v for k, v in raw.items() if k != "note"}
    if "path" in result:
        result["path"] = path(result["path"])
    if result.get("default") == "OnFailure for Launcher, Never for Worker":
        result["default"] = {"Launcher": "OnFailure", "Worker": "Never"}
    return result
