"""What a lint run prints: its reports, its fixes, and messages about what was not judged."""
