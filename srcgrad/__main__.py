"""`python -m srcgrad` is `srcgrad`."""

from srcgrad.cli import main

if __name__ == "__main__":
    main()
