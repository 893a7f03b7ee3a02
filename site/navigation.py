"""The navigation of the site, which is the index docs/README.md: its headings are sections, its links pages.

Main function: `navigation`.
"""

import re

import tree

PROJECT = (
    "README.md",
    "DESIGN.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "bench/RESULTS.md",
    "bench/README.md",
    "LICENSE",
)


def index_of_docs():
    """[(heading, [pages or (heading, pages)])] of docs/README.md, where a page is its path in docs/."""
    sections = []
    for line in re.sub(r"\n  +", " ", tree.text_of("docs/README.md")).splitlines():
        heading = re.match(r"(##+) +(.+)", line)
        if heading and heading[1] == "##":
            sections.append((heading[2], []))
        elif heading:
            sections[-1][1].append((heading[2], []))
        elif sections and re.match(r"(-|\d+\.) ", line):
            entries = sections[-1][1]
            pages = entries[-1][1] if entries and isinstance(entries[-1], tuple) else entries
            pages += [page for page in re.findall(r"\]\(([\w/.]+\.md)[)#]", line) if not page.startswith("..")]
    return sections


def navigation(api_pages):
    """The value of `nav` of MkDocs. Pages that the index does not name are last in the section of their folder."""
    sections = index_of_docs()
    listed = {
        page
        for _, entries in sections
        for entry in entries
        for page in ([entry] if isinstance(entry, str) else entry[1])
    }
    docs = tree.ROOT / "docs"
    folders = {
        "tutorial": "Tutorials",
        "how_to": "How to",
        "programs": "Programs",
        "reference": "Reference",
        "explanation": "Explanation",
    }
    for folder, heading in folders.items():
        if heading not in dict(sections):
            raise ValueError(f"docs/README.md: expected a section '{heading}', found {', '.join(dict(sections))}")
        pages = sorted(path.relative_to(docs).as_posix() for path in (docs / folder).rglob("*.md"))
        dict(sections)[heading].extend(page for page in pages if page not in listed)
    nav = [{"Home": "README.md"}]
    for heading, entries in sections:
        section, seen = [], set()
        for entry in entries:
            if isinstance(entry, tuple):
                section.append({entry[0]: [page for page in dict.fromkeys(entry[1]) if page not in seen]})
                seen.update(entry[1])
            elif entry not in seen:
                section.append(entry)
                seen.add(entry)
        if heading == "Reference":
            section += api_pages
        if heading == "Explanation":
            section.append(
                {"Decisions": [tree.page_of(p) for p in ("docs/decisions", *tree.files_of_folder("docs/decisions"))]}
            )
        nav.append({heading: section})
        if heading == "Programs":
            nav.append({"Gallery": ["gallery.md"]})
            library = ("pipelines", *tree.files_of_folder("pipelines"))
            nav.append({"Pipelines": [tree.page_of(path) for path in library]})
    nav.append({"Project": [tree.page_of(path) for path in PROJECT]})
    return nav
