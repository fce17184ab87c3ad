"""What people write: the policy file, its mistakes in plain words, and what it compiles to."""
