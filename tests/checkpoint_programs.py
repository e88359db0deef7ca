"""Programs with checkpointed loops; `plain` gives each without the marker."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

import srcgrad as sg

V = np.array([0.2, -0.7, 0.4, 0.9, -0.3])


def in_place(x, c, n):
    u = x.copy()
    for _ in sg.checkpointed(range(n), snapshots=3):
        u[1:-1] += c * (u[2:] - 2.0 * u[1:-1] + u[:-2]) * u[1:-1]
    return np.sum(u**2)


def written_argument(x, c, n):
    for _ in sg.checkpointed(range(n), snapshots=2):
        x[1:] = np.tanh(x[:-1]) * c
        x[0] *= x[1] + 1.0
    return np.sum(x * x)


def bound_again(x, c, n):
    u = x
    for t in sg.checkpointed(range(n), snapshots=3):
        u = u + c * np.sin(u) / (t + 1)
    return np.sum(u * u)


def numbers(x, c, n):
    a, b, k = x[0], x[1], 0
    for t in sg.checkpointed(range(n), snapshots=4):
        a, b = a + c * b * t, b - c * math.sin(a)
        k += 2
    return a * b * k


def swapped(x, c, n):
    old, now, new = x.copy(), x * 0.9, np.zeros(len(x))
    for _ in sg.checkpointed(range(n), snapshots=3):
        new[1:-1] = 1.9 * now[1:-1] - 0.9 * old[1:-1] + c * np.sin(now[2:] - now[:-2])
        old, now, new = now, new, old
    return np.sum(now * now) + old[1]


def fresh_arrays(x, c, n):
    u = x.copy()
    for _ in sg.checkpointed(range(n), snapshots=3):
        w = np.zeros(u.shape)
        w[1:] = c * u[:-1] ** 2
        w[0] = u[-1]
        u = w
    return np.sum(np.exp(u))


def read_before(x, c, n):
    u = x.copy()
    v = np.sin(u) * u
    s = np.sum(v**2)
    for _ in sg.checkpointed(range(n), snapshots=2):
        u *= 1.0 + c
        u[0] = u[1] * u[2]
    w = u * u
    u[:] = 0.5
    return s + np.sum(w * u)


def tuples(x, c, n):
    state = (x, 1.0)
    for _ in sg.checkpointed(range(n), snapshots=2):
        u, s = state
        state = (u + c * np.cos(u) * s, s * 0.9 + np.sum(u) * 0.1)
    return np.sum(state[0]) * state[1]


class Pair(NamedTuple):
    u: np.ndarray
    s: float


def namedtuples(x, c, n):
    p = Pair(x, 1.0)
    for _ in sg.checkpointed(range(n), snapshots=2):
        p = Pair(p.u + c * np.cos(p.u) * p.s, p.s * 0.9 + np.sum(p.u) * 0.1)
    return np.sum(p.u) * p.s


def branches(x, c, n):
    u, s = x.copy(), 0.0
    for t in sg.checkpointed(range(n), snapshots=3):
        if t % 3 == 1:
            u[t % 5] = c * s + u[0] ** 2
        elif u[1] > 0.0:
            u *= 0.7
        s = s * c + np.sum(u)
    return s


def continues(x, c, n):
    u, s = x.copy(), 1.0
    for t in sg.checkpointed(range(n), snapshots=3):
        s = s * (1.0 + c * u[0])
        if t % 2 == 0:
            continue
        u = np.sin(u) + s * 0.1
        if s > 1.1:
            continue
        s = s * np.sum(u)
    return s + np.sum(u)


def inner_loops(x, c, n):
    u = x.copy()
    for t in sg.checkpointed(range(n), snapshots=3):
        for i in range(1, len(u) - 1):
            u[i] = u[i] + c * (u[i - 1] - u[i]) * u[i + 1]
        k = 0
        while k < t % 3:
            u[k] = u[k] * u[k + 1] + 0.1
            k += 1
    return np.sum(u**3)


def nested(x, c, n):
    u = x.copy()
    for t in sg.checkpointed(range(n), snapshots=2):
        v = u * c
        for s in sg.checkpointed(range(t + 1), snapshots=2):
            v = np.sin(v) + u * (s + 1.0)
            u[0] = u[0] * 0.5 + v[1]
        u = u * 0.3 + v
    return np.sum(u * u)


def in_plain_loop(x, c, n):
    u, total = x.copy(), 0.0
    for j in range(3):
        for t in sg.checkpointed(range(n - j), snapshots=2):
            u[1:] = u[1:] * (1.0 - c) + c * np.sin(u[:-1]) * t
        total = total + np.sum(u) ** 2
        u = u * (0.5 + j)
    return total


def swapped_in_plain_loop(x, c, n):
    u, v, total = x.copy(), np.zeros(len(x)), 0.0
    for j in range(3):
        for _ in sg.checkpointed(range(n - j), snapshots=2):
            v[1:] = np.sin(u[:-1]) * c
            v[0] = u[0] * u[-1]
            u, v = v, u
        total = total + np.sum(u * u)
    return total


def ranges(x, c, n):
    u = x
    for t in sg.checkpointed(range(n + 3, 2, -2), snapshots=2):
        u = u * (1.0 + c * t * np.cos(u))
    for t in sg.checkpointed(range(1, 2 * n, 3), snapshots=2):
        u = u - c * np.sin(u * t)
    return np.sum(u) * t


def rate(u, c):
    return c * np.sin(u) * u


def push(u, c):
    u[1:] = u[1:] + rate(u[:-1], c)
    u[0] = np.sum(u) * 0.1


def callees(x, c, n):
    u = x.copy()
    for _ in sg.checkpointed(range(n), snapshots=3):
        push(u, c)
        u = u + 0.1 * rate(u, c)
    return np.sum(u**2)


def evolve(u, c, n):
    for _ in sg.checkpointed(range(n), snapshots=2):
        u[1:] = u[1:] + rate(u[:-1], c)
    return np.sum(u * u)


def in_callee(x, c, n):
    u = x.copy()
    a = evolve(u, c, n)
    return a + evolve(u, c * 0.5, n) * u[1]


def closures(x, c, n):
    def step(u, s):
        return u + c * np.sin(u) * s

    u = x
    for t in sg.checkpointed(range(n), snapshots=3):
        u = step(u, 0.1 * t)
    return np.sum(u)


def messages(x, c, n):
    u = x
    for t in sg.checkpointed(range(n), snapshots=2):
        print("step", t)
        u = u + c * np.sin(u)
    return np.sum(u)


def early_return(x, c, n):
    u = x.copy()
    if c > 5.0:
        return np.sum(u)
    for _ in sg.checkpointed(range(n), snapshots=3):
        u[1:] += c * u[:-1] ** 2
    if u[1] > 100.0:
        return u[1]
    return np.sum(u) * u[2]


def observed(x, c, n):
    u, seen = x.copy(), np.zeros(n + 1)
    for t in sg.checkpointed(range(n), snapshots=3):
        u = u + c * np.sin(u)
        seen[t] = np.sum(u) ** 2
    return np.sum(seen * seen)


def forced(x, c, n):
    f = np.linspace(0.0, 1.0, n + 1) * x[0]
    s, p = x[1], 0.0
    for t in sg.checkpointed(range(n), snapshots=3):
        p = s
        s = s * (1.0 - c) + c * math.tanh(s * p) + f[t] * f[t + 1]
    return s * p


def chosen(x, c, n, k=2):
    u = x
    for _ in sg.checkpointed(range(n), snapshots=k):
        k = k + 1
        u = u + c * np.sin(u)
    return np.sum(u) * k


def left_out(x, c, n):
    u = x
    for _ in sg.checkpointed(range(n)):
        u = u + c * np.sin(u)
    return np.sum(u)


def first_time(x, c, n):
    u = x
    for t in sg.checkpointed(range(n), snapshots=2):
        if t == 0:
            w = c * 2.0
        u = u + w * np.sin(u)
        w = w * np.sum(u)
    return np.sum(u)


def conditions(x, c, n):
    u, big = x, False
    for _ in sg.checkpointed(range(n), snapshots=2):
        u = u * (1.0 + c) if big else u + c * np.cos(u)
        big = np.sum(u) > 1.5
    return np.sum(u * u)


def views(x, c, n):
    u = x.copy()
    inner, row = u[1:-1], u.reshape(1, 5)[0]
    for _ in sg.checkpointed(range(n), snapshots=2):
        inner += c * np.sin(row[:-2]) * row[2:]
        u[0] = row[1] * inner[0]
    return np.sum(u * u) + inner[1]


def matrices(x, c, n):
    a = np.outer(x, x) * c + np.eye(5)
    for _ in sg.checkpointed(range(n), snapshots=3):
        a = a @ a / np.sqrt(np.sum(a * a))
        a[0, :] = a[:, 1] * a[1, 0]
    return np.sum(a * np.outer(x, x))


PROGRAMS = [
    in_place, written_argument, bound_again, numbers, swapped, fresh_arrays, read_before, tuples,
    namedtuples, branches, continues, inner_loops, nested, in_plain_loop, swapped_in_plain_loop,
    ranges, callees, in_callee, closures, messages, early_return, observed, forced, chosen,
    left_out, first_time, conditions, views, matrices,
]  # fmt: skip
