"""The programs here are read by tests/test_golden.py; none is a test itself."""

collect_ignore_glob = ["*.py"]
