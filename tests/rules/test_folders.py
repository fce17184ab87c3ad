"""Rules that compare objects only where their files belong together, without a policy that says so."""

import pytest

from policykit import api

CONFIGURATION = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: volcano-scheduler-configmap, namespace: volcano-system}
data:
  volcano-scheduler.conf: |
    actions: "enqueue, allocate, backfill"
    tiers:
    - plugins: [{name: priority}, {name: gang}, {name: predicates}]
"""
SHARING = """\
apiVersion: v1
kind: Pod
metadata: {name: notebook}
spec:
  schedulerName: volcano
  containers:
  - name: main
    image: registry.example/notebook:1
    resources: {requests: {cpu: 1, memory: 1Gi}, limits: {volcano.sh/vgpu-number: 1}}
"""
HORIZONTAL = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: serve}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: serve}
  maxReplicas: 4
  metrics:
  - type: Resource
    resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}
"""
VERTICAL = """\
apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata: {name: serve}
spec:
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: serve}
  updatePolicy: {updateMode: Recreate}
"""


@pytest.mark.parametrize(
    ("code", "files", "told"),
    [
        ("PK517", {"volcano/conf.yaml": CONFIGURATION, "volcano/jobs/pod.yaml": SHARING}, True),
        ("PK517", {"conf.yaml": CONFIGURATION, "jobs/pod.yaml": SHARING}, True),
        ("PK517", {"volcano/pods/pod.yaml": SHARING, "volcano/pods/conf/conf.yaml": CONFIGURATION}, True),
        ("PK517", {"08-vgpu/pod.yaml": SHARING, "13-ascend/conf.yaml": CONFIGURATION}, False),
        ("PK517", {"08/pod.yaml": SHARING, "0/conf.yaml": CONFIGURATION}, False),
        ("PK223", {"serve/hpa.yaml": HORIZONTAL, "serve/vpa.yaml": VERTICAL}, True),
        ("PK223", {"use-hpa/hpa.yaml": HORIZONTAL, "use-vpa/vpa.yaml": VERTICAL}, False),
    ],
)
def test_folders(code: str, files: dict[str, str], told: bool) -> None:
    report = api.lint_texts({path: text.encode() for path, text in files.items()}, select=[code])
    assert bool(report.findings) is told
