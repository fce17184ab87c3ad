"""From a cluster to YuniKorn's words: the tree, who may submit, the order of nodes."""
