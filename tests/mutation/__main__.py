"""How many faults of each kind are found: `python -m tests.mutation [families, or words of kinds]`."""

import sys
from collections.abc import Sequence

from tests.mutation.clean import clean
from tests.mutation.fault import Fault
from tests.mutation.faults import FAMILIES, FAULTS
from tests.mutation.measure import Try, tries
from tests.mutation.misses import MISSES, stale, unexplained

PLACES = 200
"""Per kind, at most: kinds that fit everywhere do not drown the others."""


def main(words: Sequence[str]) -> int:
    files = clean()
    chosen = [each for each in FAULTS if not words or _named(each, words)]
    print(f"{len(files)} clean manifests, {len(chosen)} kinds of fault\n")
    print(f"{'tried':>6} {'found':>6} {'recall':>7} {'at it':>6}  fault")
    every: list[Try] = []
    for each in chosen:
        done = list(tries(each, files, PLACES))
        every.extend(done)
        _row(done, each.kind)
    _row(every, "all")
    return _misses(every, whole=not words)


def _named(fault: Fault, words: Sequence[str]) -> bool:
    return any(word in fault.kind or fault in FAMILIES.get(word, ()) for word in words)


def _row(done: Sequence[Try], name: str) -> None:
    found = sum(one.found for one in done)
    exactly = sum(one.exactly for one in done)
    recall = f"{found / len(done):.1%}" if done else "-"
    near = f"{exactly / found:.0%}" if found else "-"
    print(f"{len(done):>6} {found:>6} {recall:>7} {near:>6}  {name}", flush=True)


def _misses(every: Sequence[Try], *, whole: bool) -> int:
    """Explained ones with their reason, then those without one, then reasons without a miss."""
    print("\nmissed, and why")
    for row in MISSES:
        number = sum(row.covers(one) for one in every if not one.found)
        if number:
            print(f"{number:>6}  {', '.join(row.faults)} ({', '.join(row.objects)}): {row.why}")
    unclear = list(unexplained(every))
    for one in unclear:
        print("unexplained:", *one.key, " ".join(one.said), sep="\t")
    old = list(stale(every)) if whole else []
    for row in old:
        print(f"found by now: {', '.join(row.faults)} ({', '.join(row.objects)})")
    return 1 if unclear or old else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
