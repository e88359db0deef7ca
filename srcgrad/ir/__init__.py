"""The intermediate representation: structured statements over atoms, and the types of values."""
