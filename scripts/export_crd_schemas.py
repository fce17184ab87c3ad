"""Shapes of custom resources for schemas/volcano/ and schemas/scheduler-plugins/, from their CRDs.

Structure only. Pod templates and volume claims refer to schemas/kubernetes/pod.json. The
folder holds the CRDs as their projects publish them:

    python -m scripts.export_crd_schemas FOLDER
"""

import sys
from pathlib import Path
from typing import Any

import yaml

from scripts.schema_files import Schema, write

_POD = "../kubernetes/pod.json#/$defs/"
FILES: dict[str, tuple[tuple[str, str], ...]] = {
    "volcano/batch.json": (
        ("Job", "volcano/batch.volcano.sh_jobs.yaml"),
        ("CronJob", "volcano/batch.volcano.sh_cronjobs.yaml"),
    ),
    "volcano/scheduling.json": (
        ("Queue", "volcano/scheduling.volcano.sh_queues.yaml"),
        ("PodGroup", "volcano/scheduling.volcano.sh_podgroups.yaml"),
    ),
    "scheduler-plugins/scheduling.json": (("PodGroup", "koordinator/scheduling.sigs.k8s.io_podgroups.yaml"),),
}
"""File to its kinds and the CRD each comes from."""

_REFERENCES = {
    "template": _POD + "PodTemplateSpec",
    "volumeClaim": _POD + "PersistentVolumeClaimSpec",
    "labelSelector": _POD + "LabelSelector",
}
"""Fields that hold a built-in type, by name."""

_KEPT = ("type", "enum", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems", "required")


def exported(folder: Path) -> dict[str, dict[str, Schema]]:
    """File below schemas/ to its definitions."""
    result: dict[str, dict[str, Schema]] = {}
    for name, kinds in FILES.items():
        definitions = result[name] = {}
        for kind, crd in kinds:
            loaded = yaml.safe_load((folder / crd).read_text(encoding="utf-8"))
            root = loaded["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
            properties: Schema = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}}
            properties["metadata"] = {"$ref": _POD + "ObjectMeta"}
            properties["status"] = {}
            definitions[f"{kind}Spec"] = _converted("spec", root["properties"]["spec"])
            properties["spec"] = {"$ref": f"#/$defs/{kind}Spec"}
            definitions[kind] = {
                "type": "object",
                "additionalProperties": False,
                "required": ["spec"],
                "properties": properties,
            }
    _share_job(result["volcano/batch.json"])
    return result


def _share_job(definitions: dict[str, Schema]) -> None:
    """A CronJob's jobTemplate.spec is the Job's; tasks are looked at by their own name."""
    job = definitions["JobSpec"]
    template = definitions["CronJobSpec"]["properties"]["jobTemplate"]["properties"]
    if template["spec"] != job:
        raise SystemExit("the Job in Volcano's CronJob differs from its Job: export it by itself")
    template["spec"] = {"$ref": "#/$defs/JobSpec"}
    definitions["TaskSpec"] = job["properties"]["tasks"]["items"]
    job["properties"]["tasks"] = job["properties"]["tasks"] | {"items": {"$ref": "#/$defs/TaskSpec"}}


def _converted(field: str, schema: dict[str, Any]) -> Schema:
    if field in _REFERENCES:
        return {"$ref": _REFERENCES[field]}
    if schema.get("x-kubernetes-int-or-string"):
        # A CRD refuses numbers with a fraction where a built-in kind takes them.
        return {"type": ["integer", "string"], "x-kubernetes-quantity": True}
    result: Schema = {key: schema[key] for key in _KEPT if key in schema}
    if "properties" in schema:
        result["additionalProperties"] = False
        result["properties"] = {key: _converted(key, value) for key, value in schema["properties"].items()}
    elif "additionalProperties" in schema:
        result["additionalProperties"] = _converted("", schema["additionalProperties"])
        if field in ("labels", "matchLabels"):
            result["x-kubernetes-label"] = "pairs"
    if "items" in schema:
        result["items"] = _converted("", schema["items"])
    return result


if __name__ == "__main__":
    write(exported(Path(sys.argv[1])))
