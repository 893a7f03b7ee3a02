"""The Pygments lexer and the TextMate grammar of pipelines: their words are the compiler's, they accept every pipeline of
the tree, and they agree with each other."""

import json
import pathlib
import re

import pytest

pytest.importorskip("pygments")

from nbcc import pygments_lexer as lexer  # noqa: E402
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, Text  # noqa: E402

SOURCE = pathlib.Path(__file__).resolve().parents[2]
GRAMMAR = json.loads((SOURCE / "editors" / "pipe.tmLanguage.json").read_text(encoding="utf-8"))
PIPELINES = sorted(
    path
    for folder in ("bench", "bindings", "examples", "pipelines", "tests")
    for path in (SOURCE / folder).rglob("*.pipe")
)
# Texts of tests/errors with a character that is not in the language.
WRONG_CHARACTERS = {
    "char_literal", "foreign", "hash_inside_a_line", "ifdef", "include", "pragma_bad", "string",
}  # fmt: skip


def table_of_compiler(name):
    """The strings of one table of compiler/source/vocabulary.cpp."""
    text = (SOURCE / "compiler" / "source" / "vocabulary.cpp").read_text(encoding="utf-8")
    found = re.search(rf"\b{name} =\s*std::to_array<[\w:]+>\(\s*\{{(.*?)\}}\);", text, re.DOTALL)
    assert found, f"vocabulary.cpp has no table {name}"
    return found.group(1)


def words_of_compiler():
    def words(name):
        return set(re.findall(r'"(\w+)"', table_of_compiler(name)))

    # Each form is {"names" "names", "form"}; adjacent literals are one.
    forms = re.findall(r'\{((?:"[\w ]*"\s*)+),', table_of_compiler("kForms"))
    functions = {word for names in forms for word in "".join(re.findall(r'"([\w ]*)"', names)).split()}
    assert len(forms) > 20 and {"sqrt", "acosh", "skip_if"} <= functions
    return {
        "types": words("kTypes"),
        "roles": words("kRoleNames"),
        "reductions": words("kReductionNames"),
        "keywords": words("kKeywords"),
        "functions": functions,
        "constants": words("kConstants"),
    }


def test_words_of_lexer_are_those_of_compiler():
    compiler = words_of_compiler()
    assert set(lexer.TYPES) == compiler["types"]
    assert set(lexer.ROLES) == compiler["roles"]
    assert set(lexer.REDUCTIONS) == compiler["reductions"]
    assert set(lexer.FUNCTIONS) == compiler["functions"]
    assert set(lexer.CONSTANTS) == compiler["constants"]
    others = (*lexer.KEYWORDS, *lexer.BOOLEANS, *lexer.OPERATOR_WORDS, *lexer.CUNBODY_ARRAYS, *lexer.SECTIONS)
    assert set(others) == compiler["keywords"]


def test_words_of_grammar_are_those_of_lexer():
    lists = {}

    def collect(rule):
        names = [rule.get("name"), *(capture["name"] for capture in rule.get("captures", {}).values())]
        for listed in re.findall(r"\\b\(([\w|]+)\)", rule.get("match", "")):
            lists.setdefault(names[0] or names[1], set()).update(listed.split("|"))
        for inner in rule.get("patterns", []):
            collect(inner)

    for rule in GRAMMAR["repository"].values():
        collect(rule)
    assert lists == {
        "support.type.reduction.pipe": set(lexer.REDUCTIONS),
        "storage.modifier.role.pipe": set(lexer.ROLES),
        "storage.type.pipe": {*lexer.TYPES, "void"},
        "keyword.control.pipe": set(lexer.KEYWORDS),
        "constant.language.boolean.pipe": set(lexer.BOOLEANS),
        "keyword.operator.word.pipe": set(lexer.OPERATOR_WORDS),
        "variable.language.array.pipe": set(lexer.CUNBODY_ARRAYS),
        "support.constant.pipe": set(lexer.CONSTANTS),
        "keyword.other.section.pipe": set(lexer.SECTIONS),
        "support.function.pipe": set(lexer.FUNCTIONS),
    }


def tokens_of(text):
    return list(lexer.PipeLexer(stripnl=False, ensurenl=False).get_tokens(text))


