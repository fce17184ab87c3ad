"""Fixed files: written in place, or shown as a diff."""

from __future__ import annotations

from policykit.cli.output import complain, emit_data, say
from policykit.errors import SourceError
from policykit.formats.diff import diff
from policykit.formats.text import counted
from policykit.linter.mend import Mended
from policykit.workspace.boundary import writable
from policykit.workspace.files import read
from policykit.workspace.writing import replace_all


def differences(mended: Mended, names: dict[str, str]) -> str:
    """Every change as one diff, sorted by path; `names` maps opened files to reported paths."""
    return "".join(
        diff(
            names[file],
            mended.before[file].decode("utf-8", errors="surrogateescape"),
            mended.after[file].decode("utf-8", errors="surrogateescape"),
        )
        for file in sorted(mended.after, key=lambda file: names[file])
    )


def written(mended: Mended, stdin: str, given: bytes | None) -> frozenset[str]:
    """Writes the changed files, and standard input (opened as `stdin`) to standard output.

    `given` is what came in there, None if nothing was asked of it. Gives the files that could not
    be written: they are as they were, which is told, and the others are written all the same.
    """
    failed = set()
    for file in sorted(mended.after):
        if file != stdin:
            try:
                _replace(file, mended.before[file], mended.after[file])
            except SourceError as error:
                complain(error)
                failed.add(file)
    if given is not None:
        emit_data(mended.after.get(stdin, given))
    return frozenset(failed)


def tell(mended: Mended, *, diff: bool, failed: frozenset[str] = frozenset()) -> None:
    """What was fixed, or `diff`: would be, and what was left out; nothing was in the files that `failed`."""
    for dropped in mended.dropped:
        say(f"policykit: {dropped}")
    amounts = [amount for file, amount in mended.amounts.items() if file not in failed]
    if amounts:
        done = "would be fixed" if diff else "fixed"
        findings, files = counted(sum(amounts), "finding"), counted(len(amounts), "file")
        say(f"policykit: {findings} {done} in {files}")


def _replace(file: str, before: bytes, after: bytes) -> None:
    if read(file) != before:
        raise SourceError("was changed by somebody else meanwhile", "run it again", file)
    replace_all({writable(file): after})
