"""A Pygments lexer for pipelines: `.pipe` files in Sphinx, MkDocs, Jupyter and wherever else Pygments highlights.

Pygments finds `PipeLexer` by the entry point of this package and by the names "pipe" and "nbcc"; no other module of the
package imports this one, so that nbcc works without Pygments. The word lists repeat those of the compiler
(compiler/source/vocabulary.cpp) and those of editors/pipe.tmLanguage.json; tests/python/test_lexer.py compares the three.
"""

from __future__ import annotations

import re

from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, Text

__all__ = ["PipeLexer"]

ROLES = ("input_i", "input_j", "input_pair", "param", "output")
REDUCTIONS = (
    "sum", "min", "max", "argmin", "argmax", "logsumexp", "softmax", "product", "count", "at", "total", "pair",
)  # fmt: skip
TYPES = (
    "real", "float", "double", "int", "unsigned", "index", "bool", "complex", "vec2", "vec3", "vec4", "mat2", "mat3",
    "mat4",
)  # fmt: skip
KEYWORDS = ("if", "else", "for", "return", "const", "constexpr", "auto", "void", "inline", "static_cast")
BOOLEANS = ("true", "false")
OPERATOR_WORDS = ("and", "or", "not")
CUNBODY_ARRAYS = ("INPUT_I", "INPUT_J", "OUTPUT")
SECTIONS = ("finish",)
FUNCTIONS = (
    "sqrt", "rsqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "sinpi", "cospi",
    "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "lgamma", "tgamma",
    "bessel_j0", "bessel_j1", "bessel_k0", "bessel_k1", "bessel_i0", "bessel_i1", "sign", "floor", "ceil", "round",
    "trunc", "fabs", "abs", "min", "max", "pow", "atan2", "hypot", "fmod", "copysign", "fma", "clamp", "select",
    "sincos", "dot", "cross", "angle", "length", "normalize", "nearest_image", "every_image", "image_index", "table",
    "spline", "spline_coefficient", "philox", "random", "grad", "ddt", "imag", "conj", "arg", "norm", "any", "all",
    "sum", "transpose", "trace", "determinant", "outer", "argmin", "argmax", "logsumexp", "softmax", "at", "skip_if",
)  # fmt: skip
CONSTANTS = ("pi", "two_pi", "sqrt_pi", "euler", "i_index", "j_index", "self_pair")

_CALL = r"(?=[ \t]*\()"  # many built-in names are also allowed as names of variables


class PipeLexer(RegexLexer):  # type: ignore[misc, unused-ignore]
    """Tokens of the language of pipelines. A character that is not in the language becomes an Error token."""

    name = "nbcc pipeline"
    aliases = ["pipe", "nbcc"]
    filenames = ["*.pipe"]
    mimetypes = ["text/x-nbcc-pipeline"]
    flags = re.MULTILINE

    tokens = {
        "root": [
            (r"\ufeff", Text),  # byte order mark
            (r"\s+", Text),
            (r"//[^\n]*", Comment.Single),
            (r"/\*[\s\S]*?(\*/|\Z)", Comment.Multiline),
            (r"^([ \t]*)(#[ \t]*define)([ \t]+)(\w+)", bygroups(Text, Comment.Preproc, Text, Name.Constant)),
            (r"^([ \t]*)(#[ \t]*pragma[ \t]+flops)\b", bygroups(Text, Comment.Preproc)),
            (r"\b(output)(\s*)(\()", bygroups(Keyword.Declaration, Text, Punctuation), "reductions"),
            (words(ROLES, prefix=r"\b", suffix=r"\b"), Keyword.Declaration),
            # The definition of a function: a type and a name before a parenthesis.
            (
                r"\b(" + "|".join((*TYPES, "void")) + r")([ \t]+)([A-Za-z]\w*)(?=[ \t]*\()",
                bygroups(Keyword.Type, Text, Name.Function),
            ),
            (words(TYPES, prefix=r"\b", suffix=r"\b"), Keyword.Type),
            (words(KEYWORDS, prefix=r"\b", suffix=r"\b"), Keyword),
            (words(BOOLEANS, prefix=r"\b", suffix=r"\b"), Keyword.Constant),
            (words(OPERATOR_WORDS, prefix=r"\b", suffix=r"\b"), Operator.Word),
            (words(CUNBODY_ARRAYS, prefix=r"\b", suffix=r"\b"), Name.Builtin.Pseudo),
            (words(CONSTANTS, prefix=r"\b", suffix=r"\b"), Name.Builtin.Pseudo),
            (words(SECTIONS, prefix=r"\b", suffix=r"\b" + _CALL), Name.Function.Magic),
            (words(FUNCTIONS, prefix=r"\b", suffix=r"\b" + _CALL), Name.Builtin),
            (r"0[xX][0-9a-fA-F]+[uU]?\b", Number.Hex),
            (r"(\d+\.\d*|\.\d+)([eE][+-]?\d+)?[fFi]?", Number.Float),
            (r"\d+[eE][+-]?\d+[fFi]?", Number.Float),
            (r"\d+[uUi]?", Number.Integer),
            (r"[A-Za-z_]\w*", Name),
            (r"<<=|>>=|<=|>=|==|!=|&&|\|\||\+\+|--|<<|>>|[-+*/%&|^]=|[-+*/%=<>!&|^~?:]", Operator),
            (r"[()\[\]{},;.]", Punctuation),
        ],
        "reductions": [
            (r"\s+", Text),
            (words(REDUCTIONS, prefix=r"\b", suffix=r"\b"), Keyword.Pseudo),
            (r",", Punctuation),
            (r"\)", Punctuation, "#pop"),
            (r"\w+", Name),
            (r"(?=[^\s\w,)])", Text, "#pop"),
        ],
    }

    def analyse_text(text: str) -> float:  # noqa: N805; Pygments makes it a static method
        """How likely it is that a text without a file name is a pipeline: 0 to 1."""
        if re.search(r"^\s*input_[ij]\s+\w+\s+\w+", text, re.MULTILINE) and re.search(r"^\s*output\s*\(", text, re.M):
            return 0.9
        return 0.0