def test_every_pipeline_has_tokens():
    assert len(PIPELINES) > 400
    wrong = set()
    for path in PIPELINES:
        text = path.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
        tokens = tokens_of(text)
        assert "".join(value for _, value in tokens) == text.lstrip("\ufeff"), path
        if any(kind is Error for kind, _ in tokens):
            assert path.parent == SOURCE / "tests" / "errors", f"{path}: {[v for k, v in tokens if k is Error]}"
            wrong.add(path.stem)
    assert wrong == WRONG_CHARACTERS


def test_kinds_of_tokens():
    text = "output(total, min) real min; real f(real x) { return exp(0x1fu * x) + 1e-3f; } finish() { a = pi; } #define"
    kinds = [(str(kind)[len("Token.") :], value) for kind, value in tokens_of(text) if value.strip()]
    for expected in (
        ("Keyword.Declaration", "output"),
        ("Keyword.Pseudo", "total"),
        ("Keyword.Pseudo", "min"),
        ("Name", "min"),  # a name of a variable here
        ("Name.Function", "f"),
        ("Name.Builtin", "exp"),
        ("Literal.Number.Hex", "0x1fu"),
        ("Literal.Number.Float", "1e-3f"),
        ("Name.Function.Magic", "finish"),
        ("Name.Builtin.Pseudo", "pi"),
        ("Error", "#"),  # a directive begins a line
    ):
        assert expected in kinds, expected


def test_score_of_texts_without_name():
    assert lexer.PipeLexer.analyse_text((SOURCE / "pipelines" / "gravity.pipe").read_text(encoding="utf-8")) == 0.9
    assert lexer.PipeLexer.analyse_text("int main() { return 0; }") == 0.0


# What the lexer's kinds are called in the grammar.
SCOPES = {
    Comment.Single: "comment.line.double-slash.pipe",
    Comment.Multiline: "comment.block.pipe",
    Comment.Preproc: "keyword.control.directive.pipe",
    Name.Constant: "entity.name.constant.pipe",
    Keyword.Declaration: "storage.modifier.role.pipe",
    Keyword.Pseudo: "support.type.reduction.pipe",
    Keyword.Type: "storage.type.pipe",
    Keyword: "keyword.control.pipe",
    Keyword.Constant: "constant.language.boolean.pipe",
    Operator.Word: "keyword.operator.word.pipe",
    Operator: "keyword.operator.pipe",
    Punctuation: "punctuation.pipe",
    Name.Function: "entity.name.function.pipe",
    Name.Function.Magic: "keyword.other.section.pipe",
    Name.Builtin: "support.function.pipe",
    Name.Builtin.Pseudo: ("support.constant.pipe", "variable.language.array.pipe"),
    Name: "variable.other.pipe",
    Number.Hex: "constant.numeric.hex.pipe",
    Number.Float: "constant.numeric.float.pipe",
    Number.Integer: "constant.numeric.integer.pipe",
}


def rules_of(patterns):
    for rule in patterns:
        if "include" in rule:
            included = GRAMMAR["repository"][rule["include"].lstrip("#")]
            yield from rules_of([included] if "match" in included or "begin" in included else included["patterns"])
        else:
            yield rule


def scopes_by_grammar(text):
    """The innermost scope of each character, None without one: as editors apply a TextMate grammar, line by line, the
    leftmost match first, the first rule of several. Of captures only groups are known."""
    root = list(rules_of(GRAMMAR["patterns"]))
    scopes, open_rule, start = [None] * len(text), None, 0
    for line in text.splitlines(keepends=True):
        at = 0
        while at <= len(line):
            rules = list(rules_of(open_rule.get("patterns", []))) if open_rule else root
            found = [(re.compile(rule.get("match") or rule["begin"]).search(line, at), rule) for rule in rules]
            end = re.compile(open_rule["end"]).search(line, at) if open_rule else None
            if open_rule:
                found.insert(0, (end, None))
            found = [(match, rule) for match, rule in found if match]
            match, rule = min(found, key=lambda pair: pair[0].start()) if found else (None, None)
            until = match.start() if match else len(line)
            if open_rule and "name" in open_rule:
                scopes[start + at : start + until] = [open_rule["name"]] * (until - at)
            if not match:
                break
            assert (
                match.end() > match.start() or rule is None
            )  # an empty match of another kind would be repeated for ever
            style = open_rule if rule is None else rule
            if style.get("name"):
                scopes[start + match.start() : start + match.end()] = [style["name"]] * (match.end() - match.start())
            captures = "endCaptures" if rule is None else "captures" if "match" in rule else "beginCaptures"
            for group, capture in style.get(captures, {}).items():
                begin, stop = match.span(int(group))
                scopes[start + begin : start + stop] = [capture["name"]] * (stop - begin)
            open_rule = None if rule is None else rule if "begin" in rule else open_rule
            at = match.end()
        start += len(line)
    return scopes


