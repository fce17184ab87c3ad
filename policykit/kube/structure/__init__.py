"""Structure of objects: fields, types, required values, quantities and labels."""

from policykit.kube.structure.problem import Problem
from policykit.kube.structure.walk import check

__all__ = ["Problem", "check"]
