"""Random arguments of calls, and what a call must do with them: take exactly these numbers, or refuse them with the name
of the argument. The entry points are `random_array` and `random_param`, which give a `Given`."""

import array
import decimal
import fractions
from typing import Any, NamedTuple

import numpy as np

NATIVE = ("float32", "float64", "int32", "int64")
OTHERS = ("longdouble", "int8", "uint8", "int16", "uint16", "uint32", "uint64", "bool", "complex64", "complex128", "object", "U8",
          "S8", "datetime64[s]", "timedelta64[s]", "record")


class Given(NamedTuple):
    value: Any
    numbers: Any  # float64 of the declared shape; None: it must be refused
    what: str


def _any(random, choices):
    return choices[random.integers(len(choices))]


def _other_order(dtype):
    return np.dtype(dtype).newbyteorder("S")


def _as_other(numbers, name):
    """The array as one of another type, as close as it can be."""
    if name == "record":
        made = np.zeros(numbers.shape, [("a", "f8")])
        made["a"] = numbers
        return made
    if name.startswith("complex"):
        return (numbers + 1j * (numbers + 1)).astype(name)
    if name.startswith(("datetime", "timedelta")):
        return numbers.astype("int64").astype(name)
    return numbers.astype(name)


def _laid_out(random, numbers):
    """The same array with other strides, in the flags or in the memory around it."""
    form = _any(random, ["plain", "reversed", "fortran", "every_second", "unaligned", "read_only", "in_record", "shifted",
                         "subclass", "broadcast"])
    if form == "reversed":
        return numbers[::-1].copy()[::-1], form
    if form == "fortran":
        return np.asfortranarray(numbers), form
    if form == "every_second":
        wide = np.full((2 * numbers.shape[0], *numbers.shape[1:]), 99, numbers.dtype)
        wide[::2] = numbers
        return wide[::2], form
    if form == "unaligned" and numbers.dtype != object:
        memory = np.zeros(numbers.nbytes + 1, "u1")
        made = memory[1:].view(numbers.dtype).reshape(numbers.shape)
        made[...] = numbers
        return made, form
    if form == "in_record":
        records = np.zeros(numbers.shape[0], [("before", "u1"), ("x", numbers.dtype, numbers.shape[1:]), ("after", "i2")])
        records["x"] = numbers
        return records["x"], form
    if form == "shifted":
        wide = np.full((*numbers.shape[:-1], numbers.shape[-1] + 3), 99, numbers.dtype)
        wide[..., 2:-1] = numbers
        return wide[..., 2:-1], form
    if form == "subclass":
        return numbers.view(type("Own", (np.ndarray,), {})), form
    if form == "broadcast" and numbers.shape[0] > 0:
        return np.broadcast_to(numbers[:1], numbers.shape), form
    made = numbers.copy()
    made.setflags(write=form != "read_only")
    return made, form


def _list_of(random, numbers):
    """Nested lists, with numbers of many types among them."""
    kinds = [lambda x: x, np.float64, np.float32, np.array, lambda x: fractions.Fraction(x), lambda x: decimal.Decimal(x)]
    if numbers.ndim == 0:
        return _any(random, kinds)(float(numbers))
    rows = [_list_of(random, row) for row in numbers]
    return tuple(rows) if random.random() < 0.3 else rows


def _spoiled(random, nested):
    """The nested list with something in it that is no real number, or without one of its numbers."""
    rows = list(nested)
    at = random.integers(len(rows))
    if isinstance(rows[at], (list, tuple)) and random.random() < 0.8:
        rows[at] = _spoiled(random, rows[at])
        return rows
    wrong = [1j, np.complex128(1 + 2j), "1", b"1", np.str_("1"), None, np.array(1 + 2j), True, np.bool_(True), {}, 10**400,
             -(10**1200), np.datetime64(1, "s"), np.ma.masked]
    if isinstance(rows[at], (list, tuple)):
        rows[at] = rows[at][1:]
    else:
        rows[at] = _any(random, wrong)
    return rows


def _numbers(random, shape):
    """That every type represents."""
    return random.integers(1, 64, shape).astype("float64")


