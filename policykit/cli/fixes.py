"""Fixed files: written in place, or shown as a diff."""

from __future__ import annotations

from policykit.cli.output import print_error, print_message, write_data
from policykit.errors import SourceError
from policykit.formats.diff import diff
from policykit.formats.findings import counted
from policykit.linter.fix_files import FixResult
from policykit.workspace.files import read
from policykit.workspace.safe_paths import writable
from policykit.workspace.writing import replace_all


def differences(fixed_files: FixResult, names: dict[str, str]) -> str:
    """Every change as one diff, sorted by path; `names` maps opened files to reported paths."""
    return "".join(
        diff(
            names[file],
            fixed_files.before[file].decode("utf-8", errors="surrogateescape"),
            fixed_files.after[file].decode("utf-8", errors="surrogateescape"),
        )
        for file in sorted(fixed_files.after, key=lambda file: names[file])
    )


def write_fixed_files(fixed_files: FixResult, stdin: str, given: bytes | None) -> frozenset[str]:
    """Writes the changed files, and standard input (opened as `stdin`) to standard output.

    `given` is what was read from standard input, None if it was not read. Returns the files that
    could not be written: each is reported and left unchanged, and the others are still written.
    """
    failed = set()
    for file in sorted(fixed_files.after):
        if file != stdin:
            try:
                _replace(file, fixed_files.before[file], fixed_files.after[file])
            except SourceError as error:
                print_error(error)
                failed.add(file)
    if given is not None:
        write_data(fixed_files.after.get(stdin, given))
    return frozenset(failed)


def print_summary(fixed_files: FixResult, *, diff: bool, failed: frozenset[str] = frozenset()) -> None:
    """Prints what was fixed (`diff`: would be) except in files that `failed`, and what was left out."""
    for dropped in fixed_files.dropped:
        print_message(f"policykit: {dropped}")
    amounts = [amount for file, amount in fixed_files.amounts.items() if file not in failed]
    if amounts:
        done = "would be fixed" if diff else "fixed"
        findings, files = counted(sum(amounts), "finding"), counted(len(amounts), "file")
        print_message(f"policykit: {findings} {done} in {files}")


def _replace(file: str, before: bytes, after: bytes) -> None:
    if read(file) != before:
        raise SourceError("was changed by another program in the meantime", "run it again", file)
    replace_all({writable(file): after})
