"""One policy file for AI clusters: generate the schedulers' configuration, lint the manifests."""

__version__ = "0.1.0"

DISTRIBUTION = "policykit-k8s"
"""What package installers know this package by; `policykit` there is another project."""
