"""What the files say that `policykit gen` wrote."""
