"""Lints broken copies of manifests for a given time: no crash, no hang, no excessive memory.

`make fuzz`, or `python -m scripts.fuzz --minutes 10 --seed 7 FOLDER...`. Failures are printed with the
bytes that caused them; add them to tests/linter/test_found_by_fuzzing.py.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from policykit import api
from policykit.formats import FORMATS, FormatContext, format_named
from policykit.linter.finding import Report
from policykit.model.cluster import Cluster
from policykit.policy.load import load_profile

LONGEST = 5
"""Most CPU seconds per file."""
MAX_MEMORY = 500
"""Most megabytes per run."""
PROFILES = ("hybrid-volcano", "jobs-kueue", "koordinator-binpack", "packed-kube-scheduler", "teams-yunikorn")

TOKENS = (
    "&a",
    "*a",
    "<<: *a",
    "!!binary x",
    "!!python/object:os.system x",
    "%TAG ! x",
    "--- ",
    "...",
    "? ",
    "- " * 40,
    "\t",
    "\0",
    "\x85",
    "\u2028",
    "\ufeff",
    "{",
    "}",
    "[" * 60,
    "]",
    "|",
    ">",
    "'",
    '"',
    "#",
    ": ",
    "0x",
    "1e999",
    "-0",
    ".inf",
    ".nan",
    "~",
    "null",
    "yes",
    "2001-12-14t21:59:43.10-05:00",
    "12:30:45",
    "1_000",
    "0b1",
    "$patch: delete",
    "{{ .Values.x }}",
    "${X}",
    "<x>",
    "节点",
    "\U0001f600",
    "a" * 3000,
    "# policykit: ignore[ALL]",
    "# Source: x",
    'actions: "a"\ntiers: []',
    "partitions: [{}]",
    "kind: KubeSchedulerConfiguration",
    "%YAML 1.1 # x\u2028y\n---\n",
    "0x" + "f" * 5000,
    "9" * 5000,
    "²",
    '"\\ud800"',
    "\x1b]0;x\x07",
    "##[error]x",
)
VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31,
    2**63,
    2**70,
    0.5,
    1e308,
    "",
    " ",
    "0",
    "1",
    "-1",
    "1.5",
    "1Gi",
    "true",
    "a b",
    "a" * 300,
    "[]",
    "{}",
    "*",
    "节点",
    "\n",
    [],
    {},
    [None],
    [[]],
    [{}],
    {"": None},
    {"a": {}},
    [1, "a", None, {}],
    {"name": None},
    [{"name": "a"}, {"name": "a"}],
    {"operator": "Exists"},
    "nvidia.com/gpu",
    "[" * 20_000,
    '{"a":' * 5_000,
    "(" * 5_000,
    "9" * 5_000,
    "²",
    "²%",
    "٣",
    "1e400",
    "a\n::error::b\u2028\x1b[1m",
    "\ud800",
)


def main() -> int:
    arguments = _arguments()
    files = sorted(path for folder in arguments.folders for path in Path(folder).rglob("*.yaml"))
    if not files:
        print("no manifests found: name a folder with manifests")
        return 2
    policies = [None, *(load_profile(name).cluster for name in PROFILES)]
    draw = random.Random(arguments.seed)
    texts = [path.read_bytes() for path in files]
    end, tried, slowest = time.monotonic() + arguments.minutes * 60, 0, 0.0
    while time.monotonic() < end:
        raw = broken(draw, texts)
        start = time.process_time()
        said = _judge(raw, draw.choice(policies), fixes=tried % 20 == 0)
        slowest = max(slowest, time.process_time() - start)
        tried += 1
        if said:
            print(f"after {tried} files, seed {arguments.seed}:\n{said}\n{raw!r}")
            return 1
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{tried} broken files, the slowest took {slowest:.2f} s, at most {memory} MB of memory")
    return 0 if memory < MAX_MEMORY else 1


def broken(draw: random.Random, texts: Sequence[bytes]) -> bytes:
    """A text with a few mutations."""
    raw = draw.choice(texts)
    for _ in range(draw.choice((1, 1, 2, 3, 8))):
        raw = draw.choice(FAULTS)(draw, raw)
    return raw[:200_000]


def _flip(draw: random.Random, raw: bytes) -> bytes:
    at = draw.randrange(len(raw) + 1)
    return raw[:at] + bytes([draw.randrange(256)]) + raw[at + draw.randrange(3) :]


def _cut(draw: random.Random, raw: bytes) -> bytes:
    start, end = sorted((draw.randrange(len(raw) + 1), draw.randrange(len(raw) + 1)))
    return raw[:start] + raw[min(end, start + 200) :]


def _token(draw: random.Random, raw: bytes) -> bytes:
    at = draw.randrange(len(raw) + 1)
    return raw[:at] + draw.choice(TOKENS).encode() + raw[at:]


def _lines(draw: random.Random, raw: bytes) -> bytes:
    lines = raw.split(b"\n")
    at = draw.randrange(len(lines))
    choice = draw.randrange(5)
    if choice == 0:
        lines[at] = b" " * draw.randrange(1, 6) + lines[at]
    elif choice == 1:
        lines[at] = lines[at].lstrip()
    elif choice == 2:
        lines.insert(at, lines[draw.randrange(len(lines))])
    elif choice == 3:
        del lines[at]
    else:
        lines[at] += draw.choice(TOKENS).encode()
    return b"\n".join(lines)


def _value(draw: random.Random, raw: bytes) -> bytes:
    """Replaces a value in the data, written as JSON or YAML."""
    try:
        documents = [data for data in yaml.safe_load_all(raw) if data is not None]
        for data in documents:
            places = list(_places(data))
            for parent, key in draw.sample(places, min(len(places), draw.choice((1, 1, 2, 5)))):
                if draw.random() < 0.2 and isinstance(parent, dict):
                    parent[draw.choice(("", "name", "spec", str(key) + "x", 1, None, True))] = parent.pop(
                        key, None
                    )
                else:
                    parent[key] = draw.choice(VALUES)
        if draw.random() < 0.3:
            return "\n---\n".join(json.dumps(data, default=str) for data in documents).encode()
        return yaml.safe_dump_all(documents, allow_unicode=True).encode("utf-8", errors="surrogatepass")
    except (yaml.YAMLError, ValueError, TypeError, RecursionError):
        return raw


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield data, key
            yield from _places(value)
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield data, index
            yield from _places(value)


FAULTS: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    _flip,
    _cut,
    _token,
    _lines,
    _lines,
    _value,
    _value,
    _value,
)


class _TooSlow(BaseException):
    """Raised by the timer; no rule can catch it."""


def _judge(raw: bytes, policy: Cluster | None, *, fixes: bool) -> str:
    """The failure on a text; empty if there is none."""

    def ring(signal_number: int, frame: object) -> None:
        raise _TooSlow

    # What others do on the machine does not count.
    signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        report = api.lint_texts({"a.yaml": raw}, policy)
        _told(report, raw)
        failures = report.failures
        if fixes:
            failures += api.fix_texts({"a.yaml": raw}, policy, unsafe=True).report.failures
        if policy is not None:
            list(api.where(raw, policy))
    except _TooSlow:
        return f"took more than {LONGEST} s"
    except Exception:
        return traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return "\n".join(failures)


def _told(report: Report, raw: bytes) -> None:
    around = FormatContext(lambda path: raw, "/", ("a.yaml",))
    for name in FORMATS:
        format_named(name)(report, around).encode("utf-8", errors="backslashreplace")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("folders", nargs="*", default=["examples", "tests/golden", "../shared/corpus"])
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
