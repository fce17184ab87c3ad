"""The semantics of Kubernetes: pure functions on plain data, without a client or files."""
