"""Random pipelines whose gradients tests compare, with names of fields that adjoint pipelines would like to have
themselves, and arguments for them. The entry point is `RandomPipeline`."""

import numpy as np

# Names that adjoint pipelines derive from those of other fields, names of options of a call, and pairs xi, xj.
I_NAMES = ["i", "xi", "x", "x_i", "d_e", "z_y", "at_m", "raw_e_i", "out", "self_i"]
J_NAMES = ["j", "xj", "x_j", "yj", "x_j_i", "nj", "d_xi", "raw_e_j", "skin", "d_e_j"]
PARAM_NAMES = ["p", "raw_m", "d_x", "stream", "p_j", "t0", "at_m_0", "pairs"]
OUTPUT_NAMES = ["e", "raw_e", "m", "at_m", "y", "z_y", "s", "d_s", "raw_raw_e", "e_j", "dd_x", "accumulate"]
TERMS = ["rsqrt(r2_)", "exp(-r2_)", "{w} * r2_", "sin(r2_) * {q}", "d_.x * {w}", "{q} * {w} * {p}", "d_.x * d_.y / r2_",
         "log(r2_) * {p}"]
REDUCTIONS = ["sum", "sum", "sum", "min", "max", "logsumexp", "softmax"]
FINISHES = ["sqrt({o} * {o} + 0.3)", "{o} * {o}", "{o} * {a} + {q}", "exp(-{o} * {o})", "{o} / (1.0 + {a} * {a})",
            "{o} * {p} + {q} * {q}"]


TOTALS = ["sum", "min", "max", "logsumexp"]
# What chooses the pairs of a call, see `RandomPipeline.options`.
PAIRS = ["all", "all", "all", "listed", "exclusions", "some i", "batches"]


