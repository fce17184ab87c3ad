"""Entry point of the command line; answers `--version` before importing anything heavy."""

import gc
import os
import sys


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
        from policykit.cli import run

        return run(sys.argv[1:])
    except KeyboardInterrupt:
        return 130


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
