"""The folder that commands run in."""

from tests.cli.conftest import shell as shell
