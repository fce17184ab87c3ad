"""Objects as kustomize builds them, and the source locations of findings about them."""
