"""Hooks of MkDocs: the navigation, pages that are made of other files, and the Markdown of docs/ as MkDocs reads it.

MkDocs calls the functions `on_...`; a ValueError of the other modules ends the build.
"""

import contextlib
import posixpath
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bindings" / "python"))

import gallery  # noqa: E402
import navigation  # noqa: E402
import python_api  # noqa: E402
import rewrite  # noqa: E402
import tree  # noqa: E402
from mkdocs.exceptions import PluginError  # noqa: E402
from mkdocs.structure.files import File  # noqa: E402
from nbcc.pygments_lexer import PipeLexer  # noqa: E402
from pygments.lexers import LEXERS  # noqa: E402

# An installed nbcc registers its lexer by an entry point; the site is built without an installation.
names = (tuple(PipeLexer.aliases), tuple(PipeLexer.filenames), tuple(PipeLexer.mimetypes))
LEXERS["PipeLexer"] = (PipeLexer.__module__, PipeLexer.name, *names)

state = {}  # of one build: the modules of the Python package, the rewriter, source path of a page -> repository's path


@contextlib.contextmanager
def errors_of_build():
    try:
        yield
    except ValueError as error:
        raise PluginError(str(error)) from None


def on_config(config):
    with errors_of_build():
        state["modules"] = python_api.load()
        state["rewriter"] = rewrite.Rewriter(python_api.names(state["modules"]))
        config.nav = navigation.navigation([{"Python package, from docstrings": [m.page for m in state["modules"]]}])
    # The anchors that GitHub makes of headings, as tests/docs/snippets.py expects them.
    config.mdx_configs["toc"]["slugify"] = lambda text, _: re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
    return config


def on_files(files, config):
    def add(uri, text):
        files.append(File.generated(config, uri, content=text))

    with errors_of_build():
        pages = [f"docs/{page}" for page in pages_in(config.nav) if (tree.ROOT / "docs" / page).is_file()]
        pages += [path for path in docs_pages() if path not in pages]
        add("gallery.md", gallery.gallery(pages))
        for uri, text in python_api.pages(state["modules"]).items():
            add(uri, text)
        shown = {tree.page_of(path): path for path in pages}
        queue = [*pages, *navigation.PROJECT, "pipelines", "docs/decisions"]
        while queue:
            path = queue.pop()
            page = tree.page_of(path)
            if page not in shown:
                add_page_of(path, page, add)
                shown[page] = path
            elif path not in pages:
                continue
            queue += linked_from(path)
        state["shown"] = shown
    for asset in sorted((Path(__file__).parent / "assets").iterdir()):
        files.append(File.generated(config, f"assets/{asset.name}", abs_src_path=str(asset)))
    return files


def docs_pages():
    return sorted(path.relative_to(tree.ROOT).as_posix() for path in (tree.ROOT / "docs").rglob("*.md"))


def pages_in(nav):
    for entry in nav:
        if isinstance(entry, str):
            yield entry
        else:
            for value in entry.values():
                yield from [value] if isinstance(value, str) else pages_in(value)


def linked_from(path):
    """Files and folders outside of docs/ to which a file of the repository links, or which its page lists."""
    if (tree.ROOT / path).is_dir():
        return [] if path == "docs/decisions" else [file.as_posix() for file in tree.linked_files(path)]
    if not path.endswith(".md"):
        return [str(Path(path).parent)] if str(Path(path).parent) not in (".", "docs") else []
    text = tree.text_of(path)
    targets = [t.partition("#")[0] for t in rewrite.links_of(text) if not rewrite.is_external(t) and t[0] != "#"]
    found = [rewrite.resolved(target, path) for target in targets]
    found += [pipeline for span in rewrite.spans_of(text) if (pipeline := rewrite.pipeline_named(span, path))]
    found += gallery.pipelines_of(text, path)
    return [file.as_posix() for file in found if file.parts[0] != "docs"]


def add_page_of(path, page, add):
    if (tree.ROOT / path).is_dir():
        add(page, tree.page_of_folder(path))
    elif path.endswith(".md"):
        add(page, tree.text_of(path))
    elif tree.has_page(path):
        add(page, tree.page_of_file(path))
    else:
        raise ValueError(f"expected a text of at most {tree.MAX_BYTES} bytes to show, got {path}")


def on_page_markdown(markdown, page, config, files):
    path = state["shown"].get(page.file.src_uri)
    if page.file.src_uri in ("README.md", "gallery.md"):
        page.meta["hide"] = ["navigation", "toc"] if page.file.src_uri == "README.md" else ["navigation"]
    if page.file.src_uri.startswith("decisions/"):
        page.meta["search"] = {"boost": 0.5}  # who searches a word wants its page of the reference first
    if path is None or not path.endswith(".md"):
        return markdown

    def url_of(uri):
        file = files.get_file_from_path(uri)
        if file is None:
            raise ValueError(f"{path}: the link to {uri}: expected a page, found none")
        return posixpath.relpath(file.url, posixpath.dirname(page.file.url) or ".")

    with errors_of_build():
        return state["rewriter"].rewritten(markdown, path, url_of)
