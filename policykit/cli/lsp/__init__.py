"""`policykit lsp`: a language server on standard input and output."""

from __future__ import annotations

from policykit import DISTRIBUTION
from policykit.cli import click
from policykit.cli.options import allow_path, cache_of
from policykit.errors import UsageError


@click.command("lsp")
@click.option(
    "-p",
    "--policy",
    metavar="POLICY",
    default="",
    help="Policy file, or profile:NAME. Default: the nearest policykit.yaml above each file.",
)
@allow_path
def command(policy: str) -> int:
    """Show lint's findings in an editor, with rule documentation on hover, and fixes. Speaks the
    Language Server Protocol on standard input and output."""
    try:
        from policykit.cli.lsp.server import serve
    except ImportError:
        hint = f"install {DISTRIBUTION}[lsp] from the source you use, or pygls into this environment"
        raise UsageError("the language server needs pygls", hint) from None
    serve(policy, cache_of((policy,)))
    return 0
