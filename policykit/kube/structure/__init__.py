"""Structure of objects: fields, types, required values, quantities and labels."""

from policykit.kube.structure.validator import check
from policykit.manifests.problem import Problem

__all__ = ["Problem", "check"]
