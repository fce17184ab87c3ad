"""Allowed values of strings that a CRD leaves open, but a pod's field or the controller restricts."""

from scripts.schema_files import Schema

_PULL = ("Always", "IfNotPresent", "Never")
_RESTART = ("Always", "OnFailure", "Never")
_EFFECT = ("NoSchedule", "PreferNoSchedule", "NoExecute")
VALUES: dict[str, tuple[str, ...]] = {
    "concurrencyPolicy": ("Allow", "Forbid", "Replace"),
    "dnsPolicy": ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
    "effect": _EFFECT,
    "imagePullPolicy": _PULL,
    "preemptionPolicy": ("PreemptLowerPriority", "Never"),
    "protocol": ("TCP", "UDP", "SCTP"),
    "restartPolicy": _RESTART,
    "terminationMessagePolicy": ("File", "FallbackToLogsOnError"),
}
"""Field to the values that the API server accepts in a pod."""
_REPLICAS = frozenset({"replicas", "restartPolicy", "template"})
"""Restart policies of replicas of Kubeflow's training operator, which has one more."""
_BY_EXIT_CODE = "ExitCode"


def with_values(schema: Schema) -> Schema:
    """The schema with the allowed values of its open strings."""
    result = dict(schema)
    if "properties" in schema:
        fields = schema["properties"]
        result["properties"] = {
            name: _closed(name, inner, fields.keys() >= _REPLICAS) for name, inner in fields.items()
        }
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            result[key] = with_values(schema[key])
    return result


def _closed(name: str, schema: Schema, replica: bool) -> Schema:
    values = VALUES.get(name, ())
    if not values or schema.get("type") != "string" or {"enum", "pattern"} & schema.keys():
        return with_values(schema)
    more = (_BY_EXIT_CODE,) if replica and name == "restartPolicy" else ()
    return {**schema, "enum": ["", *values, *more]}
