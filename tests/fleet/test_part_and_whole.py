"""The verdict on a file by itself is that of the whole, for each of its clusters."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cli.commands import Shell
from tests.fleet.repositories import kustomization, policy
from tests.fleet.repositories import on_path as on_path
from tests.fleet.test_units import JOB

PLACED = JOB.replace(
    "      restartPolicy: Never\n",
    """\
      restartPolicy: Never
      tolerations:
        - {key: maip.mxsf.io/node.usage, operator: Equal, value: training, effect: NoSchedule}
        - {key: nvidia.com/gpu.product, operator: Exists, effect: NoSchedule}
""",
)
UNKNOWN = JOB.replace("  template:", "  suspendd: false\n  template:")
QUEUED = JOB.replace("      restartPolicy", "      schedulerName: volcano\n      restartPolicy").replace(
    "{name: train,", "{name: train, annotations: {scheduling.volcano.sh/queue-name: gold},"
)
QUEUE = "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: gold}\nspec: {weight: 1}\n"
TOLERANT = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  template:
    spec:
      tolerations: [{operator: Exists}]
"""
WRONG = TOLERANT.replace("tolerations: [{operator: Exists}]", "nodeSelector: {zone: nowhere}")
NAMES = ("dev", "prod")

jobs = st.sampled_from([JOB, PLACED, UNKNOWN, QUEUED])
overlays: st.SearchStrategy[dict[str, object]] = st.fixed_dictionaries(
    {},
    optional={
        "namespace": st.just("gw"),
        "namePrefix": st.just("a-"),
        "labels": st.just([{"pairs": {"a": "b"}}]),
        "patch": st.sampled_from([TOLERANT, WRONG]),
    },
)
lint_settings = st.fixed_dictionaries(
    {},
    optional={
        "ignore": st.lists(st.sampled_from(["PK1", "PK205", "PK0"]), max_size=1),
        "severity": st.just({"PK101": "info"}),
    },
)


@st.composite
def fleets(draw: st.DrawFn) -> dict[str, str]:
    """Two clusters with overlays of one base, folders that they apply as they stand, and others by place."""
    files = {
        "apps/gw/kustomization.yaml": kustomization(resources=["job.yaml"]),
        "apps/gw/job.yaml": draw(jobs),
        "plain/job.yaml": draw(jobs).replace("name: train", "name: plain"),
    }
    if draw(st.booleans()):
        files["plain/queue.yaml"] = QUEUE
    for name in NAMES:
        here = f"clusters/{name}"
        own = draw(overlays)
        fields: dict[str, object] = {**own}
        fields.pop("patch", None)
        if "patch" in own:
            files[f"{here}/gw/patch.yaml"] = str(own["patch"])
            fields["patches"] = [{"path": "patch.yaml"}]
        files[f"{here}/gw/kustomization.yaml"] = kustomization(resources=["../../../apps/gw"], **fields)
        said = json.loads(policy(name, **draw(lint_settings)))
        if draw(st.booleans()):
            said["applies"] = [{"path": "gw"}, {"path": "../../plain"}]
        else:
            files[f"{here}/own.yaml"] = draw(jobs).replace("name: train", "name: own")
        files[f"{here}/policykit.yaml"] = json.dumps(said)
    return files


def told(shell: Shell, *paths: str) -> set[tuple[object, ...]]:
    """Place, code, severity, message and clusters of each finding."""
    result = shell.run("lint", "--format", "json", *paths)
    assert result.code in (0, 1), result.err
    return {
        (one["path"], one["line"], one["code"], one["severity"], one["message"], tuple(one["clusters"]))
        for one in json.loads(result.out)["findings"]
    }


def written(shell: Shell, files: dict[str, str]) -> None:
    for path in Path(shell.folder).iterdir():
        if path.name != ".git" and path.is_dir():
            shutil.rmtree(path)
    (shell.folder / ".git").mkdir(exist_ok=True)
    shell.write(dict(files))


@given(fleets())
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_each_file_by_itself(shell: Shell, files: dict[str, str]) -> None:
    written(shell, files)
    whole = told(shell, ".")
    for path in sorted(files):
        found = {one for one in told(shell, path) if one[0] == path}
        if path.endswith(("kustomization.yaml", "policykit.yaml")):
            # What stands in files that are not part of the run is told at the entry that leads there.
            found &= whole
        assert found == {one for one in whole if one[0] == path}, path
