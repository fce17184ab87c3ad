"""The apiVersion and kind of a policy file."""

API_VERSION = "policykit.io/v1alpha1"
KIND = "Policy"
