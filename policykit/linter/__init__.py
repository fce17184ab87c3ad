"""Rules applied to manifests: the engine and the contract its rules fulfil."""
