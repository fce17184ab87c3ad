"""Prints, for each release: what our tables miss, and the files that it refuses or judges otherwise.

    python -m scripts.upstream [CLONES]

CLONES is a folder with git clones named volcano and koordinator; without it these are left out.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

from policykit import api
from policykit.kube.placeholders import is_placeholder
from policykit.model.release import Releases, Version
from policykit.targets.koordinator import versions as koordinator
from policykit.targets.kubernetes import versions as kubernetes
from policykit.targets.volcano import versions as volcano
from policykit.targets.yunikorn import versions as yunikorn
from scripts.upstream import clones, files, kube_scheduler
from scripts.upstream import yunikorn as queues
from scripts.upstream.go import NoSourceError
from tests.clusters import cluster

_OURS = re.compile(
    "(has no field|is not a field of|unknown field|must be(?! longer than| more than)) .*"
    ": the scheduler does not start"
)
"""The messages of PK802 about what a release cannot decode; the others are about what it validates later, as
periods of a leader election are."""


def main(folder: Path | None) -> int:
    count = 0
    for number, found in enumerate(chain(_clones(folder), _yunikorn(), _kube_scheduler()), 1):
        print(f"  {found}", flush=True)
        count = number
    print(f"{count} differences")
    return 1 if count else 0


def _clones(folder: Path | None) -> Iterator[str]:
    for name, known, differences in (
        ("volcano", volcano.RELEASES, clones.volcano),
        ("koordinator", koordinator.RELEASES, clones.koordinator),
    ):
        clone = folder / name if folder else None
        for version in known.minors:
            if clone is None or not clones.has_tag(clone, version):
                print(f"{known.title} {version}: no source")
            else:
                print(f"{known.title} {version}: read")
                yield from differences(clone, version)
        if clone is not None and (tag := clones.newer_tag(clone, known.newest)):
            _tell_newer(clone, known, tag)


def _tell_newer(clone: Path, known: Releases, tag: str) -> None:
    """What may need a row in a table once a newer release is known: told, not counted."""
    print(f"{known.title} {tag} is not known yet; beside {known.newest}:")
    for line in chain(
        clones.changed_keys(clone, known.newest, tag), clones.changed_files(clone, known.newest, tag)
    ):
        print(f"    {line}")


def _kube_scheduler() -> Iterator[str]:
    cases = files.scheduler_files(files.cases())
    for version in kubernetes.RELEASES.minors:
        stated = f"{version.major}.{version.minor}"
        made = files.generated("packed-kube-scheduler", 'kubernetes: "1.36"', f'kubernetes: "{stated}"')
        texts = {**files.scheduler_files(made), **cases}
        try:
            answer = kube_scheduler.ask(version.minor, texts)
        except NoSourceError as error:
            print(f"kube-scheduler {stated}: no source: {error.message}")
            continue
        refused = {name: str(why) for name, why in answer["refused"].items()}
        print(f"kube-scheduler {stated}: accepts {len(texts) - len(refused)} of {len(texts)} files")
        yield from kube_scheduler.differences(version.minor, answer["fields"])
        yield from _unlike(stated, texts, refused)


def _unlike(stated: str, texts: Mapping[str, str], refused: Mapping[str, str]) -> Iterator[str]:
    """Files of which only one side says that they cannot be decoded."""
    policy = cluster({"kubernetes": stated})
    for name, text in sorted(texts.items()):
        if is_placeholder(text):
            continue  # lint leaves open what is filled in later
        report = api.lint_texts({"case.yaml": text.encode()}, policy, ["PK802"], True, "2026-07-01")
        ours = [each.message for each in report.findings if _OURS.search(each.message)]
        if bool(ours) != (name in refused):
            yield f"kube-scheduler {stated}: {name}: {ours[0] if ours else refused[name]}"


def _yunikorn() -> Iterator[str]:
    cases = files.queue_files(files.cases())
    for version in yunikorn.RELEASES.minors:
        made = files.generated("teams-yunikorn", 'version: "1.9.0"', f'version: "{version}"')
        texts = {**files.queue_files(made), **cases}
        found = _refused(version, texts)
        if found is None:
            print(f"YuniKorn {version.major}.{version.minor}: no source")
            continue
        tag, refused = found
        ours = [name for name in files.queue_files(made) if name not in refused]
        print(
            f"YuniKorn {tag}: accepts {len(ours)} of {len(texts) - len(cases)} generated files and "
            f"{len([name for name in cases if name not in refused])} of {len(cases)} cases"
        )
        yield from queues.disagreements(version, texts, refused)


def _refused(version: Version, texts: Mapping[str, str]) -> tuple[str, dict[str, str]] | None:
    """By the newest patch that the module registry has; None: it has none."""
    for patch in range(version.patch, -1, -1):
        tag = f"{version.major}.{version.minor}.{patch}"
        try:
            return tag, queues.ask(tag, texts)
        except NoSourceError as error:
            print(f"  {error.message[:160]}", file=sys.stderr)
    return None


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else None))
