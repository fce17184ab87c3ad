"""What objects of a cluster say, one reader per system."""
