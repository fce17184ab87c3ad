"""Golden output of the bundled profiles: every file that `gen` writes, byte for byte."""

from collections.abc import Callable

import pytest
import yaml

from policykit import api
from policykit.generator.bundle import bundle
from policykit.generator.header import owner
from policykit.linter.finding import Report
from tests.clusters import profile
from tests.conftest import GOLDEN

PROFILES = ("hybrid-volcano", "jobs-kueue", "koordinator-binpack", "packed-kube-scheduler", "teams-yunikorn")


def files(name: str) -> dict[str, str]:
    cluster = profile(name)
    return bundle(cluster, api.generate(cluster))


@pytest.mark.parametrize("name", PROFILES)
def test_golden_profile(name: str, golden: Callable[[str, str], None]) -> None:
    written = files(name)
    for path, text in written.items():
        golden(f"profiles/{name}/{path}", text)
    there = {
        p.relative_to(GOLDEN / "profiles" / name).as_posix()
        for p in (GOLDEN / "profiles" / name).rglob("*")
        if p.is_file()
    }
    assert there == set(written)


@pytest.mark.parametrize("name", PROFILES)
def test_notices_are_on_the_page(name: str) -> None:
    page = files(name)["README.md"]
    for notice in api.generate(profile(name)).notices:
        assert f"- {notice.target}: {notice.message}" in page


@pytest.mark.parametrize("name", PROFILES)
def test_every_file_carries_the_header(name: str) -> None:
    for path, text in files(name).items():
        assert owner(text) == profile(name).name, path


@pytest.mark.parametrize("name", PROFILES)
def test_what_is_generated_is_yaml_and_lints_clean(name: str) -> None:
    texts = {p: t.encode() for p, t in files(name).items() if p.endswith(".yaml")}
    for text in texts.values():
        list(yaml.safe_load_all(text))
    report: Report = api.lint_texts(texts, profile(name))
    assert [f"{f.path}:{f.span.line} {f.code} {f.message}" for f in report.findings] == []


@pytest.mark.parametrize("name", PROFILES)
def test_generation_is_the_same_twice(name: str) -> None:
    assert files(name) == files(name)
