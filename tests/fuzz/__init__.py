"""Random programs, and what their derivatives have to agree with."""
