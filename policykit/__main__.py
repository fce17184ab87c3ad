"""The command line's first step: `--version` answers before anything heavy is imported."""

import sys


def main() -> int:
    """Runs the command line; returns the exit code."""
    if sys.argv[1:] == ["--version"]:
        from policykit import __version__

        sys.stdout.write(f"policykit {__version__}\n")
        return 0
    from policykit.cli import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
