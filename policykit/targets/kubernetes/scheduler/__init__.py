"""kube-scheduler's profiles, computed from placements, and the scheduler that runs them."""
