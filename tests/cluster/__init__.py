"""Tests with a real control plane: `make test-cluster`."""
