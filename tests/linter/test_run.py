"""Many files: settings, scopes, failures, and workers that change nothing."""

from __future__ import annotations

import pytest

from policykit import api
from policykit.errors import SourceError
from policykit.linter.finding import Report
from policykit.linter.input_file import InputFile
from policykit.linter.workspace import Options, Workspace

JOB = b"""\
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - {name: main, image: "registry.example/a:1", resources: {requests: {cpu: 1, nvidia.com/gpu: 1}}}
"""
FILES = {f"{n:03}.yaml": JOB if n % 3 else b"a: [\n" for n in range(60)}


def linted(files: dict[str, bytes], workers: int = 1, sizes: tuple[int, ...] = ()) -> Report:
    def read(path: str) -> bytes:
        if path not in files:
            raise SourceError("cannot be read: gone", "", path)
        return files[path]

    input_files = [
        InputFile(path, path, "scope", 0) for path in [*files, *(["lost.yaml"] if len(files) == 1 else [])]
    ]
    workspace = Workspace(tuple(input_files), (api.setting(),), read, lambda _: input_files, sizes=sizes)
    return api.lint(workspace, Options(workers=workers))


@pytest.mark.parametrize("sizes", [(), tuple(len(raw) for raw in FILES.values()), (0,) * len(FILES)])
@pytest.mark.parametrize("workers", [2, 4, 100])
def test_workers_change_nothing(workers: int, sizes: tuple[int, ...]) -> None:
    assert linted(FILES, workers, sizes) == linted(FILES)


def test_findings_are_sorted() -> None:
    report = linted(dict(reversed(FILES.items())))
    assert [f.path for f in report.findings] == sorted(FILES)
    assert (report.files, report.documents) == (60, 40)


def test_a_file_that_cannot_be_read_leaves_the_others() -> None:
    report = linted({"a.yaml": JOB})
    assert [(f.path, f.code) for f in report.findings] == [("a.yaml", "PK201")]
    assert report.failures == ("lost.yaml: cannot be read: gone",)


def test_each_member_has_its_own_setting() -> None:
    settings = (api.setting(), api.setting(ignore=["PK201"]))
    input_files = (InputFile("a.yaml", "a.yaml", "", 0), InputFile("b.yaml", "b.yaml", "", 1))
    report = api.lint(Workspace(input_files, settings, lambda _: JOB), Options(workers=1))
    assert [f.path for f in report.findings] == ["a.yaml"]


def test_each_member_of_a_scope_has_its_own_setting() -> None:
    gang = (
        "apiVersion: scheduling.sigs.k8s.io/v1alpha1\nkind: PodGroup\n"
        "metadata: {{name: {0}}}\nspec: {{minMember: 2}}\n---\napiVersion: v1\nkind: Pod\n"
        "metadata: {{name: {0}, labels: {{pod-group.scheduling.sigs.k8s.io: {0}}}}}\nspec: {{}}\n"
    )
    files = {f"{name}.yaml": gang.format(name).encode() for name in "abc"}
    settings = (api.setting(select=["PK301"]), api.setting(select=["PK002"]))
    input_files = [InputFile(name, name, "scope", number) for number, name in enumerate(files)]
    input_files = [input_file._replace(setting=input_file.setting % 2) for input_file in input_files]
    workspace = Workspace(tuple(input_files), settings, files.__getitem__, lambda _: input_files)
    report = api.lint(workspace, Options(workers=1))
    assert [(f.path, f.code) for f in report.findings] == [("a.yaml", "PK301"), ("c.yaml", "PK301")]


def test_what_stands_beside_is_seen_and_not_reported() -> None:
    group = (
        b"apiVersion: scheduling.sigs.k8s.io/v1alpha1\nkind: PodGroup\n"
        b"metadata: {name: g}\nspec: {minMember: 1}\n"
    )
    input_file = InputFile("group.yaml", "group.yaml", "scope", 0)
    pods = JOB.replace(
        b"    spec:", b"    metadata: {labels: {pod-group.scheduling.sigs.k8s.io: g}}\n    spec:"
    )
    files = {"group.yaml": group, "broken.yaml": b"a: [", "pods.yaml": pods}
    input_files = [InputFile(name, name, "scope", 0) for name in files]
    settings = (api.setting(select=["PK3"]),)
    alone = api.lint(Workspace((input_file,), settings, files.__getitem__, lambda _: [input_file]))
    assert [f.code for f in alone.findings] == ["PK306"]
    together = api.lint(Workspace((input_file,), settings, files.__getitem__, lambda _: input_files))
    assert together.findings == ()
    assert together.files == 1


def test_what_comes_first_does_not_depend_on_what_is_linted() -> None:
    quota = (
        "apiVersion: scheduling.sigs.k8s.io/v1alpha1\nkind: ElasticQuota\n"
        "metadata: {{name: a, namespace: a}}\nspec: {{min: {{cpu: {0}}}, max: {{cpu: 9}}}}\n"
    )
    files = {f"{name}.yaml": quota.format(number).encode() for number, name in enumerate("abc")}
    input_files = tuple(InputFile(name, name, "scope", 0) for name in files)
    settings = (api.setting(select=["PK403"]),)
    workspace = Workspace(input_files, settings, files.__getitem__, lambda _: input_files)
    together = api.lint(workspace, Options(workers=1)).findings
    assert [f.path for f in together] == ["b.yaml", "c.yaml"]
    for input_file in input_files:
        alone = api.lint(workspace._replace(input_files=(input_file,)), Options(workers=1)).findings
        assert alone == tuple(f for f in together if f.path == input_file.path)


def test_nothing_to_lint() -> None:
    report = api.lint(Workspace((), (api.setting(),), lambda _: b""))
    assert report == Report((), 0, 0, silent_rules=report.silent_rules)


def test_what_pods_of_one_anchor_have_at_the_same_place_is_said_once() -> None:
    job = b"""\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train}
spec:
  minAvailable: 2
  tasks:
  - name: a
    replicas: 1
    template: &pod
      spec:
        containers:
        - name: main
          image: registry.example/app:1
          resources: {limits: {nvidia.com/gpu: 1}}
  - name: b
    replicas: 1
    template: *pod
"""
    report = linted({"a.yaml": job, "b.yaml": job, "c.yaml": job + b"---\n" + job})
    found = [(f.path, f.document, f.span.line) for f in report.findings if f.code == "PK205"]
    assert found == [("a.yaml", 0, 14), ("b.yaml", 0, 14), ("c.yaml", 0, 14), ("c.yaml", 1, 32)]