def random_array(random, rows, shape, integral):
    """An input with a number of rows and a shape of each."""
    whole = (rows, *shape)
    numbers = _numbers(random, whole)
    form = random.random()
    if form < 0.5:
        dtype = _any(random, NATIVE)
        value, layout = _laid_out(random, numbers.astype(dtype))
        fits = not integral or dtype.startswith("int")
        # A particle of several vectors has one stride from number to number.
        if len(shape) == 2 and layout in ("fortran", "shifted"):
            fits = False
        return Given(value, np.array(value, "float64") if fits else None, f"{dtype} {layout}")
    if form < 0.6:
        dtype = _other_order(_any(random, NATIVE))
        return Given(numbers.astype(dtype), None, f"{dtype}")
    if form < 0.7:
        name = _any(random, OTHERS)
        return Given(_as_other(numbers, name), None, name)
    if form < 0.8 and rows > 0:
        if integral:
            return Given(numbers.astype(int).tolist(), numbers, "list")
        return Given(_list_of(random, numbers), numbers, "list")
    if form < 0.85 and rows > 0 and not shape:
        return Given(array.array("q" if integral else "d", numbers.astype("int64" if integral else "float64")), numbers,
                     "array.array")
    if form < 0.9 and rows > 0:
        # A truth value in a list is one of the whole numbers.
        value = _spoiled(random, numbers.tolist())
        if any(isinstance(one, (bool, np.bool_)) for one in _leaves(value)):
            return Given(numbers.astype("bool"), None, "bool")
        return Given(value, None, f"list {value}")
    wrong = _wrong_shape(random, whole)
    return Given(_numbers(random, wrong).astype("int64" if integral else "float64"), None, f"shape {wrong}")


def _leaves(value):
    if isinstance(value, (list, tuple)):
        for one in value:
            yield from _leaves(one)
    else:
        yield value


def _wrong_shape(random, shape):
    """Axes exchanged, one more in front, or one longer."""
    choices = [(1, *shape), (*shape[:-1], shape[-1] + 1)]
    if len(shape) > 1 and len(set(shape)) > 1:
        choices += [shape[::-1]] * 3
        if len(shape) == 3 and shape[1] != shape[2]:
            choices += [(shape[0], shape[2], shape[1])] * 3
    choices = [one for one in choices if one != shape and not (one[0] == shape[0] and np.prod(one[1:]) == np.prod(shape[1:])
                                                              and len(one) == 2)]
    return _any(random, choices)


def random_output(random, rows, shape):
    """An array for a real output, all 7; numbers: whether it can be written."""
    whole = (rows, *shape)
    form = random.random()
    if form < 0.6:
        value, layout = _laid_out(random, np.full(whole, 7, _any(random, ("float32", "float64"))))
        return Given(value, value.flags.writeable, f"{value.dtype} {layout}")
    if form < 0.7:
        dtype = _other_order(_any(random, ("float32", "float64")))
        return Given(np.full(whole, 7, dtype), False, f"{dtype}")
    if form < 0.85:
        name = _any(random, OTHERS + ("int32", "int64"))
        return Given(_as_other(np.full(whole, 7.0), name), False, name)
    if form < 0.9:
        return Given(np.full(whole, 7.0).tolist(), False, "list")
    wrong = _wrong_shape(random, whole)
    return Given(np.full(wrong, 7.0), False, f"shape {wrong}")


def index_array(random, indices):
    """Some indices as one of the things that say them, or that do not: numbers is then None."""
    plain = np.array(indices, "int64")
    form = random.random()
    if form < 0.35:
        dtype = np.dtype(_any(random, ("int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64", ">i8", ">u2")))
        value, layout = _laid_out(random, plain.astype(dtype))
        return Given(value, np.array(value, "int64"), f"{dtype} {layout}")
    if form < 0.5:
        return Given(_any(random, (list, tuple))(_any(random, (int, np.int64, np.uint8))(one) for one in indices), plain, "list")
    if form < 0.6:
        return Given(array.array(_any(random, "bBhHiIqQ"), indices), plain, "array.array")
    if form < 0.8:
        name = _any(random, ("float16", "float64", "longdouble", "bool", "complex128", "object", "U8", "S8", "datetime64[s]",
                             "timedelta64[s]", "record"))
        return Given(_as_other(plain, name), None, name)
    beyond = np.array(plain, "uint64")
    beyond[-1] = 2**63 + 5
    spoiled = list(indices)
    spoiled[random.integers(len(spoiled))] = _any(random, [10**400, 2**63, True, np.bool_(False), 1.5, "1", None, [1], 1j])
    return Given(*_any(random, [(beyond, None, "2**63"), (spoiled, None, f"list {str(spoiled)[:60]}"), (plain[None], None, "2-d"),
                                (np.array(3), None, "0-d"), ("01", None, "text"), (3, None, "number"), (object(), None, "object"),
                                (np.ma.array(plain), None, "masked"), ([[0], [1, 2]], None, "ragged")]))


