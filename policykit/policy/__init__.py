"""The policy file: its models, its errors in plain words, and what it compiles to."""
