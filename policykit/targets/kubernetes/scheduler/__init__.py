"""kube-scheduler's profiles: from placements to a scheduler that runs them."""
