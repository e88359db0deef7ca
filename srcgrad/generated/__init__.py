"""The generated modules, each importable under its name; they are files in the user's cache."""

from srcgrad.runtime import loader as _loader

_loader.install()
__path__ = _loader.search_path()
