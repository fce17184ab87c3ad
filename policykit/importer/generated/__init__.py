"""Reads files that `policykit gen` wrote."""
