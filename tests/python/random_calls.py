"""Random calls: pipelines whose fields may have the names of options, arguments by position and by name, options by name and
in `options=`, and the exact results. The entry point is `RandomCall`."""

import numpy as np

# Names of options of calls, of `compile`, and of parameters inside of the package.
CLASHING = ["out", "outputs", "accumulate", "i", "ni", "nj", "i_offset", "j_offset", "device", "stream", "precision", "math",
            "root", "pairs", "skin", "tolerance", "lists", "batches", "listed_pairs", "exclusions", "progress",
            "threads", "symmetric", "cache_dir", "self", "arrays", "fields", "keywords", "options", "family", "call"]
PLAIN = ["a", "b", "c", "d", "e", "f", "g", "h"]


class RandomCall:
    """text; values of fields by name; options by name; `arguments()`: how they are given; `expected()`: the outputs."""

    def __init__(self, seed, options=True):
        self.random = np.random.default_rng(seed)
        names = iter(self._names())
        self.ni, self.nj = (int(self.random.integers(2, 6)) for _ in range(2))
        self.i = [next(names) for _ in range(self.random.integers(1, 3))]
        self.j = [next(names) for _ in range(self.random.integers(1, 3))]
        self.params = [next(names) for _ in range(self.random.integers(1, 4))]
        self.defaults = {name: float(self.random.integers(1, 9)) for name in self.params if self._coin(0.7)}
        self.fields = [*self.i, *self.j, *self.params]
        if self._coin(0.5):
            self.fields = [str(name) for name in self.random.permutation(self.fields)]
        self.outputs = ["s", "t"][: self.random.integers(1, 3)]
        # Each field has a factor of its own in each output, so that no value can be taken for another.
        self.factors = [{name: float(3**k + at) for k, name in enumerate(self.fields)} for at in range(len(self.outputs))]
        self.values = {name: self._numbers(self.ni) for name in self.i}
        self.values.update({name: self._numbers(self.nj) for name in self.j})
        self.values.update({name: self._number() for name in self.params})
        for name in self.defaults:
            if self._coin(0.3):
                self.values[name] = self.defaults[name]
        self.options = self._options() if options and self._coin(0.5) else {}
        self.has_reach = self._coin(0.6)  # a guard that every pair passes; with it, calls have a skin
        self.text = self._text()

    def _coin(self, chance):
        return bool(self.random.random() < chance)

    def _numbers(self, count):
        return self.random.integers(1, 9, count).astype("float64")

    def _number(self):
        """A value that an option of its name would take as well."""
        return [0.5, 1.0, float(self.random.integers(1, 9)), int(self.random.integers(1, 9))][self.random.integers(4)]

    def _names(self):
        chosen = list(self.random.permutation(CLASHING)[: self.random.integers(0, 6)])
        names = [*chosen, *self.random.permutation(PLAIN)]
        return [str(name) for name in self.random.permutation(names[:8])]

    def _text(self):
        lines = []
        for name in self.fields:
            role = "input_i" if name in self.i else "input_j" if name in self.j else "param"
            default = f" = {self.defaults[name]}" if name in self.defaults else ""
            lines.append(f"{role} real {name}{default};")
        lines += [f"output(sum) real {name};" for name in self.outputs]
        if self.has_reach:
            lines.append(f"skip_if(abs({self.j[0]} - {self.i[0]}) > 100.0);")
        for name, factors in zip(self.outputs, self.factors):
            terms = [f"{factor} * {field}" for field, factor in factors.items()]
            lines.append(f"{name} += {' + '.join(terms)} + 7.0 * real(i_index) + 11.0 * real(j_index);")
        return "\n".join(lines)

    def _options(self):
        made = {}
        if self._coin(0.2):
            first = int(self.random.integers(0, self.ni))
            made["i"] = slice(first, int(self.random.integers(first, self.ni + 1)))
        for name in ("i_offset", "j_offset"):
            if self._coin(0.2):
                made[name] = int(self.random.integers(1, 9))
        if self._coin(0.2):
            made["outputs"] = [self.outputs[0]]
        for name, value in (("device", "cpu"), ("precision", "double"), ("math", "precise"), ("pairs", "all"), ("root", "exact"),
                            ("clamp", True), ("ni", self.ni), ("nj", self.nj)):
            if self._coin(0.1):
                made[name] = value
        return made

    def arguments(self, leading=True):
        """(arrays, keywords). leading: fields may be given by position."""
        count = int(self.random.integers(0, len(self.fields) + 1)) if leading and self._coin(0.5) else 0
        arrays = [self.values[name] for name in self.fields[:count]]
        keywords = {}
        for name in self.fields[count:]:
            if name in self.defaults and self._coin(0.3):
                self.values[name] = self.defaults[name]
            else:
                keywords[name] = self.values[name]
        together = {}
        for name, value in self.options.items():
            if name in self.fields or self._coin(0.3):
                together[name] = value
            else:
                keywords[name] = value
        if together:
            keywords["options"] = together
        # The field takes the word `options` too; then an option with the name of a field cannot be given.
        if "options" in self.fields and together:
            keywords["options"] = self.values["options"]
            for name in together:
                del self.options[name]
            if "options" in self.fields[:count]:
                del keywords["options"]
        order = [str(name) for name in self.random.permutation(list(keywords))]
        return arrays, {name: keywords[name] for name in order}

    def expected(self):
        """By the names of the outputs that are asked for: exact numbers."""
        chosen = self.options.get("i", slice(0, self.ni))
        found = {}
        for name, factors in zip(self.outputs, self.factors):
            of_i = sum(factors[field] * self.values[field] for field in self.i) + 7 * self._index(self.ni, "i_offset")
            of_j = sum(factors[field] * self.values[field] for field in self.j) + 11 * self._index(self.nj, "j_offset")
            rest = sum(factors[field] * self.values[field] for field in self.params)
            rows = np.zeros(self.ni)
            rows[chosen] = (self.nj * of_i + of_j.sum() + self.nj * rest)[chosen]
            found[name] = rows
        asked = self.options.get("outputs", self.outputs)
        return {name: found[name] for name in asked}

    def _index(self, count, option):
        return np.arange(count) + float(self.options.get(option, 0))

    def gradient(self, field):
        """Of the sum of all outputs by a field."""
        chosen = np.zeros(self.ni)
        chosen[self.options.get("i", slice(0, self.ni))] = 1
        factor = sum(
            factors[field] for name, factors in zip(self.outputs, self.factors) if name in self.options.get("outputs", self.outputs)
        )
        if field in self.i:
            return factor * self.nj * chosen
        if field in self.j:
            return np.full(self.nj, factor * chosen.sum())
        return np.array(factor * self.nj * chosen.sum())
