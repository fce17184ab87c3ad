"""What is wrong with configurations and objects of Koordinator, for the rules about them."""
