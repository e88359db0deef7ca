"""`python -m lynx` fits the model and prints it beside the data."""

import numpy as np

from lynx.data import PELTS
from lynx.fit import fit
from lynx.model import simulate


def main():
    found = fit(PELTS)
    print(f"growth  {found.growth:.3f}   hunting {found.hunting:.4f}")
    print(f"decline {found.decline:.3f}   feeding {found.feeding:.4f}")
    print(f"misfit  {found.misfit:.4f} after {found.evaluations} evaluations\n")
    model = simulate(np.log(found[:6]), len(PELTS), 20)
    print("year   hares  model   lynxes  model")
    for year, (data, curve) in enumerate(zip(PELTS, model, strict=True), 1900):
        print(f"{year}  {data[0]:6.1f} {curve[0]:6.1f}   {data[1]:6.1f} {curve[1]:6.1f}")


if __name__ == "__main__":
    main()
