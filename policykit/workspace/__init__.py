"""Access to the disk: files, scopes, kustomizations, charts, git, GitOps, policies and the cache."""
