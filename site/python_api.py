"""Pages of the Python package's interface, from its signatures and docstrings, which Griffe reads without importing the
package. Main functions: `pages` and `names`."""

import inspect
import re

import griffe
import tree

NO_INTERFACE = {"pygments_lexer"}  # modules that other programs find by an entry point


class Module:
    def __init__(self, module, name):
        self.module, self.name = module, name
        self.page = f"api/{name}.md"
        exported = module.exports or [
            member for member, value in module.members.items() if member[0] != "_" and not value.is_alias and
            (value.is_class or value.is_function)
        ]  # fmt: skip
        missing = [str(member) for member in exported if str(member) not in module.members]
        if missing:
            raise ValueError(f"{name}: expected the names in __all__, found no {', '.join(missing)}")
        self.members = [(str(member), target(module.members[str(member)])) for member in exported]


def target(member):
    return member.final_target if member.is_alias else member


def load():
    loader = griffe.GriffeLoader(search_paths=[str(tree.ROOT / "bindings" / "python")], allow_inspection=False)
    package = loader.load("nbcc", submodules=True)
    loader.resolve_aliases(implicit=True)
    public = sorted(name for name in package.modules if name[0] != "_" and name not in NO_INTERFACE)
    return [Module(package, "nbcc"), *(Module(package[name], f"nbcc.{name}") for name in public)]


def pages(modules):
    """{source path of a page: its Markdown}."""
    return {module.page: page_of_module(module) for module in modules}


def names(modules):
    """{qualified name: page#anchor} of all public names, for links from code spans."""
    found = {}
    for module in modules:
        found[module.name] = module.page
        for name, member in module.members:
            found[f"{module.name}.{name}"] = f"{module.page}#{module.name}.{name}"
            if member.is_class:
                for method, _ in public_members(member):
                    found[f"{module.name}.{name}.{method}"] = (
                        f"{module.page}#{anchor(f'{module.name}.{name}.{method}')}"
                    )
    return found


def page_of_module(module):
    parts = [f"# {module.name}\n", body(docstring_of(module.module), ())]
    for kind in ("function", "class", "attribute"):
        for name, member in module.members:
            if member.kind.value == kind:
                parts.append(section(f"{module.name}.{name}", name, member, 2))
    return "\n".join(parts)


def anchor(qualified):
    """The anchor of a name, without the underscores of __call__, which Markdown would take for emphasis."""
    return qualified.replace("__", "")


def section(qualified, name, member, level):
    heading = f"{'#' * level} `{name}` {{ #{anchor(qualified)} }}\n"
    if member.is_attribute:
        annotation = f": {member.annotation}" if member.annotation else ""
        return f"{heading}\n{tree.fenced(name + annotation, 'python')}\n{body(docstring_of(member), ())}"
    if member.is_function:
        code = tree.fenced(signature(name, member), "python")
        return f"{heading}\n{code}\n{body(docstring_of(member), parameters(member))}"
    constructor = member.all_members.get("__init__")
    constructor = target(constructor) if constructor is not None else None
    public = constructor is not None and constructor.is_function and takes_public_arguments(constructor)
    head = signature(f"class {name}", constructor) if public else f"class {name}{bases(member)}"
    parts = [
        heading,
        tree.fenced(head, "python"),
        body(docstring_of(member), parameters(constructor) if public else ()),
    ]
    parts += [section(f"{qualified}.{inner}", inner, value, level + 1) for inner, value in public_members(member)]
    return "\n".join(parts)


def bases(member):
    shown = [str(base) for base in member.bases if not str(base).split(".")[-1].startswith("_")]
    return f"({', '.join(shown)})" if shown else ""


def takes_public_arguments(constructor):
    """False for classes that functions of the package make: their arguments have types of its private modules."""
    return not any(
        str(parameter.annotation) in ("Family", "Pipeline", "Kernel") for parameter in constructor.parameters
    )