def test_grammar_agrees_with_lexer():
    for path in PIPELINES:
        text = path.read_text(encoding="utf-8", errors="replace").replace("\r", "\n").lstrip("\ufeff")
        scopes, at = scopes_by_grammar(text), 0
        for kind, value in tokens_of(text):
            expected = SCOPES[kind] if kind not in (Text, Error) else None
            for k, character in enumerate(value, at):
                if not character.isspace():
                    line = text.count("\n", 0, k) + 1
                    known = expected if isinstance(expected, tuple) else (expected,)
                    assert scopes[k] in known, f"{path}:{line}: {value!r} is {kind}, but {scopes[k]} in the grammar"
            at += len(value)


def test_entry_point_is_same_everywhere():
    name = "nbcc.pygments_lexer:PipeLexer"
    assert f'pipe = "{name}"' in (SOURCE / "pyproject.toml").read_text(encoding="utf-8")
    assert f"pipe = {name}" in (SOURCE / "bindings" / "python" / "CMakeLists.txt").read_text(encoding="utf-8")


def test_extension_of_vs_code_names_its_files():
    extension = json.loads((SOURCE / "editors" / "package.json").read_text(encoding="utf-8"))
    (language,), grammars = extension["contributes"]["languages"], extension["contributes"]["grammars"]
    assert language["id"] == grammars[0]["language"] and language["extensions"] == [".pipe"]
    assert grammars[0]["scopeName"] == GRAMMAR["scopeName"]
    json.loads((SOURCE / "editors" / language["configuration"]).read_text(encoding="utf-8"))
    for grammar in grammars:
        contents = json.loads((SOURCE / "editors" / grammar["path"]).read_text(encoding="utf-8"))
        assert contents["scopeName"] == grammar["scopeName"]
        for host in grammar.get("injectTo", []):
            assert contents["injectionSelector"].startswith("L:" + host)
    assert len(grammars) == 3


def embedded(grammar, text):
    """The lines of a text that a grammar of another language's files hands to that of pipelines. As far as these grammars
    go: a rule begins and ends on lines of its own, or its end is on the line of the last statement."""
    rules = json.loads((SOURCE / "editors" / grammar).read_text(encoding="utf-8"))["patterns"]
    found, rule = [], None
    for line in text.splitlines():
        if rule is None:
            begins = [(re.search(one["begin"].replace("\\G", "$^"), line), one) for one in rules]
            begins = [(match, one) for match, one in begins if match]
            if begins:
                match, rule = min(begins, key=lambda pair: pair[0].start())
                rest = line[match.end() :]
                end = rule["end"].replace("(\\3)", re.escape(match.group(3))) if "markup" in rule.get("name", "") else rule["end"]
                end = end.replace("\\G", "$^").replace("\\2", "")
                if rest.strip():
                    found.append(rest)
        elif match := re.search(end, line):
            if line[: match.start()].strip():
                found.append(line[: match.start()])
            rule = None
        else:
            found.append(line)
    return found


def test_pipelines_in_markdown_and_python_are_found():
    markdown = "real a;\n```pipe\ninput_i real xi;\n```\nreal b;\n``` pipe fails name.pipe\nreal c;\n```\n```python\nx = 1\n```\n"
    assert embedded("pipe_in_markdown.tmLanguage.json", markdown) == ["input_i real xi;", "real c;"]
    python = (
        'g = nbcc.compile(source="""\ninput_i real xi;\nreal a;""")\n'
        "h = nbcc.compile(\n    precision='double',\n    source=r\'\'\'real b;\nreal c;\n\'\'\')\n"
        'text = """\nreal d;\n"""\n'
        'other.source = """\nreal e;\n"""\n'
    )
    assert embedded("pipe_in_python.tmLanguage.json", python) == ["input_i real xi;", "real a;", "real b;", "real c;"]
