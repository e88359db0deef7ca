"""Functions that programs call: each writes, returns a view, leaves early, recurs ..."""

from __future__ import annotations

STATE = """\
@dataclass
class State:
    u: np.ndarray
    v: np.ndarray
    e: float

    def energy(self):
        return 0.5 * np.sum(self.u ** 2) + self.e * np.sum(self.v)

    def kick(self, dt):
        self.u += dt * self.v
        self.v[0] *= self.e

"""

# Name: the kinds of its arguments (V, W: an array that it may write or give back), of its result.
CALLS: dict[str, tuple[str, str]] = {
    "scale_into": ("Vvs", ""),
    "relax": ("V", ""),
    "window": ("V", "w"),
    "same": ("Vs", "v"),
    "early": ("sv", "s"),
    "stats": ("v", "sv"),
    "power": ("sk", "s"),
    "weighed": ("sss", "s"),
    "row_of": ("W", "w"),
    "normalise": ("W", ""),
    "pick_first": ("vs", "s"),
    "apply": ("sv", "v"),
    "poly": ("s", "s"),
    "bump": ("Vs", "v"),
    "solve_newton": ("s", "s"),
    "shifted": ("v", "v"),
    "tri_sum": ("Q", "s"),
    "update_pair": ("VV", ""),
}

HELPERS: dict[str, str] = {
    "scale_into": """\
def scale_into(out, a, t):
    for i in range(out.shape[0]):
        out[i] = out[i] * t + a[i]
""",
    "relax": """\
def relax(u):
    for _ in range(2):
        u[1:-1] = 0.5 * (u[:-2] + u[2:])
""",
    "window": """\
def window(u):
    return u[1:]
""",
    "same": """\
def same(u, t):
    u *= t
    return u
""",
    "early": """\
def early(t, u):
    if t > 0.4:
        return t * u[0]
    for e in u:
        if e > 0.5:
            return e * e * t
    return np.sum(u)
""",
    "stats": """\
def stats(u):
    mean = u.sum() / len(u)
    return mean, u - mean
""",
    "power": """\
def power(t, k):
    if k == 0:
        return 1.0
    return t * power(t, k - 1)
""",
    "weighed": """\
def weighed(*parts, scale=0.5):
    out = 0.0
    for p in parts:
        out += p * p
    return scale * out
""",
    "row_of": """\
def row_of(a, i=1):
    return a[i]
""",
    "normalise": """\
def normalise(a):
    for row in a:
        row /= 1.0 + np.sum(row * row)
""",
    "pick_first": """\
def pick_first(u, t):
    best = None
    for e in u:
        if best is None or e > best:
            best = e
    return best * t
""",
    "apply": """\
def apply(t, u):
    inner = lambda e: np.sin(e) * t
    return inner(u) + inner(u * 0.5)
""",
    "poly": """\
def poly(t, coefficients=(0.3, -0.5, 0.2)):
    out = 0.0
    for c in coefficients:
        out = out * t + c
    return out
""",
    "bump": """\
def bump(u, t):
    w = u.copy()
    w[0] += t
    u[-1] -= t * w[1]
    return w
""",
    "solve_newton": """\
def solve_newton(t):
    y = 1.0
    for _ in range(6):
        step = (y * y * y + y - t) / (3.0 * y * y + 1.0)
        y -= step
        if abs(step) < 1e-4:
            break
    return y
""",
    "shifted": """\
def shifted(u):
    out = np.empty_like(u)
    out[0] = u[-1]
    out[1:] = u[:-1]
    return out
""",
    "tri_sum": """\
def tri_sum(q):
    t = 0.0
    for i in range(q.shape[0]):
        for j in range(i):
            if q[i, j] < -0.2:
                continue
            t += q[i, j] * q[j, i]
    return t
""",
    "update_pair": """\
def update_pair(u, v):
    for i in range(1, len(u)):
        u[i] += 0.3 * v[i - 1]
        v[i] = u[i] * u[i - 1]
""",
}
