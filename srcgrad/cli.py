"""The entry point of the command line; the commands are in `commands`.

Exit codes: 0 done; 1 a check failed: derivatives are off, or a built file is stale; 2 wrong
arguments or settings; 3 the compiler refuses; 4 there is no such target, or a package is missing.
"""

from __future__ import annotations

import sys

DONE, FAILED, USAGE, REFUSED, MISSING = 0, 1, 2, 3, 4


def main() -> None:
    """Run the command line of `sys.argv`."""
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError as error:
        if len(sys.argv) == 2 and sys.argv[1] == "--version":
            from srcgrad._version import __version__

            print(f"srcgrad {__version__}")
            raise SystemExit(DONE) from None
        print(
            f"srcgrad: the command line needs the package {error.name}: "
            'pip install "srcgrad[cli]"',
            file=sys.stderr,
        )
        raise SystemExit(MISSING) from None
    from srcgrad.commands import app

    app()
