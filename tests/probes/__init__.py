"""One small function for each construct of Python and NumPy that a user may write."""
