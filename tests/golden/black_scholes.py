import math


def normal_cdf(z):
    return 0.5 * (1.0 + math.erf(z / math.sqrt(2.0)))


def call_price(spot, strike, rate, volatility, expiry):
    spread = volatility * math.sqrt(expiry)
    d1 = (math.log(spot / strike) + (rate + 0.5 * volatility**2) * expiry) / spread
    d2 = d1 - spread
    return spot * normal_cdf(d1) - strike * math.exp(-rate * expiry) * normal_cdf(d2)


ARGS = (102.0, 100.0, 0.03, 0.25, 0.75)
WRT = ("spot", "rate", "volatility", "expiry")
MODES = ("value_and_grad", "jvp")
