"""The version: read by the build, and part of every cache key."""

__version__ = "0.1.0"
