"""Whole small algorithms: recurrences, stacks, tables, factorisations, buffers and their views."""

from __future__ import annotations

import math

import numpy as np

from tests.probes.table import probe

A = np.arange(12.0).reshape(3, 4) / 10
S3 = np.array([[2.0, 0.3, 0.1], [0.2, 1.5, 0.4], [0.1, 0.7, 1.9]])


@probe(1.3)
def idiom_1(x):
    s = 0.0
    for i in range(10):
        if i % 2:
            continue
        for j in range(i):
            if j > 3:
                break
            s += x**j / (i + 1)
        else:
            s *= 1.1
    return s


@probe(1.3)
def idiom_2(x):
    a, b = x, 1.0
    while True:
        a, b = (a + b) / 2, math.sqrt(a * b)
        if abs(a - b) < 1e-12:
            return a


@probe(1.3)
def idiom_3(x):
    n = 0
    try:
        while n < 5:
            n += 1
            x = x * 1.1 + 0.1
    finally:
        n = -1
    return x * n


@probe(1.3)
def idiom_4(x):
    for i in range(3):
        y = x * i

        def g(z, y=y):
            return z * y

        x = g(x) + 1
    return x


@probe(1.3)
def idiom_5(x):
    res = []
    for k, (a, b) in enumerate(zip([x, 2.0], [x * x, x])):
        res.append((a * b, k))
    return sum(v * k for v, k in res) + res[0][0]


@probe(1.3)
def idiom_6(x):
    m = -1e9
    am = -1
    for i, v in enumerate([x, x * x, -x]):
        if v > m:
            m, am = v, i
    return m * am + m


@probe(1.3)
def idiom_7(x):
    d = {}
    for i in range(6):
        d.setdefault(i % 3, []).append(x**i)
    return sum(v[0] * v[1] for v in d.values())


@probe(1.3)
def idiom_9(x):
    s = ""
    v = 1.0
    for c in "abcab":
        if c == "a":
            v *= x
        elif c == "b":
            v += x
        s += c
    return v * len(s)


@probe(1.3)
def idiom_10(x):
    acc = [x]
    for _ in range(3):
        acc = [a * x for a in acc] + [1.0]
    return sum(acc)


@probe(1.3)
def idiom_11(x):
    stack = [(x, 0)]
    tot = 0.0
    while stack:
        v, d = stack.pop()
        tot += v
        if d < 3:
            stack.extend([(v * 0.5, d + 1), (v * v * 0.1, d + 1)])
    return tot


@probe(1.3)
def idiom_12(x):
    m = [[0.0] * 3 for _ in range(3)]
    for i in range(3):
        for j in range(3):
            m[i][j] = x**i * (j + 1)
    return sum(m[i][i] for i in range(3))


@probe(1.3)
def idiom_13(x):
    f = [1.0, x]
    for i in range(2, 7):
        f.append(f[-1] * x + f[-2])
    return f[-1]


@probe(1.3)
def idiom_14(x):
    c = np.zeros((4, 4))
    for i in range(4):
        for j in range(4):
            c[i, j] = x * (i - j) + (c[i - 1, j] if i else 1.0) * (c[i, j - 1] if j else x)
    return c[-1, -1]


@probe(1.3)
def idiom_15(x):
    p = np.array([x, 1.0, 2.0])
    for _ in range(3):
        p = np.roll(p, 1) * np.array([1.0, x, 0.5])
    return p.sum()


@probe(1.3)
def idiom_16(x):
    y = A * x
    for row in y:
        row *= row.sum()
    return y.sum()


@probe(1.3)
def idiom_17(x):
    y = A * x
    for i, row in enumerate(y.T):
        row[:] = row[::-1] * i
    return (y * A).sum()


@probe(1.3)
def idiom_18(x):
    y = (A * x).copy()
    z = y[1:, ::2]
    z += z * z
    y[0] = z[0, 0]
    return y.sum()


@probe(1.3)
def idiom_19(x):
    y = np.empty(5)
    y[0] = x
    for i in range(1, 5):
        y[i] = y[i - 1] * x if i % 2 else y[i - 1] + np.sin(y[i - 1])
    return y @ y


@probe(1.3)
def idiom_20(x):
    u = np.full(6, x)
    v = np.zeros(6)
    for _ in range(4):
        v[1:-1] = u[:-2] * u[2:]
        u, v = v, u
    return u.sum() + v.prod()


