"""Random calls that cross features, as docs/reference/what_goes_together.md says what goes together: pipelines with results
of several kinds, pairs of every kind, chosen i, accumulation, and the same results by NumPy, pair by pair. The entry points
are `table`, which reads that page, and `CrossedCall`."""

import pathlib
import re

import numpy as np

import nbcc

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/reference/what_goes_together.md"
PAIRS = ("lists", "batches", "listed pairs")


def table():
    """(answers, messages): by row and feature, of calls in one process."""
    answers, messages, features, section = {}, {}, [], ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        section = line if line.startswith("## ") else section
        cells = [cell.strip() for cell in line.strip("|").split(" | ")] if line.startswith("|") else []
        if section.startswith("## Ranks of MPI"):
            continue
        if section == "## Messages" and len(cells) == 3 and cells[0].startswith("`"):
            messages[cells[0].strip("`"), cells[1]] = cells[2]
        elif len(cells) > 3 and not cells[0].startswith("`"):
            features = cells[1:]
        elif len(cells) > 3:
            answers.update({(cells[0].strip("`"), feature): answer for feature, answer in zip(features, cells[1:])})
    return answers, messages


ANSWERS, MESSAGES = table()


class Result:
    """An output: its row of the table, its text, and its values of the terms of one i."""

    def __init__(self, row, declaration, statement, of_terms, combine=None, empty=None):
        self.row, self.declaration, self.statement = row, declaration, statement
        self.of_terms, self.combine = of_terms, combine
        self.name = re.findall(r"(\w+)(?:\[\d+\])?;", declaration)[-1]
        self.total = "total" in declaration


def _bincount(bins, weights, length):
    inside = (bins >= 0) & (bins < length)
    return np.bincount(bins[inside], weights[inside], length)[:length]


def _nearest(p, count):
    """The j with the least keys, filled up with -1."""
    order = np.argsort(p.key, kind="stable")[:count]
    return np.concatenate([p.j[order], np.full(count - len(order), -1)])


def _log_sum_exp(x):
    return np.log(np.exp(x).sum()) if len(x) else -np.inf


# By the terms p of the pairs of one i (of all i, for a total).
RESULTS = [
    Result("sum, min, max, product, count", "output(sum) vec3 f;", "f += w * d;", lambda p: (p.w[:, None] * p.d).sum(0), np.add),
    Result("sum, min, max, product, count", "output(min) real low;", "low = min(low, w);", lambda p: p.w.min(initial=np.inf), np.minimum),
    Result("sum, min, max, product, count", "output(count) int n;", "n += r2 < 0.5;", lambda p: (p.r2 < 0.5).sum(), np.add),
    Result("sum, min, max, product, count", "output(product) double q;", "q *= 1.0 + 0.001 * r2;", lambda p: (1 + 0.001 * p.r2).prod(), np.multiply),
    Result("argmin", "output(argmin) index near[3];", "near = argmin(near, uj);", lambda p: _nearest(p, 3)),
    Result("argmax", "output(argmax) index far;", "far = argmax(far, uj);", lambda p: p.j[np.argmax(p.key)] if len(p.j) else -1),
    Result("output(at)", "output(argmin) index who;\noutput(at) vec3 way;", "who = argmin(who, uj);\nway = at(who, d);",
           lambda p: p.d[np.argmin(p.key)] if len(p.j) else np.full(3, np.nan)),
    Result("logsumexp", "output(logsumexp) real z;", "z = logsumexp(z, w);", lambda p: _log_sum_exp(p.w), np.logaddexp),
    Result("softmax", "output(softmax) real y;", "y = softmax(y, -r2, uj);",
           lambda p: (np.exp(-p.r2) * p.key).sum() / np.exp(-p.r2).sum() if len(p.j) else np.nan),
    Result("output(total)", "output(total) real e;", "e += w;", lambda p: p.w.sum(), np.add),
    Result("output(total)", "output(total, max) int top;", "top = max(top, kj - ki);",
           lambda p: p.k.max(initial=np.iinfo(np.int64).min), np.maximum),
    Result("histograms", "output(total) real g[6];", "g[int(r2)] += w;", lambda p: _bincount(p.r2.astype(int), p.w, 6), np.add),
    Result("histograms", "output(sum) int h[5];", "h[kj + ki] += 1;", lambda p: _bincount(p.k_sum, np.ones(len(p.j)), 5), np.add),
]  # fmt: skip


