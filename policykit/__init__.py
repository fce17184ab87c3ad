"""One policy file for AI clusters: generate the schedulers' configuration, lint the manifests."""

__version__ = "0.1.0"