@probe(1.3)
def idiom_21(x):
    h = np.zeros(4)
    c = np.zeros(4)
    W = np.ones((4, 4)) * 0.1
    for t in range(3):
        z = W @ h + x
        i, f = np.tanh(z[:2]), z[2:]
        c[:2] = c[:2] * f + i
        h = np.concatenate([c[:2], c[2:] + x])
    return h.sum()


@probe(1.3)
def idiom_22(x):
    K = np.eye(3) * x
    K[np.triu_indices(3, 1)] = x * x
    K = K + K.T
    return np.linalg.det(K)


@probe(1.3)
def idiom_23(x):
    L = np.zeros((3, 3))
    S = A[:, :3] @ A[:, :3].T + np.eye(3) * x
    for i in range(3):
        for j in range(i + 1):
            s = S[i, j] - L[i, :j] @ L[j, :j]
            L[i, j] = np.sqrt(s) if i == j else s / L[j, j]
    return L.sum()


@probe(1.3)
def idiom_24(x):
    a = S3 * x + np.eye(3)
    for k in range(3):
        for i in range(k + 1, 3):
            f = a[i, k] / a[k, k]
            a[i, k:] -= f * a[k, k:]
    return a[0, 0] * a[1, 1] * a[2, 2]


@probe(1.3)
def idiom_25(x):
    idx = np.array([0, 2, 2, 1])
    y = np.zeros(3)
    np.add.at(y, idx, x * np.arange(4.0))
    y[idx] *= x
    return (y**2).sum()


@probe(1.3)
def idiom_26(x):
    m = (A * x) > 0.5
    y = A * x
    y[m] = x
    y[~m] **= 2
    return y.sum()


@probe(1.3)
def idiom_27(x):
    y = np.zeros((2, 3))
    y[..., 0] = x
    y[:, None, 1] = x * x
    y[np.newaxis, 0, 2] = 3 * x
    return y.sum() * y[0, 1]


@probe(1.3)
def idiom_28(x):
    a = np.array([x, 2 * x, 3 * x])
    b = a
    b = b * 2
    a[0] = 7.0
    c = a[:]
    c[1] = x * x
    return a.sum() + b.sum()


@probe(1.3)
def idiom_29(x):
    out = []
    for i in range(3):
        b = np.zeros(2)
        b[0] = x * i
        out.append(b)
    out[0][1] = x
    out[2] = out[0]
    out[2][0] += x * x
    return sum(o.sum() for o in out)


@probe(1.3)
def idiom_30(x):
    buf = np.zeros(3)
    views = [buf[i : i + 2] for i in range(2)]
    views[0][1] = x
    views[1][0] *= x
    views[1][1] = buf[1]
    return buf.prod() + buf.sum()


@probe(1.3)
def idiom_31(x):
    z = np.zeros(3, complex)
    z[0] = x + 1j
    z[1] = z[0] * z[0]
    z *= 1j
    return abs(z).sum() + z.real[1]


@probe(1.3)
def idiom_32(x):
    y = np.arange(6.0).reshape(2, 3) * x
    y.T[1] = y[:, 0]
    y.ravel()[2] = x
    return (y**2).sum()


@probe(1.3)
def idiom_33(x):
    y = np.arange(6.0) * x
    y.sort()
    y[::-1].sort()
    z = y.reshape(2, 3)
    z[1] = 0
    return y @ np.arange(6.0)


@probe(1.3)
def idiom_34(x):
    y = np.ones(4) * x
    np.cumsum(y, out=y)
    np.multiply(y, y, out=y[::-1].copy())
    y[1:] = y[:-1]
    return y @ y


@probe(1.3)
def idiom_35(x):
    y = np.ones(4) * x
    y[1:] += y[:-1]
    y[:-1] *= y[1:]
    return y.sum()


@probe(1.3)
def idiom_36(x):
    w = [np.ones(2) * x, np.ones(2)]
    w[0], w[1] = w[1], w[0] * 2
    w[0] += w[1]
    return w[0].sum() * w[1].sum()


@probe(1.3)
def idiom_37(x):
    def inner(a, k):
        a[k] = x * k
        return a[: k + 1]

    a = np.zeros(4)
    r = inner(a, 2)
    r *= x
    return a.sum()


@probe(1.3)
def idiom_38(x):
    q = np.zeros(3)
    for i in range(7):
        q[i % 3] += q[(i + 1) % 3] * x + 1
    return q.sum()


@probe(1.3)
def idiom_39(x):
    t = 0.0
    for i in range(3):
        a = np.zeros(3)
        a[i] = x
        t += (a * a).sum()
        a[:] = t
    return t + a[0]


@probe(1.3)
def idiom_40(x):
    a = np.zeros(3)
    b = a
    if x > 0:
        b = np.zeros(3)
    b[0] = x
    a[1] = b[0] * x
    return a.sum() + b.sum()


