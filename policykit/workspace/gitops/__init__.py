"""GitOps: what Flux, Argo CD and the policies themselves apply to clusters."""
