"""`policykit lsp`: a language server on standard input and output."""

from __future__ import annotations

import click

from policykit import DISTRIBUTION
from policykit.cli.caching import cache_of
from policykit.cli.policy import allow_path
from policykit.errors import UsageError


@click.command("lsp")
@click.option("-p", "--policy", metavar="POLICY", default="", help="Default: the nearest above each file.")
@allow_path
def command(policy: str) -> int:
    """Tell an editor what lint finds, as manifests are written: with the rule's page on hover, and
    fixes. It speaks the Language Server Protocol on standard input and output."""
    try:
        from policykit.cli.editor.server import serve
    except ImportError:
        hint = f"install {DISTRIBUTION}[lsp] from where you have it, or pygls into this environment"
        raise UsageError("the language server needs pygls", hint) from None
    serve(policy, cache_of((policy,)))
    return 0
