"""Try random programs for some minutes: `python -m tests.fuzz --minutes 5 --seed 1`."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.fuzz import containers, directions, generator, grown, idioms, shapes
from tests.fuzz.generator import Program
from tests.fuzz.oracle import Verdict, judge
from tests.fuzz.shrink import shrink

Judge = Callable[[Program, Path, bool, bool], Verdict]
BAD = ("wrong", "crashed")
# What makes a program of a seed, and what judges it.
GENERATORS = {
    "arrays": (generator.program, judge),
    "containers": (containers.program, judge),
    "idioms": (idioms.program, directions.judge),
    "grown": (grown.program, directions.judge),
    "shapes": (shapes.program, judge),
}


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("SRCGRAD_CACHE_DIR", os.path.join(folder, "cache"))
        counts, reasons, first = _run(options, Path(folder))
    total = sum(counts.values())
    print(f"{total} programs: " + ", ".join(f"{n} {kind}" for kind, n in counts.most_common()))
    for (kind, reason), n in reasons.most_common(40):
        print(f"{n:6} {kind:8} {reason[:150]} (first: seed {first[kind, reason]})")
    return 1 if any(counts[kind] for kind in BAD) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--count", type=int, help="stop after so many programs")
    parser.add_argument("--only", choices=sorted(GENERATORS), help="one generator, not all")
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    parser.add_argument("--generic", action="store_true", help="also compile without types")
    parser.add_argument("--no-forward", action="store_true", help="leave the forward mode out")
    parser.add_argument("--shrink", type=int, default=3, help="how many failures to make small")
    parser.add_argument("--show", action="store_true", help="print the program of the first seed")
    return parser.parse_args()


def _run(
    options: argparse.Namespace, folder: Path
) -> tuple[Counter[str], Counter[tuple[str, str]], dict[tuple[str, str], int]]:
    counts: Counter[str] = Counter()
    firsts: dict[tuple[str, str], int] = {}
    reasons: Counter[tuple[str, str]] = Counter()
    end = time.monotonic() + 60 * options.minutes
    seed = options.seed
    makers = [m for name, m in GENERATORS.items() if options.only in (None, name)]
    if options.show:
        print(*(make(seed).text for make, _ in makers), sep="\n")
    while time.monotonic() < end and (
        options.count is None or seed < options.seed + options.count
    ):
        make, judged_by = makers[seed % len(makers)]
        candidate = make(seed)

        def tried(program: Program, by: Judge = judged_by) -> Verdict:
            return by(program, folder, options.generic, not options.no_forward)

        verdict = tried(candidate)
        counts[verdict.kind] += 1
        if verdict.kind != "right":
            reasons[verdict.kind, verdict.reason] += 1
            firsts.setdefault((verdict.kind, verdict.reason), seed)
        if verdict.kind in BAD:
            first = reasons[verdict.kind, verdict.reason] == 1
            print(f"seed {seed}: {verdict.kind}: {verdict.detail[:300]}", flush=True)
            if first and options.shrink > 0:
                options.shrink -= 1
                _print_smallest(candidate, verdict, tried)
        seed += 1
    return counts, reasons, firsts


def _print_smallest(
    candidate: Program, verdict: Verdict, tried: Callable[[Program], Verdict]
) -> None:
    def fails(smaller: Program) -> bool:
        got = tried(smaller)
        alike = got.kind == "wrong" or got.reason == verdict.reason
        return got.kind == verdict.kind and alike

    smallest = shrink(candidate, fails, 400)
    print(smallest.text)
    print(f"# f(*{smallest.args!r}), wrt={smallest.wrt}")
    print(f"# {tried(smallest).detail[:300]}\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
