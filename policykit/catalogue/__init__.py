"""What is known of cards: vendors, products, resource names, node labels, daemons."""
