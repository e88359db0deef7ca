"""Reverse mode: forward sweep, reverse sweep, and the functions they stand in."""
