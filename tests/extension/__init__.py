"""The compiled extension: its build, and that nothing but speed depends on it."""
