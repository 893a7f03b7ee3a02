"""The Markdown of docs/ as MkDocs reads it: heads of fenced blocks, links to files of the repository, and code spans
that name a pipeline or a part of the Python package.

Main function: `Rewriter.rewritten`.
"""

import os
import posixpath
import re
from pathlib import Path

import tree

FENCE = re.compile(r"^(```+)[ \t]*([^`\n]*)\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)
TARGET = re.compile(r"(\]\()([^)\s]+)(\))")
ATTRIBUTE = re.compile(r"""(\b(?:href|src)=")([^"\s]+)(")""")
SPAN = re.compile(r"(?<!`)`(?!`)([^`]+)(?<!`)`(?!`)")
BRACKETS = re.compile(r"\[[^\[\]]*\](?=\()")
LANGUAGES = {"sh": "bash", "text": "text", "console": "console"}
KINDS = ("pipe", "sh", "cpp", "c", "cmake", "fortran", "python", "text", "console", "lua", "lisp", "toml")


def is_external(target):
    return re.match(r"[a-z][a-z0-9+.-]*:", target) is not None


def fence_head(head):
    """The head of a fenced block for MkDocs. tests/docs/snippets.py explains the words: `python md.py needs:lammps`.
    The name of a file, and what is remarkable about a block, become the title of the block."""
    words = head.split()
    if not words:
        return ""
    kind, rest = words[0], words[1:]
    if kind not in KINDS or head.startswith("{"):
        raise ValueError(f"expected one of {', '.join(KINDS)} behind a fence, got '{head}'")
    needs = [word[len("needs:") :] for word in rest if word.startswith("needs:")]
    names = [word for word in rest if word not in ("fails", "output") and not word.startswith("needs:")]
    notes = [f"needs {' and '.join(needs)}"] if needs else []
    if "fails" in rest:
        notes.append("this has errors" if kind == "pipe" else "this fails")
    title = ", ".join([*names, *notes]) if names else ", ".join(notes)
    if "output" in rest:
        title = "Output"
    language = LANGUAGES.get(kind, kind)
    classes = f".{language} .output" if "output" in rest else f".{language}"
    return f'{{{classes} title="{title}"}}' if title else language


def lists_for_mkdocs(text):
    """Lists as Python-Markdown needs them: a blank line in front, and behind items of several paragraphs, and 4 blanks
    before what belongs to an item, where GitHub takes the width of the item's mark. A line of a paragraph that begins
    with a number and a point begins no item."""
    lines, before = [], ""
    width, paragraphs = 0, False  # of the present item: the width of its mark, 0 outside of lists; true for several
    for line in text.split("\n"):
        mark = re.match(r"(- |\d+\. )", line)
        indent = len(line) - len(line.lstrip())
        if mark:
            if before and (not width or paragraphs):
                lines.append("")
            width, paragraphs = len(mark[1]), False
        elif line and not indent and not before:
            width = 0
        elif width and indent >= width:
            line = " " * (4 - width) + line
            paragraphs = paragraphs or not before
            if before:
                line = re.sub(r"^(\s*\d+)\. ", r"\1\. ", line)
        lines.append(line)
        before = line.strip()
    return "\n".join(lines)


class Rewriter:
    """Rewrites the pages of one build. `names`: qualified names of the Python package -> page#anchor."""

    def __init__(self, names):
        self._names = names

    def rewritten(self, text, path, url_of):
        """text: of the repository's file `path`. url_of: source path of a page -> its URL relative to this page."""
        parts, at = [], 0
        for match in FENCE.finditer(text):
            parts.append(self._prose(text[at : match.start()], path, url_of))
            try:
                parts.append(f"{match[1]} {fence_head(match[2])}\n{match[3]}{match[1]}")
            except ValueError as error:
                raise ValueError(f"{path}: {error}") from None
            at = match.end()
        parts.append(self._prose(text[at:], path, url_of))
        return "".join(parts)

    def _prose(self, text, path, url_of):
        text = lists_for_mkdocs(text)
        brackets = [match.span() for match in BRACKETS.finditer(text)]
        headings = [match.span() for match in re.finditer(r"^#.*$", text, re.MULTILINE)]
        pieces, at = [], 0
        for match in SPAN.finditer(text):
            pieces.append(self._links(text[at : match.start()], path, url_of))
            fixed = any(start <= match.start() < end for start, end in [*brackets, *headings])
            page = None if fixed else self._page_of_span(match[1], path)
            in_table = text[text.rfind("\n", 0, match.start()) + 1 : match.start()].startswith("|")
            # In a table GitHub takes the backslash before | away; MkDocs would show it.
            span = match[0].replace("\\|", "|") if in_table else match[0]
            pieces.append(f"[{span}]({self._relative(page, path)})" if page else span)
            at = match.end()
        pieces.append(self._links(text[at:], path, url_of))
        return "".join(pieces)

    def _links(self, text, path, url_of):
        def target(match):
            return match[1] + self._target(match[2], path) + match[3]

        def attribute(match):
            page, hash_, anchor = self._target(match[2], path).partition("#")
            if is_external(match[2]) or not page:
                return match[0]
            source = posixpath.normpath(posixpath.join(posixpath.dirname(tree.page_of(path)), page))
            return match[1] + url_of(source) + hash_ + anchor + match[3]

        return ATTRIBUTE.sub(attribute, TARGET.sub(target, text))

    def _target(self, target, path):
        if is_external(target) or target.startswith("#"):
            return target
        name, hash_, anchor = target.partition("#")
        return self._relative(tree.page_of(resolved(name, path)), path) + hash_ + anchor

    @staticmethod
    def _relative(page, path):
        return posixpath.relpath(page, posixpath.dirname(tree.page_of(path)) or ".")

    def _page_of_span(self, span, path):
        pipeline = pipeline_named(span, path)
        if pipeline:
            return tree.page_of(pipeline)
        return self._names.get(re.sub(r"\(.*\)$", "", span, flags=re.DOTALL)) if span.startswith("nbcc.") else None


def resolved(name, path):
    """The repository's path of a link in the file `path`. Raises ValueError if there is nothing."""
    target = Path(os.path.normpath(Path(path).parent / name))
    if not (tree.ROOT / target).exists() or target.parts[:1] == ("..",):
        raise ValueError(f"{path}: the link to {name}: expected a file or a folder, found nothing")
    return target


def pipeline_named(span, path):
    """The path of the .pipe file that a code span in the file `path` names, or None. The span has the folder, or on a
    page of docs/programs the name of the file alone."""
    if not re.fullmatch(r"[\w/]+\.pipe", span):
        return None
    path = Path(path)
    program = [f"examples/{EXAMPLES.get(path.stem, path.stem)}", "examples/support"]
    folders = program if path.parent == Path("docs/programs") and "/" not in span else [""]
    for folder in folders:
        if (tree.ROOT / folder / span).is_file():
            return Path(folder) / span
    return None


EXAMPLES = {"kolmogorov_smirnov": "ks"}  # the folder of a page of docs/programs, where the names differ


def links_of(text):
    """The targets of the links of a text, in order."""
    prose = SPAN.sub("", FENCE.sub("", text))
    return [match[2] for pattern in (TARGET, ATTRIBUTE) for match in pattern.finditer(prose)]


def spans_of(text):
    return [match[1] for match in SPAN.finditer(FENCE.sub("", text))]
