"""The GitLab component, filled in as GitLab does it: inputs go into the text before it is YAML."""

from __future__ import annotations

import re
from typing import Any

import yaml

from tests.shared import ROOT

TEXT = (ROOT / "templates" / "lint" / "template.yml").read_text(encoding="utf-8")
HEADER, JOBS = re.split(r"^---$", TEXT, flags=re.MULTILINE)
INPUTS: dict[str, dict[str, str]] = yaml.safe_load(HEADER)["spec"]["inputs"]
USED = re.compile(r"\$\[\[ inputs\.(\w+) \]\]")


def accepts(name: str, value: str) -> bool:
    """Whether GitLab takes a value for an input: it searches with RE2, where $ is the end of the text."""
    return re.search(INPUTS[name]["regex"].removesuffix("$") + r"\Z", value) is not None


def with_inputs(**given: str) -> dict[str, Any]:
    """The jobs with these inputs, and the defaults of the others."""
    values = {name: given.get(name, about.get("default")) for name, about in INPUTS.items()}
    return dict(yaml.safe_load(USED.sub(lambda match: str(values[match[1]]), JOBS)))


def job_of(jobs: dict[str, Any]) -> dict[str, Any]:
    """The only job."""
    (job,) = jobs.values()
    return dict(job)