class RandomPipeline:
    """text, fields by name, options of a call, and whether i and j are one set. Arguments by position."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.one_set = self._coin(0.6)
        self.is_paired = self.one_set or self._coin(0.5)
        self._choose_names()
        self.reductions = [self._any(REDUCTIONS) for _ in self.outputs]
        self.widths = [self._any([1, 1, 2, 3]) for _ in self.outputs]
        self.finishes = [self._coin(0.7) for _ in self.outputs]
        self.has_finish = self._coin(0.7)
        self.table_in_finish = self.has_finish and self._coin(0.4)  # read at an index known at run time only
        self.guards = np.random.default_rng([seed, 1])  # apart, so that all else stays as it is
        more = np.random.default_rng([seed, 2])
        # Params that are a vector, an array, a table, a long array; a count.
        self.more_params, self.counts = {name for name in "uvtl" if more.random() < 0.4}, more.random() < 0.3
        self.more = np.random.default_rng([seed, 3])
        self.pairs = str(self.more.choice(PAIRS))
        if self.pairs == "some i" and "i" in (self.x, self.q):
            self.pairs = "all"  # the option has the name of an input
        if self.pairs == "listed":
            self.more_params.discard("l")  # its loop would be written out, with 40 cosines
        self.totals = [str(name) for name in TOTALS if self.more.random() < 0.25]
        self.histograms = [kind for kind in ("total", "sum") if self.more.random() < 0.25]
        self.text = self._text()

    def _coin(self, chance):
        return bool(self.random.random() < chance)

    def _any(self, choices):
        return choices[self.random.integers(len(choices))]

    def _choose_names(self):
        taken = set()

        def names(pool, count):
            free = [name for name in pool if name not in taken]
            chosen = [str(name) for name in self.random.permutation(free)[:count]]
            taken.update(chosen)
            return chosen

        if self._coin(0.4):
            self.x, self.y = ("xi", "xj") if self.is_paired else ("x", "y")
            self.q, self.w, self.p, self.kind, self.table = "q", "w", "p", "kind", "table_"
            self.outputs = ["s", "t", "u"][: self.random.integers(1, 4)]
            return
        if self.is_paired:
            pair = self._any([("xi", "xj"), ("x", "x_j"), ("x_i", "x"), ("raw_e_i", "raw_e_j"), ("d_e", "d_e_j")])
            self.x, self.y = pair
            taken.update(pair)
        else:
            (self.x,), (self.y,) = names(I_NAMES, 1), names(J_NAMES, 1)
        (self.q,), (self.w,), (self.p,) = names(I_NAMES, 1), names(J_NAMES, 1), names(PARAM_NAMES, 1)
        (self.kind,), (self.table,) = names(["k", "raw_k"], 1), names(["tab", "z_tab"], 1)
        self.outputs = names(OUTPUT_NAMES, int(self.random.integers(1, 4)))

    def _term(self):
        names = dict(q=self.q, w=self.w, p=self.p)
        return f"({self._any(TERMS)} * {self.random.uniform(0.5, 1.5):.3f})".format(**names)

    def _value(self, width):
        return self._term() if width == 1 else f"vec{width}({', '.join(self._term() for _ in range(width))})"

    def _exclusion(self):
        """What excludes some pairs; where an output is no sum, never all of an i."""
        if any(reduction != "sum" for reduction in self.reductions):
            return f"j_index == 1 && {self.q} > 0.8"
        return ["{w} > 0.7 && {q} > 0.8", "!({w} < 0.9 || {q} < 1.0)", "{w} > 1.1 || {q} > 1.2"][
            self.guards.integers(3)
        ].format(q=self.q, w=self.w)

    def _guard(self):
        """An `if` before a term, or nothing."""
        condition = ["", "", "{w} < 1.0", "{q} > 0.6", "!({w} > 0.8 && {q} > 0.7)", "{w} < {q} || j_index == 0"][
            self.guards.integers(6)
        ].format(q=self.q, w=self.w)
        return f"if ({condition}) " if condition else ""

    def _text(self):
        lines = [f"input_i vec2 {self.x}; input_i real {self.q};", f"input_j vec2 {self.y}; input_j real {self.w};",
                 f"param real {self.p} = 1.3;"]
        if self.table_in_finish:
            lines += [f"input_i int {self.kind}; param real {self.table}[3];"]
        shapes = {"u": "vec2 u_", "v": "real v_[3]", "t": "real t_[3]", "l": "real l_[40]"}
        lines += [f"param {shape};" for name, shape in shapes.items() if name in self.more_params]
        for name, reduction, width in zip(self.outputs, self.reductions, self.widths):
            lines.append(f"output({reduction}) {'real' if width == 1 else f'vec{width}'} {name};")
        lines += [f"vec2 d_ = {self.y} - {self.x}; real r2_ = dot(d_, d_) + 0.3;", *self._factor()]
        if self.guards.random() < 0.6:
            lines.append(f"skip_if({self._exclusion()});")
        for name, reduction, width in zip(self.outputs, self.reductions, self.widths):
            value = self._value(width)
            if self.more_params:
                value = f"f_ * {value}"
            if reduction == "sum":
                lines.append(f"{self._guard()}{name} += {value};")
            elif reduction == "softmax":
                lines.append(f"{name} = softmax({name}, {self._term()}, {value});")
            elif reduction == "logsumexp" and width > 1:
                lines += [f"{name}.{c} = logsumexp({name}.{c}, {self._term()});" for c in "xyz"[:width]]
            else:
                lines.append(f"{name} = {reduction}({name}, {value});")
        return "\n".join(lines + self._further_outputs() + self._finish())

    def _further_outputs(self):
        """Totals, histograms and a result of pairs. They are declared behind the others."""
        q, w = self.q, self.w
        term = f"(1.1 + 0.3 * d_.x * {w}) * r2_ * {q}" + (" * g_" if self.pairs == "listed" else "")
        lines = []
        for name in self.totals:
            lines.append(f"output(total{'' if name == 'sum' else ', ' + name}) real {name}_total_;")
            lines.append(f"{name}_total_ += {term};" if name == "sum" else f"{name}_total_ = {name}({name}_total_, {term});")
        for kind in self.histograms:
            lines.append(f"output({kind}) real {kind}_bins_[3]; {kind}_bins_[int(4.0 * {w} * {q}) - 1] += {term};")
        if self.pairs == "listed":
            lines.append(f"output(pair) real of_pair_; of_pair_ = sin({term});")
        return lines

    def options(self, ni=4, nj=5):
        """The keywords of a call that choose its pairs."""
        nj = ni if self.one_set else nj
        listed = [[j for j in range(nj) if (3 * i + j) % 4 != 2] for i in range(ni)]
        excluded = [[j for j in range(nj) if (i + j) % 4 == 3] for i in range(ni)]
        if self.pairs in ("listed", "exclusions"):
            rows = listed if self.pairs == "listed" else excluded
            return {"listed_pairs" if rows is listed else "exclusions": (np.cumsum([0, *map(len, rows)]), np.concatenate(rows).astype(int))}
        if self.pairs == "batches":
            of_i = np.arange(ni) * 2 // ni
            return {"batches": (of_i, of_i if self.one_set else np.arange(nj) * 2 // nj, 2)}
        return {"i": [0, 2, 3]} if self.pairs == "some i" else {}

    def _factor(self):
        """A factor of all values that depends on the further params, and the count."""
        lines = ["output(count) int counted_; counted_ += r2_ > 0.8;"] if self.counts else []
        lines += ["input_pair real g_;"] if self.pairs == "listed" else []
        terms = {"u": "0.2 * dot(u_, d_)", "v": "0.1 * v_[2] * r2_ - 0.2 * v_[0]", "t": "0.3 * t_[int(j_index % 3)]"}
        factor = " + ".join(["1.0", *(term for name, term in terms.items() if name in self.more_params)])
        lines += [f"real f_ = {factor};"] if self.more_params else []
        if "l" in self.more_params:
            lines.append("for (int k = 0; k < 40; ++k) f_ += 0.02 * l_[k] * cos(0.1 * real(k) * r2_);")
        return lines

    def _finish(self):
        if not self.has_finish:
            return []
        lines = []
        for name, width, changes in zip(self.outputs, self.widths, self.finishes):
            for component in [""] if width == 1 else [".x", ".y", ".z"][:width]:
                if not changes:
                    continue
                other = self.random.integers(len(self.outputs))
                other = self.outputs[other] + ("" if self.widths[other] == 1 else ".x")
                form = self._any(FINISHES)
                if self.table_in_finish:
                    form = f"({form}) * {self.table}[{self.kind}]"
                names = dict(o=name + component, a=other, q=self.q, p=self.p)
                lines.append(f"  {name}{component} = {form.format(**names)};")
        return ["void finish() {", *lines, "}"]

    def arguments(self, ni=4, nj=5):
        """By the names of fields, in order of declaration. Of one set x and y are one array."""
        nj = ni if self.one_set else nj
        made = {self.x: self.random.random((ni, 2)) + 0.2, self.q: self.random.random(ni) + 0.4}
        made[self.y] = made[self.x] if self.one_set else self.random.random((nj, 2)) + 0.1
        made[self.w] = self.random.random(nj) + 0.4
        made[self.p] = np.array([1.1, 0.8]) if self.pairs == "batches" else np.array(1.1)
        if self.table_in_finish:
            made[self.kind] = self.random.integers(0, 3, ni)
            made[self.table] = self.random.random(3) + 0.5
        for name, shape in {"u": 2, "v": 3, "t": 3, "l": 40}.items():
            if name in self.more_params:
                made[f"{name}_"] = self.random.random(shape) + 0.5
        if self.pairs == "listed":
            made["g_"] = self.more.random(len(self.options(ni, nj)["listed_pairs"][1])) + 0.5
        return made


def differences(run, arguments, weights, same):
    """dL/d of every number of the arguments that are real, L the sum of weights times outputs, and how wrong that may be:
    central differences with Richardson's extrapolation. same: names of one array move together."""

    def number(changed):
        return sum(float((weight * value).sum()) for weight, value in zip(weights, run(changed)))

    size = abs(number(arguments)) + 1.0
    found = {}
    for name, value in arguments.items():
        if value.dtype.kind != "f":
            continue
        gradient, error = np.zeros(value.shape), np.zeros(value.shape)
        for at in np.ndindex(value.shape):

            def moved(step):
                changed = dict(arguments)
                for other in {name, same.get(name, name)}:
                    changed[other] = arguments[other].copy()
                    changed[other][at] += step
                return number(changed)

            central = [(moved(h) - moved(-h)) / (2 * h) for h in (4e-4, 2e-4, 1e-4)]
            ab, bd = (4 * central[1] - central[0]) / 3, (4 * central[2] - central[1]) / 3
            gradient[at] = (16 * bd - ab) / 15
            # A difference of two numbers of this size, each with the roundings of a few dozen operations.
            error[at] = abs(bd - ab) + 64 * np.finfo(float).eps * size / 1e-4
        found[name] = gradient, error
    return found
