"""The gallery: the pictures of docs/programs/pictures and docs/pictures with the pipelines of their pages.

Main function: `gallery`.
"""

import posixpath
import re
from pathlib import Path

import rewrite
import tree

FOLDERS = ("docs/programs/pictures", "docs/pictures")
PICTURE = re.compile(r"""!\[([^\]]*)\]\(([^)\s]+)\)""")


def pictures_of(text, path):
    """[(repository's path, caption)] of the pictures in the text of a page."""
    return [(rewrite.resolved(match[2], path), match[1]) for match in PICTURE.finditer(rewrite.FENCE.sub("", text))]


def pipelines_of(text, path):
    """The .pipe files that a page names in its code spans and links, in their order."""
    words = [word for span in rewrite.spans_of(text) for word in re.findall(r"[\w/]+\.pipe\b", span)]
    named = [rewrite.pipeline_named(word, path) for word in words]
    linked = [Path(rewrite.resolved(target, path)) for target in rewrite.links_of(text) if target.endswith(".pipe")]
    if "README.md" == path:
        named += [rewrite.pipeline_named(f"pipelines/{word}", path) for word in words]
    return list(dict.fromkeys(pipeline for pipeline in [*named, *linked] if pipeline))


def gallery(pages):
    """The Markdown of the gallery. pages: paths of the pages of docs/ in the repository, in the order of navigation."""
    shown, sections = set(), []
    wanted = {path.relative_to(tree.ROOT) for folder in FOLDERS for path in (tree.ROOT / folder).iterdir()}
    for path in [*pages, "README.md"]:
        text = tree.text_of(path)
        pictures = [(file, caption) for file, caption in pictures_of(text, path) if file in wanted - shown]
        if pictures:
            shown.update(file for file, _ in pictures)
            sections.append(section(path, text, pictures))
    if wanted - shown:
        raise ValueError(f"expected a page that shows {', '.join(map(str, sorted(wanted - shown)))}, found none")
    return (
        "# Gallery\n\nThe programs' pictures, and the pipelines that compute what they show. The title of each section"
        " is a link to its page.\n\n" + "\n".join(sections)
    )


def section(path, text, pictures):
    title = tree.title_of(path)
    lines = [f"## [{title}]({relative(tree.page_of(path))})", "", '<div class="gallery-pictures" markdown>', ""]
    for file, caption in pictures:
        source = relative(tree.page_of(file))
        words = caption[:1].upper() + caption[1:]
        lines += [
            f'<figure class="picture" markdown>\n![{caption}]({source})\n<figcaption>{words}</figcaption>\n</figure>',
            "",
        ]
    lines += ["</div>", ""]
    pipelines = pipelines_of(text, path)
    if pipelines:
        lines += ['<div class="gallery-pipelines" markdown>', ""]
    for pipeline in pipelines:
        code = tree.fenced(tree.text_of(pipeline), "pipe")
        block = f"[{pipeline.as_posix()}]({relative(tree.page_of(pipeline))})\n\n{code}"
        lines += [f'=== "{pipeline.name}"', "", *("    " + line if line else "" for line in block.splitlines()), ""]
    if pipelines:
        lines += ["</div>", ""]
    return "\n".join(lines)


def relative(page):
    return posixpath.relpath(page, ".")
