"""The policy, generated files, suppressions and the baseline."""
