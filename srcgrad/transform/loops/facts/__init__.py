"""What the passes over loops know of a generated function."""
