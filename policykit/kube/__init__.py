"""What Kubernetes itself means: pure functions on plain data, no client, no files."""
