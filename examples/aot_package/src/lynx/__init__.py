"""Hares and lynxes: a predator-prey model fitted to data."""

from lynx.fit import Fit as Fit
from lynx.fit import fit as fit
