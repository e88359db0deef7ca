"""Programs, and beside each the gradient that a person would write for it by hand.

`PAIRS` names for each program its hand-written gradient, the arguments and what to differentiate
by.  The hand-written ones are written as well as we can: no value is computed twice or kept in
vain, and arrays are updated in place where that is possible.
"""

from __future__ import annotations

import numpy as np


def least_squares(w, X, y):
    return np.sum((X @ w - y) ** 2)


def least_squares_by_hand(w, X, y):
    residual = X @ w - y
    return X.T @ (2.0 * residual)


def logistic(w, X, y):
    p = 1.0 / (1.0 + np.exp(-(X @ w)))
    return -np.mean(y * np.log(p) + (1.0 - y) * np.log(1.0 - p))


def logistic_by_hand(w, X, y):
    e = np.exp(-(X @ w))
    p = 1.0 / (1.0 + e)
    g = -1.0 / y.size
    p_bar = g * (1.0 - y) / (p - 1.0)
    p_bar += g * y / p
    z_bar = p_bar * p / (1.0 + e) * e
    return X.T @ z_bar


def mlp(W1, b1, W2, x, y):
    h = np.tanh(W1 @ x + b1)
    e = W2 @ h - y
    return 0.5 * np.sum(e * e)


def mlp_by_hand(W1, b1, W2, x, y):
    h = np.tanh(W1 @ x + b1)
    e = W2 @ h - y
    W2_bar = np.outer(e, h)
    h_bar = W2.T @ e
    a_bar = h_bar * (1.0 - h * h)
    W1_bar = np.outer(a_bar, x)
    return W1_bar, a_bar, W2_bar


def rnn(W, U, xs):
    h = np.zeros(W.shape[0])
    loss = 0.0
    for t in range(len(xs)):
        h = np.tanh(W @ h + U @ xs[t])
        loss = loss + np.sum(h**2)
    return loss


def rnn_by_hand(W, U, xs):
    hs = []
    h = np.zeros(W.shape[0])
    for t in range(len(xs)):
        hs.append(h)
        h = np.tanh(W @ h + U @ xs[t])
    W_bar = np.zeros(W.shape)
    U_bar = np.zeros(U.shape)
    h_bar = np.zeros(h.shape)
    for t in range(len(xs) - 1, -1, -1):
        h_bar += 2.0 * h
        a_bar = h_bar * (1.0 - h * h)
        h = hs.pop()
        W_bar += np.outer(a_bar, h)
        U_bar += np.outer(a_bar, xs[t])
        h_bar = W.T @ a_bar
    return W_bar, U_bar