# What an option may be given, and the int, float or bool that it says; None: nothing of that kind.
SCALARS = [(value, value) for value in (0, 1, 2, 3, -1, 2**31, 2**63 - 1, -(2**63), 2**63, 10**400, -(10**1200), 0.0, 1.0, 1.5,
                                        -2.0, float("inf"), True, False)]
SCALARS += [(kind(value), kind(value).item()) for kind in (np.int8, np.uint8, np.int16, np.uint64, np.float16, np.float64)
            for value in (0, 1, 3)]
SCALARS += [(np.uint64(2**63), 2**63), (np.bool_(True), True), (np.bool_(False), False), (np.array(2), 2), (np.array(2, ">i4"), 2),
            (np.array(1.5), 1.5), (np.array(True), True), (fractions.Fraction(3, 2), 1.5), (decimal.Decimal(2), 2.0)]
SCALARS += [(value, None) for value in (None, "1", b"1", "no", [], [1], (1,), {}, object(), 1j, np.complex64(1), np.array([1]),
                                        np.zeros(0), np.array("1"), np.datetime64(1, "s"), np.ma.masked, int, lambda: 1)]


def as_tensor(random, torch, value):
    """The array as a tensor of PyTorch's, in one of the ways that its memory may say the same."""
    made = torch.from_numpy(np.ascontiguousarray(value).reshape(value.shape))
    form = _any(random, ["plain", "transposed", "negative", "expanded", "with_stride"])
    if form == "transposed" and made.ndim == 2:
        return made.T.contiguous().T
    if form == "negative" and made.is_floating_point():
        negated = torch.complex(torch.zeros_like(made), -made).conj().imag
        assert negated.is_neg()
        return negated
    if form == "expanded" and made.ndim == 0:
        return made.expand(1, 1)
    if form == "with_stride" and made.ndim > 0:
        return torch.repeat_interleave(made, 2, 0)[::2]
    return made


def param_shapes(declared):
    """Shapes that say the same as the declared one, and others of as many numbers that do not."""
    same = [declared, (int(np.prod(declared)),), (1, *declared)] if declared else [(), (1,), (1, 1)]
    if len(declared) == 3:
        same += [(declared[0] * declared[1], declared[2]), (declared[0], declared[1] * declared[2])]
    for at, length in enumerate(declared):
        if length in (4, 9):
            root = round(length**0.5)
            same.append((*declared[:at], root, root, *declared[at + 1 :]))
    wrong = []
    if len(declared) == 2 and declared[0] != declared[1]:
        wrong = [declared[::-1]]
    if len(declared) == 3:
        wrong = [one for one in ((declared[1], declared[0], declared[2]), (declared[0], declared[2], declared[1]),
                                 declared[::-1]) if one != declared]
    return same, wrong


def random_param(random, declared, is_integral):
    same, wrong = param_shapes(declared)
    numbers = _numbers(random, declared)
    form = random.random()
    if form < 0.25 and wrong:
        shape = _any(random, wrong)
        value = _numbers(random, shape)
        return Given(value if random.random() < 0.5 else value.tolist(), None, f"shape {shape}")
    value = numbers.reshape(_any(random, same))
    if form < 0.5:
        dtype = np.dtype(_any(random, NATIVE + ("float16", "longdouble", "uint8", "int8", "int16", "uint16", "uint32",
                                               "uint64", "object", ">f8", ">i4", ">f2", ">u8")))
        value = value.astype(dtype)
        if value.ndim > 0:
            value, layout = _laid_out(random, value)
            numbers = np.array(value, "float64").reshape(declared)
        return Given(value, numbers, f"{dtype} {value.shape}")
    if form < 0.65:
        name = _any(random, [name for name in OTHERS if name not in ("longdouble", "int8", "uint8", "int16",
                                                                     "uint16", "uint32", "uint64", "object")])
        return Given(_as_other(value, name), None, name)
    if form < 0.85:
        return Given(_list_of(random, value) if not is_integral else value.astype(int).tolist(), numbers, f"list {value.shape}")
    if value.ndim == 0:
        wrong = _any(random, [1j, np.complex64(2j), np.array(1 + 1j), "1", b"1", None, np.bool_(True), True, {}, [1, 2],
                              10**400, -(10**1200), np.array(10**400), [10**400], np.datetime64(1, "s"), np.ma.array([1.0]),
                              np.ma.masked, [], np.zeros(0), float, np.array("1")])
        return Given(wrong, None, repr(wrong))
    value = _spoiled(random, value.tolist())
    return Given(value, None, f"list {value}")
