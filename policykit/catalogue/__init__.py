"""Facts about cards: vendors, products, resource names, node labels, daemons."""