@probe(1.3)
def idiom_41(x):
    return sum((lambda k: k * x)(i) for i in range(4))


@probe(1.3)
def idiom_42(x):
    g = [lambda z, i=i: z * i for i in range(3)]
    return g[1](x) + g[2](x)


@probe(1.3)
def idiom_43(x):
    a = [x, 2.0, 3.0]
    a[1:2] = [x * x, x]
    a[::2] = [1.0, x]
    return a[0] + a[1] * a[2] + a[3] if len(a) > 3 else a[0]


@probe(1.3)
def idiom_44(x):
    *a, b = [x, x * x, x**3]
    (c, d), e = a, b
    return c * d + e


@probe(1.3)
def idiom_45(x):
    x = x
    y = (x := x * 2) + x
    return y * x


@probe(1.3)
def idiom_46(x):
    return (x if x > 1 else 2) * (x > 0 and x or 3) * (not x or x)


@probe(1.3)
def idiom_48(x):
    return 1 < x < 2 < x * x and x or x * x


@probe(1.3)
def idiom_49(x):
    import math as m

    from numpy import cos as c
    from numpy import pi

    return m.sin(x) * c(x) * pi


@probe(1.3)
def idiom_50(x):
    s = 0.0
    for i in reversed(range(5)):
        s = s * x + i
    for k, v in {"a": x, "b": x * x}.items():
        s += v * (2 if k == "a" else 3)
    return s


@probe(1.3)
def keyed_dict(x):
    d = {str(x): x}
    return d[str(x)] * x


@probe(1.3)
def keyed_dict2(x):
    k = int(x * 2)
    d = {k: x, k + 1: x * x}
    k = 5
    return d[2] * d[3]


@probe(1.3)
def keyed_dict3(x):
    s = 0.0
    for i in range(3):
        d = {i: x * i, f"k{i}": x}
        s += d[i] * d[f"k{i}"]
    return s


@probe(1.3)
def keyed_dict4(x):
    k = 1
    d = {k: x}
    k = 2
    d = {k: d[1] * x, k + 1: x}
    k = 7
    return d[2] * d[3]


@probe(1.3)
def keyed_dict5(x):
    n = 3
    d = {(i, j): x ** (i + j) for i in range(n) for j in range(i)}
    n = 0
    return sum(d.values())


@probe(1.3)
def keyed_dict6(x):
    keys = ["a", "b"]
    d = dict(zip(keys, [x, x * x]))
    keys.append("c")
    return d["a"] * d["b"]


@probe(1.3)
def keyed_set(x):
    d = {}
    for i in range(4):
        k = i % 2
        d[k] = d.get(k, 0.0) + x**i
    return d[0] * d[1]


@probe(1.3)
def joined_lists_1(x):
    l = []
    for i in range(3):
        l = l + [x * i]
    return sum(l)


@probe(1.3)
def joined_lists_2(x):
    l = [x]
    for i in range(3):
        l = [x * i] + l
    return l[0] * l[1] + l[3]


@probe(1.3)
def joined_lists_3(x):
    l = [x, 2.0 * x]
    l = l + l
    return l[0] * l[3] + l[2]


@probe(1.3)
def joined_lists_4(x):
    l = [x]
    for i in range(2):
        l = l + l
    return l[0] * l[1] * l[3]


@probe(1.3)
def joined_lists_5(x):
    a = [x]
    b = [x * x]
    a, b = a + b, b + a
    return a[0] * b[0] * a[1] + b[1]


@probe(1.3)
def joined_lists_6(x):
    l = [np.ones(2) * x]
    for i in range(2):
        l = l + [l[-1] * x]
    return sum(v.sum() for v in l)


@probe(1.3)
def joined_lists_7(x):
    l = [x]
    for i in range(3):
        if i % 2:
            l = l + [l[0] * x]
        else:
            l = l[1:] + [x * i] + l[:1]
    return sum(v * (k + 1) for k, v in enumerate(l))


@probe(1.3)
def joined_lists_8(x):
    l = [[x]]
    l = l + [[x * x]]
    l[0] = l[0] + [3.0 * x]
    return l[0][1] * l[1][0]


@probe(1.3)
def joined_lists_9(x):
    l = [x]
    m = l
    l = l + [x]
    m.append(x * x)
    return sum(l) * sum(m)


@probe(1.3)
def joined_lists_10(x):
    l = [x]
    l += [x * x]
    l = l * 2
    l.extend(l[:1])
    return l[1] * l[3] * l[4]
