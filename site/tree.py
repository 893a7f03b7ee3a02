"""The files of the repository as pages of the site: which page shows a file, and pages that are made of files outside
of docs/.

Main functions: `page_of`, `page_of_file` and `page_of_folder`.
"""

import posixpath
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LANGUAGES = {
    ".pipe": "pipe", ".cpp": "cpp", ".h": "cpp", ".hpp": "cpp", ".c": "c", ".cu": "cuda", ".f90": "fortran",
    ".py": "python", ".sh": "bash", ".cmake": "cmake", ".json": "json", ".in": "text", ".txt": "text", "": "text",
}  # fmt: skip
MAX_BYTES = 100_000  # of a file that becomes a page
MAX_FILES = 100  # in a folder whose files have pages of their own


def page_of(path):
    """The source path in the site of the page that shows a file or folder of the repository: docs/x.md -> x.md."""
    path = Path(path)
    parts = path.relative_to("docs").as_posix() if path.parts[:1] == ("docs",) else None
    if (ROOT / path).is_dir():
        if parts:
            return f"{parts}/index.md"
        return "pipelines/index.md" if path.as_posix() == "pipelines" else f"source/{path.as_posix()}/index.md"
    if parts:
        return parts
    if path.suffix == ".md":
        return f"project/{path.as_posix()}"
    if path.parts[0] == "pipelines":
        return f"pipelines/{path.stem}.md"
    return f"source/{path.as_posix()}.md"


def has_page(path):
    """True for a file that a page can show: a text of ordinary size."""
    file = ROOT / path
    return file.suffix in LANGUAGES and file.stat().st_size <= MAX_BYTES


def fenced(text, language, title=""):
    """A fenced block with a text; its fence is longer than every run of backquotes in the text."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    head = f'{fence}{{.{language} title="{title}"}}' if title else f"{fence}{language}"
    ending = "" if text.endswith("\n") else "\n"
    return f"{head}\n{text}{ending}{fence}\n"


def text_of(path):
    return (ROOT / path).read_text(encoding="utf-8")


def first_comment(path):
    """What the first comment of a file says in its first line, without the file's own name; "" without one."""
    if not has_page(path):
        return ""
    for line in text_of(path).splitlines()[:3]:
        found = re.match(r'\s*(?://|#(?!!|include|pragma|define)|"""|!|/\*)\s*(.+)', line)
        if found:
            return re.sub(rf"^{re.escape(Path(path).name)}: *", "", found.group(1).strip('"')).strip()
    return ""


def plain(text):
    """Text that Markdown shows as it is, in a cell of a table."""
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", text)


def link(path, page, text):
    """A link from a page of the site to the page that shows a file of the repository."""
    return f"[{text}]({posixpath.relpath(page_of(path), posixpath.dirname(page) or '.')})"


def page_of_file(path):
    """The Markdown of the page that shows one file."""
    path = Path(path)
    front = "" if path.suffix == ".pipe" else "---\nsearch:\n  exclude: true\n---\n"
    above = (
        link(path.parent, page_of(path), f"`{path.parent.as_posix()}/`") if path.parent != Path() else "the repository"
    )
    return (
        f"{front}# {path.name}\n\n{'A pipeline' if path.suffix == '.pipe' else 'A file'} of {above}.\n\n"
        f"{fenced(text_of(path), LANGUAGES[path.suffix], path.as_posix())}"
    )


def files_of_folder(path):
    """The entries of a folder, folders first, without what builds leave there."""
    entries = [entry for entry in (ROOT / path).iterdir() if entry.name[0] != "." and entry.name != "__pycache__"]
    return [entry.relative_to(ROOT) for entry in sorted(entries, key=lambda entry: (entry.is_file(), entry.name))]


def linked_files(path):
    """The entries of a folder to which its page links."""
    files = files_of_folder(path)
    if len(files) > MAX_FILES:
        return []
    return [file for file in files if (ROOT / file).is_dir() or file.suffix == ".md" or has_page(file)]


def page_of_folder(path):
    """The Markdown of the page that lists a folder."""
    page, path, linked = page_of(path), Path(path), linked_files(path)
    if path.as_posix() == "docs/decisions":
        lines = [f"- {link(file, page, title_of(file))}" for file in files_of_folder(path)]
        return "# Decisions\n\nThe reasons for the design, one page for each choice.\n\n" + "\n".join(lines) + "\n"
    title = "Pipelines" if path.as_posix() == "pipelines" else f"{path.as_posix()}/"
    intro = (
        "nbcc brings these pipelines along; `nbcc list` shows their names, by which the command and the Python package"
        " know them."
        if path.as_posix() == "pipelines"
        else f"The files of the folder `{path.as_posix()}`."
    )
    front = "" if path.as_posix() == "pipelines" else "---\nsearch:\n  exclude: true\n---\n"
    rows = []
    for file in files_of_folder(path):
        name = file.name + ("/" if (ROOT / file).is_dir() else "")
        shown = link(file, page, f"`{name}`") if file in linked else f"`{name}`"
        rows.append(f"| {shown} | {plain(first_comment(file)) if (ROOT / file).is_file() else ''} |")
    return f"{front}# {title}\n\n{intro}\n\n| file | contents |\n|---|---|\n" + "\n".join(rows) + "\n"


def title_of(path):
    """The heading of a Markdown file."""
    return re.search(r"^# +(.+?) *$", text_of(path), re.MULTILINE).group(1)
