"""Compiles a policy into the Cluster that everything else uses."""
