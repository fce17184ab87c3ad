"""Where manifests, policies and nodes come from: the only place that reads the disk."""
