"""What is read in clones: names in the code of systems that are no Go modules, at the tag of a release."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from policykit.model.release import Version
from policykit.targets.koordinator.scheduler.fields import FIELDS
from policykit.targets.volcano.job_plugins import JOB_PLUGINS
from policykit.targets.volcano.scheduler.plugins import PLUGINS

_BUILDER = re.compile(r"RegisterPluginBuilder\((\w+)\.PluginName")
_NAMED = re.compile(r'PluginName\s*=\s*"([^"]+)"')
_JOB = re.compile(r'RegisterPluginBuilder\("([^"]+)"')
_TYPE = re.compile(r"^type (\w+)Args struct {\n(.*?)^}", re.MULTILINE | re.DOTALL)
_TAG = re.compile(r"v([0-9]+)\.([0-9]+)\.([0-9]+)(?:-[\w.]+)?\Z")
_KEY = re.compile(
    r'"((?:[a-z0-9-]+\.)*(?:volcano|koordinator)\.sh/[A-Za-z0-9._-]+|[a-z][A-Za-z-]*\.[A-Za-z][A-Za-z.-]+)"'
)
"""A label, annotation or argument such as predicate.CacheEnable, as a literal of Go."""
_CONSTANT = re.compile(r'= *"([A-Za-z][A-Za-z0-9-]+)"$', re.MULTILINE)
"""A name without a dot or a slash, such as an argument or a plugin, as a constant of Go."""
_FOLDERS = ("config/crd", "pkg/webhooks", "pkg/webhook", "pkg/scheduler/plugins", "pkg/scheduler/apis")
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


def newer_tag(clone: Path, known: Version) -> str:
    """The newest tag after a release, drafts of the next one included; empty: there is none."""
    listed = _git(clone, "tag", "--list", "v[0-9]*", "--sort=version:refname").stdout.split()
    later = [tag for tag in listed if (found := _TAG.match(tag)) and tuple(map(int, found.groups())) > known]
    return later[-1] if later else ""


def changed_keys(clone: Path, known: Version, tag: str) -> Iterator[str]:
    """Labels, annotations and arguments that the code names at one of two tags only."""
    before, after = _keys(clone, f"v{known}"), _keys(clone, tag)
    yield from (f"{key} is new" for key in sorted(after - before))
    yield from (f"{key} is gone" for key in sorted(before - after) if not _composed(clone, tag, key))


def changed_files(clone: Path, known: Version, tag: str) -> Iterator[str]:
    """Files of CRDs, webhooks and score functions that differ: no name tells what they do now."""
    folders = [folder for folder in _FOLDERS if _git(clone, "ls-tree", tag, folder).stdout]
    if folders:
        listed = _git(
            clone, "diff", "--numstat", f"v{known}", tag, "--", *folders, ":!*_test.go", ":!*OWNERS"
        ).stdout
        for line in listed.splitlines():
            added, removed, path = line.split("\t")
            yield f"{path} differs: {added} lines added, {removed} removed"


def _keys(clone: Path, tag: str) -> set[str]:
    keys = _KEY.findall(_grep(clone, tag, '"[a-zA-Z.-]*[./][a-zA-Z._-]*"', "."))
    return {*keys, *_CONSTANT.findall(_grep(clone, tag, '= *"[A-Za-z]', "pkg/scheduler"))}


def _composed(clone: Path, tag: str, key: str) -> bool:
    """Whether the code makes a key of a prefix and this name."""
    _, prefix, name = key.rpartition("/")
    return bool(prefix and _grep(clone, tag, f'+ *"/*{name}"', "."))


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
