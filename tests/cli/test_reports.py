"""What lint says it assumed."""

from __future__ import annotations

from policykit import api
from policykit.cli.reports import assumed_releases
from policykit.linter.workspace import Setting, Workspace
from tests.clusters import policy


def workspace(*targets: str) -> Workspace:
    settings: list[Setting] = []
    for each in targets:
        versions = {"volcano": {"version": each, "delivery": "manifest"} if each else {}}
        kubernetes = {"kubernetes": "1.36"} if each else {}
        settings.append(api.setting(policy({"targets": versions, **kubernetes})))
    return Workspace((), tuple(settings), lambda path: b"")


def test_a_release_that_is_not_stated() -> None:
    kubernetes, line = assumed_releases(workspace("", ""))
    assert kubernetes.endswith(
        "kubernetes not set: only what every release from 1.28 to 1.37 refuses is an error"
    )
    assert line.endswith(
        "targets.volcano.version not set: the newest known release is assumed (Volcano 1.15.1)"
    )


def test_nothing_is_said_of_stated_releases() -> None:
    assert list(assumed_releases(workspace("1.8.2"))) == []


def test_nothing_is_said_without_a_policy() -> None:
    assert list(assumed_releases(Workspace((), (api.setting(None),), lambda path: b""))) == []