def heat(u, k, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def heat_by_hand(u, k, steps):
    laplacians = []
    u = u.copy()
    for _ in range(steps):
        d = u[2:] - 2.0 * u[1:-1] + u[:-2]
        laplacians.append(d)
        u[1:-1] = u[1:-1] + k * d
    u_bar = 2.0 * u
    k_bar = 0.0
    for _ in range(steps):
        g = u_bar[1:-1].copy()
        k_bar += np.sum(g * laplacians.pop())
        d_bar = g * k
        u_bar[2:] += d_bar
        u_bar[:-2] += d_bar
        u_bar[1:-1] -= 2.0 * d_bar
    return u_bar, k_bar


def newton(a):
    x = a
    while abs(x * x - a) > 1e-12:
        x = x - (x * x - a) / (2.0 * x)
    return x


def newton_by_hand(a):
    xs = []
    x = a
    while abs(x * x - a) > 1e-12:
        xs.append(x)
        x = x - (x * x - a) / (2.0 * x)
    x_bar = 1.0
    a_bar = 0.0
    while xs:
        x = xs.pop()
        q_bar = -x_bar / (2.0 * x)
        a_bar -= q_bar
        x_bar += q_bar * (2.0 * x - (x * x - a) / x)
    return a_bar + x_bar


def sir(beta, gamma, days):
    s, i = 0.99, 0.01
    total = 0.0
    for _ in range(days):
        new = beta * s * i
        gone = gamma * i
        s = s - new
        i = i + new - gone
        total = total + i
    return total


def sir_by_hand(beta, gamma, days):
    states = []
    s, i = 0.99, 0.01
    for _ in range(days):
        states.append((s, i))
        new = beta * s * i
        s, i = s - new, i + new - gamma * i
    s_bar = i_bar = beta_bar = gamma_bar = 0.0
    for _ in range(days):
        s, i = states.pop()
        i_bar += 1.0
        gone_bar = -i_bar
        new_bar = i_bar - s_bar
        gamma_bar += gone_bar * i
        i_bar += gone_bar * gamma
        i_bar += new_bar * (beta * s)
        s_bar += new_bar * i * beta
        beta_bar += new_bar * i * s
    return beta_bar, gamma_bar


def springs(x, k):
    energy = 0.0
    for i in range(len(x)):
        for j in range(i):
            d = x[i] - x[j]
            energy = energy + 0.5 * k * (d * d)
    return energy


def springs_by_hand(x, k):
    x_bar = np.zeros(x.shape)
    k_bar = 0.0
    for i in range(len(x)):
        for j in range(i):
            d = x[i] - x[j]
            k_bar += 0.5 * (d * d)
            d_bar = k * d
            x_bar[i] += d_bar
            x_bar[j] -= d_bar
    return x_bar, k_bar


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def rosenbrock_by_hand(x):
    d = x[1:] - x[:-1] ** 2
    x_bar = np.zeros(x.shape)
    d_bar = 200.0 * d
    x_bar[1:] += d_bar
    x_bar[:-1] -= d_bar * 2.0 * x[:-1]
    x_bar[:-1] -= 2.0 * (1.0 - x[:-1])
    return x_bar


def gaussian(x, B):
    K = B @ B.T + np.eye(len(x))
    z = np.linalg.solve(K, x)
    return 0.5 * (x @ z)


def gaussian_by_hand(x, B):
    K = B @ B.T + np.eye(len(x))
    z = np.linalg.solve(K, x)
    x_bar = 0.5 * z
    y = np.linalg.solve(K.T, 0.5 * x)
    K_bar = -np.outer(y, z)
    B_bar = K_bar @ B
    B_bar += K_bar.T @ B
    return x_bar + y, B_bar


def huber(r):
    return np.sum(np.where(np.abs(r) < 1.0, 0.5 * r**2, np.abs(r) - 0.5))


def huber_by_hand(r):
    small = np.abs(r) < 1.0
    return np.where(small, r, np.sign(r))


def convolution(x, w):
    out = w[0] * x[2:] + w[1] * x[1:-1] + w[2] * x[:-2]
    return np.sum(out**2)


def convolution_by_hand(x, w):
    out = w[0] * x[2:] + w[1] * x[1:-1] + w[2] * x[:-2]
    x_bar = np.zeros(x.shape)
    w_bar = np.zeros(w.shape)
    g = 2.0 * out
    w_bar[2] += np.sum(g * x[:-2])
    x_bar[:-2] += g * w[2]
    w_bar[1] += np.sum(g * x[1:-1])
    x_bar[1:-1] += g * w[1]
    w_bar[0] += np.sum(g * x[2:])
    x_bar[2:] += g * w[0]
    return x_bar, w_bar


def discounted(rates, cash):
    value = 0.0
    factor = 1.0
    for t in range(len(rates)):
        factor = factor / (1.0 + rates[t])
        value = value + factor * cash[t]
    return value


def discounted_by_hand(rates, cash):
    factors = []
    factor = 1.0
    for t in range(len(rates)):
        factor = factor / (1.0 + rates[t])
        factors.append(factor)
    rates_bar = np.zeros(rates.shape)
    cash_bar = np.zeros(cash.shape)
    factor_bar = 0.0
    for t in range(len(rates) - 1, -1, -1):
        factor = factors.pop()
        factor_bar += cash[t]
        cash_bar[t] += factor
        rates_bar[t] -= factor_bar * factor / (1.0 + rates[t])
        factor_bar = factor_bar / (1.0 + rates[t])
    return rates_bar, cash_bar


def filtered(q, r, ys):
    x, p, loss = 0.0, 1.0, 0.0
    for y in ys:
        p = p + q
        s = p + r
        e = y - x
        loss += e * e / s
        x = x + p / s * e
        p = p - p * p / s
    return loss


def filtered_by_hand(q, r, ys):
    x, p = 0.0, 1.0
    kept = []
    for y in ys:
        p = p + q
        s = p + r
        e = y - x
        kept.append((p, e))
        x = x + p / s * e
        p = p - p * p / s
    q_bar = r_bar = x_bar = p_bar = 0.0
    for _ in range(len(ys)):
        p, e = kept.pop()
        s = p + r
        s_bar = p_bar * p * p / (s * s)
        p_bar -= 2.0 * p_bar * p / s
        k_bar = x_bar * e
        e_bar = x_bar * p / s
        p_bar += k_bar / s
        s_bar -= k_bar * p / (s * s)
        e_bar += 2.0 * e / s
        s_bar -= e * e / (s * s)
        x_bar -= e_bar
        p_bar += s_bar
        r_bar += s_bar
        q_bar += p_bar
    return float(q_bar), float(r_bar)


def chain(x):
    total = 0.0
    for i in range(len(x) - 1):
        d = x[i + 1] - x[i] ** 2
        total += d * d
    return total


def chain_by_hand(x):
    x_bar = np.zeros(x.shape)
    for i in range(len(x) - 1):
        d = x[i + 1] - x[i] ** 2
        d_bar = 2.0 * d
        x_bar[i + 1] += d_bar
        x_bar[i] -= 2.0 * d_bar * x[i]
    return x_bar


_rng = np.random.default_rng(3)
_M, _V, _Y = _rng.normal(size=(5, 3)), _rng.normal(size=3), _rng.normal(size=5)
_W, _X = _rng.normal(size=(3, 3)) * 0.4, _rng.normal(size=(4, 3))

PAIRS = {
    least_squares: (least_squares_by_hand, (_V, _M, _Y), 0),
    logistic: (logistic_by_hand, (_V, _M, (_Y > 0) * 1.0), 0),
    mlp: (mlp_by_hand, (_W, _V, _M[:2], _V * 0.5, _Y[:2]), (0, 1, 2)),
    rnn: (rnn_by_hand, (_W, _W.T * 0.5, _X), (0, 1)),
    heat: (heat_by_hand, (_rng.normal(size=7), 0.1, 4), (0, 1)),
    newton: (newton_by_hand, (2.5,), 0),
    sir: (sir_by_hand, (0.4, 0.15, 20), (0, 1)),
    springs: (springs_by_hand, (_Y, 1.5), (0, 1)),
    rosenbrock: (rosenbrock_by_hand, (_Y,), 0),
    gaussian: (gaussian_by_hand, (_V, _W), (0, 1)),
    huber: (huber_by_hand, (_Y * 2.0,), 0),
    convolution: (convolution_by_hand, (_rng.normal(size=8), _V), (0, 1)),
    discounted: (discounted_by_hand, (_rng.uniform(0.01, 0.1, 6), np.ones(6)), (0, 1)),
    filtered: (filtered_by_hand, (0.1, 0.2, _Y), (0, 1)),
    chain: (chain_by_hand, (_Y,), 0),
}
