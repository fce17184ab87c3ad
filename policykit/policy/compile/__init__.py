"""From the policy people write to the Cluster everything else sees."""
