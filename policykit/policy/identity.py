"""What a policy file says it is."""

API_VERSION = "policykit.io/v1alpha1"
KIND = "Policy"
