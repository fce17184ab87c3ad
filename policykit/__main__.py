"""Entry point of the command line; answers `--version` before importing anything heavy."""

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from policykit.workspace.cache.runs import PrintedRun


def main() -> int:
    """Runs the command line; returns the exit code."""
    if sys.argv[1:] == ["--version"] and sys.stdout:
        from policykit import __version__

        sys.stdout.write(f"policykit {__version__}\n")
        return 0
    # A short-lived process gains nothing from collecting reference cycles: nodes and findings
    # have none, and with millions of live nodes the collector takes most of the time.
    gc.disable()
    try:
        return answer(sys.argv[1:])
    except KeyboardInterrupt:
        return 130


def answer(words: "Sequence[str]") -> int:
    """Runs one command line, or prints what it printed before if nothing that it depends on has changed."""
    if words and words[0] == "lint":
        from policykit.workspace.cache.runs import repeated

        earlier = repeated(words)
        if earlier:
            return _repeat(earlier)
    from policykit.cli import run

    return run(words)


def _repeat(earlier: "PrintedRun") -> int:
    try:
        for path, text in earlier.texts:
            if path == "-":
                sys.stdout.buffer.write(text)
                sys.stdout.flush()
            elif path != os.devnull:
                _write(path, text)
    except Exception as error:
        from policykit.cli import code_of

        return code_of(error)
    return earlier.code


def _write(path: str, text: bytes) -> None:
    if path == "2" and sys.stderr:
        sys.stderr.write(text.decode())
        return
    from policykit.cli.output import write_output

    write_output(text, path)


def entry() -> None:
    """The installed command; exits at once, because interpreter teardown takes a while."""
    code = main()
    try:
        if sys.stdout and not sys.stdout.closed:  # the language server closes it
            sys.stdout.flush()
    except OSError:
        code = code or 2
    os._exit(code)


if __name__ == "__main__":
    entry()
