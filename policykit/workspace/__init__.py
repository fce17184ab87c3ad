"""Access to the disk: files, scopes, kustomizations, charts, git, policies and the cache."""
