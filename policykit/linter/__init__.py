"""Rules applied to manifests: the engine and the interface of its rules."""
