"""What kube-scheduler refuses in its configuration, as it starts."""
