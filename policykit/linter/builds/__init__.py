"""Objects as kustomize builds them, and where the files say what a finding is about."""
