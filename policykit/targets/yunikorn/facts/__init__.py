"""What manifests state for YuniKorn that others may contradict, one reader each."""