class Terms:
    """What the pairs of some i give."""

    def __init__(self, call, i, j, strength):
        self.j = j
        self.d = call.values["xj"][j] - call.values["xi"][i]
        self.r2 = (self.d**2).sum(1)
        self.w = (2 + call.values["uj"][j]) / (0.25 + self.r2) * strength
        self.key = call.values["uj"][j]
        self.k = call.values["kj"][j] - call.values["ki"][i]
        self.k_sum = call.values["kj"][j] + call.values["ki"][i]


class CrossedCall:
    def __init__(self, row, feature, seed):
        self.random = random = np.random.default_rng(seed)
        self.row, self.feature = row, feature
        self.has_pair_input = row == "input_pair"
        # Few texts, which are compiled once: each has every other result, with a cutoff or without.
        which = [k % 2 for k, one in enumerate(RESULTS) if one.row == row] or [0, 1]
        variant = int(random.choice(which))
        self.results = RESULTS[variant::2]
        self.has_cutoff = bool(random.random() < 0.5)
        self.features = {feature}
        if self.has_pair_input and feature not in PAIRS:
            self.features.add("listed pairs")
        if row in PAIRS and feature not in PAIRS:
            self.features.add(row)
        for one in ("exclusions", "chosen i", "two sets", "accumulate", *map(str, random.permutation(PAIRS))):
            more = self.features | {one}
            if random.random() < 0.3 and len(more & set(PAIRS)) < 2 and not self._refusals(more) - self._refusals():
                self.features = more
        # Outputs that are refused beside others are not asked for.
        self.asked = [one for one in self.results if not self._is_refused(one.row, self.features) or one.row == row]
        self._particles()
        self._pairs()

    def _is_refused(self, row, features):
        return any(ANSWERS[row, one] == "no" for one in features)

    def _refusals(self, features=None):
        """The cells of the table that refuse the call."""
        features = features or self.features
        rows = {self.row, *(features & set(PAIRS))} - {"every_image()"}
        return {(row, one) for row in rows for one in features if ANSWERS.get((row, one)) == "no"}

    def refused(self):
        """Messages, of which an error has one."""
        if self.has_pair_input and "listed pairs" not in self.features:
            return ["lacks listed_pairs="]
        return [MESSAGES[cell].replace("NAME", "crossed") for cell in self._refusals()]

    @property
    def text(self):
        strength = " * (2.0 + strength)" if self.has_pair_input else ""
        return "\n".join([
            "input_i vec3 xi; input_i int ki; input_j vec3 xj; input_j real uj; input_j int kj; param real rc = 1.25;",
            "input_pair real strength;" if self.has_pair_input else "", *(one.declaration for one in self.results),
            "vec3 d = xj - xi; real r2 = dot(d, d);", "skip_if(r2 >= rc * rc);" if self.has_cutoff else "",
            f"real w = (2.0 + uj) / (0.25 + r2){strength};", *(one.statement for one in self.results)])  # fmt: skip

    def _particles(self):
        sizes = (1, 3, 17, 40)
        self.ni, self.nj = (int(self.random.choice(sizes)) for _ in range(2))
        if "two sets" not in self.features:
            self.nj = self.ni
        if "no particles" in self.features:
            self.ni = self.nj = 0
        grid = lambda *shape: self.random.integers(-64, 64, shape) / 64  # noqa: E731
        self.values = {"xi": grid(self.ni, 3), "ki": self.random.integers(0, 4, self.ni), "xj": grid(self.nj, 3),
                       "uj": self.random.permutation(self.nj) / 1024, "kj": self.random.integers(0, 4, self.nj)}  # fmt: skip

    def _rows(self, most):
        rows = [self.random.integers(0, self.nj, self.random.integers(0, most) if self.nj else 0) for _ in range(self.ni)]
        first = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
        return first, np.concatenate([np.zeros(0, np.int64), *rows])

    def _pairs(self):
        """The options that give the pairs, and the acting pairs (i, j) in their order."""
        self.options = {}
        i, j = (axis.ravel() for axis in np.meshgrid(np.arange(self.ni), np.arange(self.nj), indexing="ij"))
        cut = lambda end: np.sort(np.concatenate([[0, end], self.random.integers(0, end + 1, 2)]))  # noqa: E731
        if "lists" in self.features:
            i_first, ends = cut(self.ni), cut(self.nj)
            self.options["lists"] = nbcc.Lists(i_first, [0, 1, 2, 3], ends[[0, 1, 0]], ends[[1, 3, 2]])
            group = np.repeat(np.arange(3), np.diff(i_first))
            acts = (j >= ends[[0, 1, 0]][group[i]]) & (j < ends[[1, 3, 2]][group[i]])
        elif "batches" in self.features:
            ids = [np.repeat(np.arange(3), np.diff(cut(n))) for n in (self.ni, self.nj)]
            self.options["batches"] = (*ids, 4)
            acts = ids[0][i] == ids[1][j]
        else:
            acts = np.ones(len(i), bool)
        i, j = i[acts], j[acts]
        if "listed pairs" in self.features:
            first, j = self._rows(9)
            i = np.repeat(np.arange(self.ni), np.diff(first))
            self.options["listed_pairs"] = (first, j)
        self.strength = np.ones(len(i))
        if self.has_pair_input:
            self.values["strength"] = self.random.integers(-64, 64, len(i)) / 64
            self.strength = 2 + self.values["strength"]
        if "exclusions" in self.features:
            first, left = self.options["exclusions"] = self._rows(6)
            out = np.zeros((self.ni, self.nj), bool)
            out[np.repeat(np.arange(self.ni), np.diff(first)), left] = True
            i, j, self.strength = (one[~out[i, j]] for one in (i, j, self.strength)) if len(i) else (i, j, self.strength)
        self.acting = i, j
        self.chosen = np.arange(self.ni)
        if "chosen i" in self.features:
            some = slice(self.ni // 4, min(self.ni, self.ni // 4 + self.ni // 2 + 1))
            self.options["i"] = some if self.random.random() < 0.5 else self.random.permutation(self.ni)[some]
            self.chosen = self.chosen[self.options["i"]]
        elif not self.options:
            self.options["pairs"] = str(self.random.choice(["auto", "all"] + ["cutoff"] * self.has_cutoff))

    def expected(self, before):
        """By the names of the outputs that are asked for; `before`: what they held, of every i."""
        i, j = self.acting
        inside = ((self.values["xj"][j] - self.values["xi"][i]) ** 2).sum(1) < 1.25**2 if self.has_cutoff else np.ones(len(i), bool)
        found = {}
        for one in self.asked:
            of = lambda acts: Terms(self, i[acts], j[acts], self.strength[acts])  # noqa: B023, E731
            if one.total:
                value = np.asarray(one.of_terms(of(inside & np.isin(i, self.chosen))))
                found[one.name] = one.combine(before[one.name], value) if before else value
                continue
            rows = [one.of_terms(of(inside & (i == k))) for k in self.chosen]
            value = np.array(rows).reshape(len(self.chosen), *np.shape(one.of_terms(of(np.zeros(len(i), bool)))))
            found[one.name] = one.combine(before[one.name][self.chosen], value) if before else value
        return found