def public_members(member):
    """[(name, member)] of methods and attributes with a docstring, __call__ included, inherited ones too."""
    found = []
    for name, value in member.all_members.items():
        value = target(value)
        if (name[0] != "_" or name == "__call__") and (value.is_function or value.is_attribute):
            if docstring_of(value) or (name == "__call__"):
                found.append((name, value))
    return sorted(found, key=lambda pair: (pair[0] != "__call__", pair[1].is_function, pair[0]))


def docstring_of(member):
    if member.docstring:
        return inspect.cleandoc(member.docstring.value)
    # Pipeline.__call__ has the docstring of the method that it overrides.
    if member.name == "__call__" and member.parent.is_class:
        for base in member.parent.mro():
            if "__call__" in base.members and base.members["__call__"].docstring:
                return docstring_of(base.members["__call__"])
    return ""


def documented(member):
    """The function whose parameters the docstring explains."""
    if member.docstring or member.name != "__call__":
        return member
    return next((base.members["__call__"] for base in member.parent.mro() if "__call__" in base.members), member)


def parameters(function):
    function = documented(function)
    return {parameter.name for parameter in function.parameters} - {"self", "cls"}


def signature(name, function):
    """The head of a function, with one parameter on each line where it is long."""
    function = documented(function)
    words, star = [], False
    for parameter in function.parameters:
        if parameter.name in ("self", "cls"):
            continue
        kind = parameter.kind.name
        if kind == "keyword_only" and not star:
            words.append("*")
            star = True
        star = star or kind == "var_positional"
        text = {"var_positional": "*", "var_keyword": "**"}.get(kind, "") + parameter.name
        if parameter.annotation:
            text += f": {parameter.annotation}"
        if parameter.default is not None and not kind.startswith("var"):
            text += f" = {parameter.default}" if parameter.annotation else f"={parameter.default}"
        words.append(text)
    returns = f" -> {function.returns}" if function.returns and not name.startswith("class ") else ""
    short = f"{name}({', '.join(words)}){returns}"
    return short if len(short) <= 90 else f"{name}(\n" + "".join(f"    {word},\n" for word in words) + f"){returns}"


def body(docstring, known):
    """Markdown of a docstring: blocks that are indented are code, `name: text` of a parameter is a definition."""
    parts, code = [], []
    for block in [*re.split(r"\n\s*\n", docstring), ""]:
        lines = block.splitlines()
        if lines and all(line.startswith("    ") for line in lines):
            code.append(block)
            continue
        if code:  # blocks of code with a blank line between them are one block
            parts.append(tree.fenced(inspect.cleandoc("\n" + "\n\n".join(code)), "python"))
            code = []
        parts.append(definitions(lines, known))
    return "\n\n".join(part for part in parts if part) + "\n"


def definitions(lines, known):
    """A paragraph, in which `name: text` or `name, name: text` at the begin of a line, or of a sentence, explains the
    parameters in `known`."""
    text = "\n".join(line.strip() for line in lines)
    head = re.compile(r"(?:^|\n|(?<=[.;)] ))((?:\w+, )*\w+):\s")
    entries, at, name = [], 0, None
    for match in head.finditer(text):
        if set(match[1].split(", ")) <= set(known):
            entries.append((name, text[at : match.start()].strip()))
            name, at = match[1], match.end()
    entries.append((name, text[at:].strip()))
    shown = []
    for name, words in entries:
        words = linked(words if name is None else words.rstrip(";"))
        if name is None:
            shown.append(words)
        else:
            terms = ", ".join(f"`{term}`" for term in name.split(", "))
            shown.append(f"{terms}\n:   " + words.replace("\n", "\n    "))
    return "\n\n".join(words for words in shown if words)


def linked(words):
    """Paths of pages become links, and stars stay stars."""
    words = re.sub(r"(?<![\w`])(docs/[\w/]+\.md)", lambda m: f"[{tree.title_of(m[1])}](../{tree.page_of(m[1])})", words)
    return re.sub(r"`[^`]*`|([*<])", lambda m: f"\\{m[1]}" if m[1] else m[0], words)
