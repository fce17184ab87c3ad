"""Each rule of the scheduler's own validator alone; verdicts were compared with it on thousands of files."""

from pathlib import Path

import pytest
import yaml

from policykit.manifests.path import dotted
from policykit.model.release import Version
from policykit.targets.yunikorn import validation
from policykit.targets.yunikorn.configuration import queues_yaml
from policykit.targets.yunikorn.configuration.configmap import source
from tests.shared import SHARED


def tree(queues: str, more: str = "") -> str:
    """One partition with `root`, `queues` below it, and more keys."""
    return f"partitions: [{{name: default, queues: [{{name: root, queues: [{queues}]}}]{more}}}]"


def rules(listed: str, queues: str = "{name: a, queues: [{name: b}]}, {name: p, parent: true}") -> str:
    return tree(queues, f", placementrules: [{listed}]")


def limits(listed: str, below: str = "") -> str:
    return tree(f"{{name: a, limits: [{listed}]{below}}}")


ROOT = "partitions[0].queues[0]"
A = f"{ROOT}.queues[0]"
DEV = "{users: [dev], groups: [dev], maxapplications: 1}"
REFUSED = {
    "unknown-key": (tree("{name: a, maxApplications: 1}"), "decoding", f"{A}.maxApplications"),
    "quoted-number": (tree('{name: a, maxapplications: "1"}'), "decoding", f"{A}.maxapplications"),
    "negative-number": (tree("{name: a, maxapplications: -1}"), "decoding", f"{A}.maxapplications"),
    "quoted-boolean": (tree('{name: a, parent: "true"}'), "decoding", f"{A}.parent"),
    "list-for-text": (tree("{name: a, submitacl: [ann]}"), "decoding", f"{A}.submitacl"),
    "text-for-map": (tree("", ", nodesortpolicy: fair"), "decoding", "partitions[0].nodesortpolicy"),
    "quoted-weight": (
        tree("", ', nodesortpolicy: {resourceweights: {vcore: "1"}}'),
        "decoding",
        "partitions[0].nodesortpolicy.resourceweights.vcore",
    ),
    "list-for-file": ("[]", "decoding", "(document)"),
    "partition-twice": (
        "partitions: [{name: '', queues: []}, {name: Default, queues: []}]",
        "partition-name",
        "partitions[1].name",
    ),
    "no-queues": ("partitions: [{name: default}]", "no-queues", "partitions[0]"),
    "root-max": (
        "partitions: [{queues: [{name: root, resources: {max: {}}}]}]",
        "root-resources",
        f"{ROOT}.resources.max",
    ),
    "limits-in-two-places": (
        f"partitions: [{{queues: [{{name: root, limits: [{DEV}]}}],"
        " limits: [{users: [ann], maxapplications: 1}]}]",
        "root-limits",
        f"{ROOT}.limits",
    ),
    "acl": (tree("{name: a, submitacl: ann  dev ops}"), "acl", f"{A}.submitacl"),
    "dot-in-name": (tree("{name: a.b}"), "queue-name", f"{A}.name"),
    "long-name": (tree(f"{{name: {'a' * 65}}}"), "queue-name", f"{A}.name"),
    "name-twice": (tree("{name: a}, {name: A}"), "queue-name-twice", f"{ROOT}.queues[1].name"),
    "limit-for-nobody": (limits("{maxapplications: 1}"), "limit-nobody", f"{A}.limits[0]"),
    "limit-user": (limits("{users: [a b], maxapplications: 1}"), "limit-name", f"{A}.limits[0].users[0]"),
    "limit-user-twice": (
        limits("{users: [ann, ann], maxapplications: 1}"),
        "limit-twice",
        f"{A}.limits[0].users[1]",
    ),
    "user-after-all": (
        limits('{users: ["*"], maxapplications: 1}, {users: [ann], maxapplications: 1}'),
        "limit-order",
        f"{A}.limits[1].users[0]",
    ),
    "only-all-groups": (
        limits('{groups: ["*"], maxapplications: 1}'),
        "limit-group",
        f"{A}.limits[0].groups",
    ),
    "limit-amount": (
        limits("{users: [ann], maxresources: {vcore: 1.5}}"),
        "amount",
        f"{A}.limits[0].maxresources.vcore",
    ),
    "limit-zero": (
        limits("{users: [ann], maxresources: {vcore: 0}}"),
        "limit-zero",
        f"{A}.limits[0].maxresources",
    ),
    "limit-empty": (limits("{users: [ann]}"), "limit-empty", f"{A}.limits[0]"),
    "limit-over-applications": (
        limits("{users: [ann], maxapplications: 3}", ", maxapplications: 2"),
        "limit-applications",
        f"{A}.limits[0].maxapplications",
    ),
    "limit-over-max": (
        limits("{users: [ann], maxresources: {vcore: 3}}", ", resources: {max: {vcore: 2}}"),
        "limit-max",
        f"{A}.limits[0].maxresources.vcore",
    ),
    "amount": (
        tree("{name: a, resources: {max: {memory: 1.5Gi}}}"),
        "amount",
        f"{A}.resources.max.memory",
    ),
    "guaranteed-over-max": (
        tree("{name: a, resources: {guaranteed: {vcore: 3}, max: {vcore: 2500m}}}"),
        "max-guaranteed",
        f"{A}.resources.guaranteed.vcore",
    ),
    "max-over-ancestor": (
        tree("{name: a, resources: {max: {vcore: 2}}, queues: [{name: b, queues: [{name: c, resources:"
             " {max: {vcore: 3}}}]}]}"),
        "max-above",
        f"{A}.queues[0].queues[0].resources.max.vcore",
    ),
    "sum-of-guaranteed": (
        tree("{name: a, resources: {guaranteed: {vcore: 3}}, queues: [{name: b, resources: {guaranteed:"
             " {vcore: 2}}}, {name: c, queues: [{name: d, resources: {guaranteed: {vcore: 2}}}]}]}"),
        "guaranteed-sum",
        f"{A}.resources.guaranteed.vcore",
    ),
    "sum-over-max": (
        tree("{name: a, resources: {max: {vcore: 3}}, queues: [{name: b, resources: {guaranteed:"
             " {vcore: 2}}}, {name: c, resources: {guaranteed: {vcore: 2}}}]}"),
        "max-sum",
        f"{A}.resources.max.vcore",
    ),
    "rule-name": (rules("{name: a b}"), "rule-name", "partitions[0].placementrules[0].name"),
    "rule-parent-name": (
        rules("{name: user, parent: {name: ''}}"),
        "rule-name",
        "partitions[0].placementrules[0].parent.name",
    ),
    "fixed-missing": (rules("{name: fixed, value: c}"), "rule-queue", "partitions[0].placementrules[0]"),
    "fixed-parent": (rules("{name: fixed, value: p}"), "rule-queue", "partitions[0].placementrules[0]"),
    "fixed-below-leaf": (
        rules("{name: fixed, value: root.a.b.c, create: true}"),
        "rule-queue",
        "partitions[0].placementrules[0]",
    ),
    "dynamic-below-leaf": (
        rules("{name: user, create: true, parent: {name: fixed, value: root.a}}"),
        "rule-queue",
        "partitions[0].placementrules[0]",
    ),
    "two-whole-paths": (
        rules("{name: fixed, value: root.a.b, parent: {name: fixed, value: p}}"),
        "rule-qualified",
        "partitions[0].placementrules[0]",
    ),
    "upper-case-queue": (
        rules("{name: fixed, value: root.B}", "{name: B}"),
        "rule-queue",
        "partitions[0].placementrules[0]",
    ),
    "filter-type": (
        rules("{name: user, filter: {type: some}}"),
        "filter-type",
        "partitions[0].placementrules[0].filter.type",
    ),
    "filter-name": (
        rules("{name: user, filter: {users: [a b]}}"),
        "filter-name",
        "partitions[0].placementrules[0].filter.users[0]",
    ),
    "filter-pattern": (
        rules("{name: user, filter: {groups: ['a(']}}"),
        "filter-name",
        "partitions[0].placementrules[0].filter.groups[0]",
    ),
    "node-sort": (
        tree("", ", nodesortpolicy: {type: Fair}"),
        "node-sort",
        "partitions[0].nodesortpolicy.type",
    ),
    "weight-below-zero": (
        tree("", ", nodesortpolicy: {resourceweights: {vcore: -1}}"),
        "node-sort",
        "partitions[0].nodesortpolicy.resourceweights.vcore",
    ),
    "child-without-applications": (
        tree("{name: a, maxapplications: 3, queues: [{name: b}]}"),
        "applications",
        f"{A}.queues[0]",
    ),
    "child-with-more-applications": (
        tree("{name: a, maxapplications: 3, queues: [{name: b, maxapplications: 4}]}"),
        "applications",
        f"{A}.queues[0].maxapplications",
    ),
    "limit-over-ancestor": (
        limits("{users: [ann], maxresources: {vcore: 2}}", ", queues: [{name: b, queues: [{name: c, limits:"
               " [{users: [ann], maxresources: {vcore: 3}}]}]}]"),
        "limit-above",
        f"{A}.queues[0].queues[0].limits[0].maxresources.vcore",
    ),
    "limit-over-all-above": (
        limits('{users: ["*"], maxresources: {vcore: 2}}', ", queues: [{name: b, limits:"
               " [{users: [ann], maxresources: {vcore: 3}}]}]"),
        "limit-above",
        f"{A}.queues[0].limits[0].maxresources.vcore",
    ),
    "limit-without-applications-of-ancestor": (
        limits("{users: [ann], maxapplications: 2}", ", queues: [{name: b, limits:"
               " [{users: [ann], maxresources: {vcore: 3}}]}]"),
        "limit-applications-above",
        f"{A}.queues[0].limits[0]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    text, rule, path = REFUSED[case]
    found = validation.problems(yaml.safe_load(text))
    assert [(problem.kind, dotted(problem.path)) for problem in found] == [(rule, path)]
    assert found[0].message[-1] != "."


ACCEPTED = {
    "empty": "",
    "no-partitions": "partitions: []",
    "no-queues-below": "partitions: [{name: default, queues: []}]",
    "root-inserted": "partitions: [{queues: [{name: a, resources: {max: {vcore: 1}}}]}]",
    "root-without-amounts": "partitions: [{queues: [{name: root, resources: {}}]}]",
    "nulls": "partitions: [{name: , queues: [{name: root, properties: {a: }, limits: , resources: }]}]",
    "null-items": "partitions: [null, {name: default, queues: [null], limits: [null]}]",
    "numbers-as-texts": tree("{name: 5, resources: {max: {vcore: 4}}, properties: {a: 1, b: true}}"),
    "words-for-booleans": tree("{name: a, parent: yes, queues: [{name: b, parent: off}]}"),
    "all-last": limits(f'{DEV}, {{users: ["*"], groups: ["*"], maxapplications: 1}}'),
    "same-name-elsewhere": tree("{name: root, queues: [{name: root}]}"),
    "not-compared": tree("{name: a, resources: {guaranteed: {vcore: 1}}, queues: [{name: b, resources:"
                         " {guaranteed: {memory: 5}, max: {nvidia.com/gpu: 8}}}]}"),
    "sum-of-max": tree("{name: a, resources: {max: {vcore: 2}}, queues: [{name: b, resources: {max:"
                       " {vcore: 2}}}, {name: c, resources: {max: {vcore: 2}}}]}"),
    "zero-hides-nothing": tree("{name: a, resources: {guaranteed: {vcore: 0}}}"),
    "create": rules("{name: fixed, value: new, create: true}"),
    "dynamic": rules("{name: user, parent: {name: fixed, value: p}}"),
    "starts-dynamic": rules("{name: fixed, value: new, parent: {name: tag, value: namespace}}"),
    "unknown-rule": rules("{name: moon}"),
    "pattern": rules("{name: user, filter: {type: Deny, users: ['dev*']}}"),
    "two-odd-names": rules("{name: user, filter: {users: [a b, c d]}}"),
    "template-is-not-read": tree("{name: a, childtemplate: {resources: {max: {vcore: x}}}}"),
}  # fmt: skip


@pytest.mark.parametrize("case", ACCEPTED)
def test_accepted(case: str) -> None:
    assert validation.problems(yaml.safe_load(ACCEPTED[case])) == ()


@pytest.mark.parametrize(
    ("more", "path"),
    [
        (", preemption: {quotapreemptionenabled: true}", "partitions[0].preemption.quotapreemptionenabled"),
        (", usergroupresolver: {type: os}", "partitions[0].usergroupresolver"),
    ],
    ids=["quota-preemption", "group-resolver"],
)
def test_keys_of_later_releases(more: str, path: str) -> None:
    data = yaml.safe_load(tree("{name: a}", more))
    assert validation.problems(data, Version(1, 8, 0)) == ()
    (found,) = validation.problems(data, Version(1, 7, 0))
    assert (dotted(found.path), found.message) == (path, f"{path} requires YuniKorn 1.8.0 or later")


def test_a_key_that_is_almost_one_is_named() -> None:
    data = yaml.safe_load(tree("{name: a, maxApplications: 1}"))
    (found,) = validation.problems(data)
    assert found.message == f"unknown key {A}.maxApplications: did you mean maxapplications?"


FAILING = {
    "unknown-rule": (rules("{name: moon}"), "rule-unknown", "partitions[0].placementrules[0].name"),
    "test-rule": (rules("{name: test}"), "rule-unknown", "partitions[0].placementrules[0].name"),
    "tag-without-value": (rules("{name: tag}"), "rule-value", "partitions[0].placementrules[0]"),
    "fixed-odd-value": (
        rules("{name: fixed, value: a b, create: true}"),
        "rule-value",
        "partitions[0].placementrules[0].value",
    ),
    "fixed-root": (
        rules("{name: user, parent: {name: fixed, value: root}}"),
        "rule-root",
        "partitions[0].placementrules[0].parent.value",
    ),
    "rootling": (
        rules("{name: fixed, value: rootling, create: true}"),
        "rule-root",
        "partitions[0].placementrules[0].value",
    ),
    "whole-path-with-parent": (
        rules("{name: fixed, value: root.a.b, parent: {name: user}}"),
        "rule-root",
        "partitions[0].placementrules[0].value",
    ),
    "missing-parent": (
        rules("{name: user, create: true, parent: {name: fixed, value: t}}"),
        "rule-parent",
        "partitions[0].placementrules[0].parent.value",
    ),
    "missing-grandparent": (
        rules(
            "{name: user, create: true, parent: {name: fixed, value: u, create: true,"
            " parent: {name: fixed, value: t}}}"
        ),
        "rule-parent",
        "partitions[0].placementrules[0].parent.parent.value",
    ),
    "not-a-leaf": (
        """\
partitions:
- name: default
  placementrules: [{name: fixed, value: t}]
  queues: [{name: root, queues: [{name: t, queues: [{name: a}]}]}]
""",
        "rule-leaf",
        "partitions[0].placementrules[0].value",
    ),
    "deny-in-capitals": (
        rules("{name: user, filter: {type: Deny}}"),
        "filter-case",
        "partitions[0].placementrules[0].filter.type",
    ),
    "two-spaces": (tree("{name: a, submitacl: ann  dev}"), "acl-spaces", f"{A}.submitacl"),
    "tab": (tree('{name: a, submitacl: "ann\\tdev"}'), "acl-spaces", f"{A}.submitacl"),
    "service-account": (tree("{name: a, adminacl: a:b}"), "acl-name", f"{A}.adminacl"),
    "template": (
        tree("{name: a, parent: true, childtemplate: {resources: {max: {vcore: x}}}}"),
        "amount",
        f"{A}.childtemplate.resources.max.vcore",
    ),
    "cpu": (tree("{name: a, resources: {max: {cpu: 4}}}"), "resource-name", f"{A}.resources.max.cpu"),
    "max-zero": (tree("{name: a, resources: {max: {vcore: 0}}}"), "max-zero", f"{A}.resources.max"),
    "capitals": (tree("{name: A}"), "queue-case", f"{A}.name"),
    "weight-of-cpu": (
        tree("", ", nodesortpolicy: {resourceweights: {cpu: 1}}"),
        "resource-name",
        "partitions[0].nodesortpolicy.resourceweights.cpu",
    ),
}


@pytest.mark.parametrize("case", FAILING)
def test_accepted_and_failing_later(case: str) -> None:
    text, rule, path = FAILING[case]
    configuration = queues_yaml.read(yaml.safe_load(text))
    assert validation.problems(yaml.safe_load(text)) == ()
    found = validation.failing(configuration)
    assert [(problem.kind, dotted(problem.path)) for problem in found] == [(rule, path)]


def test_a_parent_queue_that_pods_may_make_is_no_failure() -> None:
    text = rules(
        "{name: provided, create: true}, {name: user, create: true, parent: {name: fixed, value: t}}"
    )
    assert validation.failing(queues_yaml.read(yaml.safe_load(text))) == ()


def test_a_root_in_capitals_fails_at_start() -> None:
    configuration = queues_yaml.read({"partitions": [{"name": "default", "queues": [{"name": "Root"}]}]})
    assert validation.refused(configuration) == ()
    assert [problem.kind for problem in validation.failing(configuration)] == ["queue-case"]


def queues_in(path: Path) -> object:
    """The data of the queues.yaml that a file is or carries; None if there is none."""
    try:
        documents = list(yaml.safe_load_all(path.read_text(encoding="utf-8")))
    except yaml.YAMLError:
        return None
    for data in documents:
        text = source(data)[1]
        inner = yaml.safe_load(text) if text else data
        if isinstance(inner, dict) and isinstance(inner.get("partitions"), list):
            return inner
    return None


def published() -> list[Path]:
    folder = SHARED / "corpus/yunikorn" if SHARED else None
    files = sorted(folder.glob("*.yaml")) if folder else []
    return [path for path in files if queues_in(path) is not None]


@pytest.mark.parametrize("path", published(), ids=lambda path: path.stem)
def test_published_files(path: Path) -> None:
    """Their names say which ones the scheduler refuses."""
    assert bool(validation.problems(queues_in(path))) is path.stem.endswith("-refused")


RELEASES = tuple(Version(1, minor, 0) for minor in range(3, 10))
BY_RELEASE = {
    "user-with-a-slash": (limits("{users: [a/b], maxapplications: 1}"), "1.3 1.4 1.5"),
    "filter-for-a-user-with-a-hash": (rules("{name: user, filter: {users: ['a#b']}}"), "1.3 1.4 1.5"),
    "queue-with-a-colon": (tree("{name: 'a:b'}"), "1.3 1.4 1.5"),
    "limit-above": (
        limits(
            "{users: [ann], maxresources: {vcore: 1}}",
            ", queues: [{name: b, limits: [{users: [ann], maxresources: {vcore: 2}}]}]",
        ),
        "1.4 1.5 1.6 1.7 1.8 1.9",
    ),
    "limit-above-for-all": (
        limits(
            '{users: ["*"], maxapplications: 1}',
            ", queues: [{name: b, limits: [{users: [ann], maxapplications: 2}]}]",
        ),
        "1.5 1.6 1.7 1.8 1.9",
    ),
    "limit-of-zeros": (
        limits("{users: [ann], maxapplications: 1, maxresources: {vcore: 0}}"),
        "1.4 1.5 1.6 1.7 1.8 1.9",
    ),
    "limit-without-applications": (
        limits("{users: [ann], maxresources: {vcore: 1}}", ", maxapplications: 2"),
        "1.3",
    ),
    "limits-in-two-places": (
        f"partitions: [{{queues: [{{name: root, limits: [{DEV}]}}],"
        " limits: [{users: [ann], maxapplications: 1}]}]",
        "1.5 1.6 1.7 1.8 1.9",
    ),
    "rule-for-a-parent": (rules("{name: fixed, value: p}"), "1.4 1.5 1.6 1.7 1.8 1.9"),
    "rule-for-a-leaf": (rules("{name: fixed, value: a.b}"), "1.3"),
    "rule-for-nothing": (rules("{name: fixed, value: new}"), "1.3 1.4 1.5 1.6 1.7 1.8 1.9"),
    "state-dump": (tree("{name: a}", ", statedumpfilepath: /x"), "1.5 1.6 1.7 1.8 1.9"),
}
"""A file, and the releases whose loader refuses it."""


@pytest.mark.parametrize("case", BY_RELEASE)
def test_what_only_some_releases_refuse(case: str) -> None:
    text, refusing = BY_RELEASE[case]
    data = yaml.safe_load(text)
    found = [f"1.{version.minor}" for version in RELEASES if validation.problems(data, version)]
    assert found == refusing.split()
