"""What a unit is refused for, beyond single statements."""
