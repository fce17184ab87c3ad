"""What is read in clones: names in the code of systems that are no Go modules, at the tag of a release."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from policykit.catalogue.volcano.job_plugins import JOB_PLUGINS
from policykit.catalogue.volcano.plugins import PLUGINS
from policykit.model.release import Version
from policykit.targets.koordinator.scheduler.fields import FIELDS

_BUILDER = re.compile(r"RegisterPluginBuilder\((\w+)\.PluginName")
_NAMED = re.compile(r'PluginName\s*=\s*"([^"]+)"')
_JOB = re.compile(r'RegisterPluginBuilder\("([^"]+)"')
_TYPE = re.compile(r"^type (\w+)Args struct {\n(.*?)^}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r'json:"([a-zA-Z]+)')


def volcano(clone: Path, version: Version) -> Iterator[str]:
    """Scheduler and job plugins that only one side has."""
    tag = f"v{version}"
    listed = _show(clone, tag, "pkg/scheduler/plugins/factory.go")
    sources = _grep(clone, tag, 'PluginName *= *"', "pkg/scheduler/plugins")
    there = set(_NAMED.findall(sources)) if _BUILDER.search(listed) else set()
    ours = {name for name, plugin in PLUGINS.items() if not plugin.since or plugin.since <= version}
    yield from _compared(f"Volcano {version}: scheduler plugin", there, ours)
    jobs = set(_JOB.findall(_show(clone, tag, "pkg/controllers/job/plugins/factory.go")))
    known = {name for name, plugin in JOB_PLUGINS.items() if not plugin.since or plugin.since <= version}
    yield from _compared(f"Volcano {version}: job plugin", jobs, known)


def koordinator(clone: Path, version: Version) -> Iterator[str]:
    """Fields of the args of plugins that only one side has."""
    api = "v1" if version >= (1, 6) else "v1beta3" if version >= (1, 5) else "v1beta2"
    types = dict(_TYPE.findall(_show(clone, f"v{version}", f"pkg/scheduler/apis/config/{api}/types.go")))
    for plugin, fields in FIELDS.items():
        there = set(_FIELD.findall(types.get(plugin, "")))
        ours = {name for name, since in fields.items() if since <= version}
        if there:
            yield from _compared(f"Koordinator {version}: field of {plugin}Args", there, ours)


def _compared(what: str, there: set[str], ours: set[str]) -> Iterator[str]:
    yield from (f"{what} {name} is new" for name in sorted(there - ours))
    yield from (f"{what} {name} is not there" for name in sorted(ours - there))


def has_tag(clone: Path, version: Version) -> bool:
    return _git(clone, "rev-parse", "-q", "--verify", f"v{version}^{{commit}}").returncode == 0


def _show(clone: Path, tag: str, path: str) -> str:
    return _git(clone, "show", f"{tag}:{path}").stdout


def _grep(clone: Path, tag: str, pattern: str, folder: str) -> str:
    return _git(clone, "grep", "-h", pattern, tag, "--", folder, ":!*_test.go").stdout


def _git(clone: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", "-C", clone, *arguments], capture_output=True, text=True, check=False)
