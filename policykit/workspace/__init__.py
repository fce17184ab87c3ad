"""What a run works on: files, scopes, kustomizations, git, policies, cache; it alone reads the disk."""
