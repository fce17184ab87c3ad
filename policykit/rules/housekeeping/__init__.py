"""PK9: the policy, generated files, suppressions and the baseline."""
