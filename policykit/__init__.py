"""One policy file for AI clusters: generate scheduler configuration and lint manifests."""

__version__ = "0.1.0"

DISTRIBUTION = "policykit-k8s"
"""The name of this package in package registries; `policykit` there is another project."""
