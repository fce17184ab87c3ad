"""Models of the policy file, one module per concept."""
