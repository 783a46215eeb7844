#!/usr/bin/env python3
"""Finishes the book that Doxygen wrote, then checks every link in it.

usage: book.py HTML ROOT    HTML: Doxygen's folder of pages; ROOT: the repository

Doxygen hands a Markdown link to a file that is not one of its pages through as it is, and shows an SVG picture as an
object, which keeps its width where the window has less. Here, in the pages made of Markdown:
  - a link to a file of the repository leads to its source page: Doxygen's for a header, one made here for another file;
  - an SVG picture becomes an image;
  - a fold that holds lists or paragraphs is one fold: Doxygen ends it before each of them and begins another.
In all of Doxygen's pages, what is where is said for readers who do not see it (NAMED), and the search field has a name.
And a class whose nested classes are all private loses its link to a list of them, which Doxygen 1.9.4 does not write.
Then the links of all pages are followed. One that leads nowhere in the book, by file or by anchor, is printed, and in a
page made of Markdown it is an error: what Doxygen writes of its own accord differs from version to version. So is a fold
without a title there, a page made of Markdown under another title than its file's heading, which nobody would look at, and
a notebook that the list of all pages has before its chapter.
"""

import html
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, unquote, urldefrag

SOURCE_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Rungs: {path}</title>
<link href="{up}doxygen.css" rel="stylesheet"><link href="{up}book.css" rel="stylesheet"></head>
<body><main><div class="header"><div class="headertitle"><div class="title" role="heading" aria-level="1">{path}</div></div></div>
<div class="contents"><p><a href="{up}{page}">{title}</a></p>
<div class="fragment" tabindex="0">{lines}</div></div></main></body></html>
"""
SVG_OBJECT = re.compile(r'<object type="image/svg\+xml" data="([^"]*)"[^>]*>(.*?)</object>', re.DOTALL)
NO_CLASSES = re.compile(r'<a href="#nested-classes">Classes</a> &#124;\n')
BROKEN_FOLD = re.compile(r"</details>\s*</p>\s*<p\s*>\s*<details>(?!\s*<summary>)")
NO_TITLE = re.compile(r"<details>(?!\s*<summary>)")
# Parts of a page and what they are; what scrolls by itself is reached by keys as well.
NAMED = {
    '<html xmlns="http://www.w3.org/1999/xhtml">': '<html xmlns="http://www.w3.org/1999/xhtml" lang="en">',
    '<div id="top">': '<div id="top" role="banner">',
    '<div id="side-nav"': '<div id="side-nav" role="navigation" aria-label="All pages"',
    '<div id="doc-content">': '<div id="doc-content" role="main">',
    '<div id="nav-path"': '<div id="nav-path" role="navigation" aria-label="This page"',
    '<div class="fragment">': '<div class="fragment" tabindex="0">',
    '<pre class="fragment">': '<pre class="fragment" tabindex="0">',
    '<div class="memproto">': '<div class="memproto" tabindex="0">',
    '<table class="markdownTable">': '<table class="markdownTable" tabindex="0">',
    '<table class="memberdecls">': '<table class="memberdecls" tabindex="0">',
}
NO_HEADING = re.compile(r'<th class="(\w*)">\s*</th>')
TITLE, AS_HEADING = '<div class="title">', '<div class="title" role="heading" aria-level="1">'
CONTENTS = '<div class="contents">'
HREF = re.compile(r'(<a\b[^>]*?\bhref=")([^"]*)(")')


class Page(HTMLParser):
    """The anchors of a page, and what it refers to with the line where it does."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(values[key] for key in ("id", "name") if values.get(key))
        self.links += [(self.getpos()[0], values[key]) for key in ("href", "src", "data") if values.get(key)]


def title_of(text):
    return html.unescape(re.search(r"<title>Rungs: (.*?)</title>", text).group(1))


def is_local(link):
    return not re.match(r"[a-z]+:|//", link)


def write_source_page(book, root, file, page, title):
    """A page with the text of `file`; returns its address."""
    path = file.relative_to(root)
    address = Path("source") / f"{path}.html"
    lines = "".join(f'<div class="line"><span class="lineno">{number:5}</span> {html.escape(line)}</div>\n'
                    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1))
    (book / address).parent.mkdir(parents=True, exist_ok=True)
    (book / address).write_text(SOURCE_PAGE.format(path=path, up="../" * len(path.parts), page=page,
                                                   title=html.escape(title), lines=lines), encoding="utf-8")
    return quote(address.as_posix())


def named(text):
    for part, with_name in NAMED.items():
        text = text.replace(part, with_name)
    text = NO_HEADING.sub(r'<td class="\1"></td>', text)
    if "<h1" in text:
        return text
    if TITLE in text:
        return text.replace(TITLE, AS_HEADING, 1)
    heading = f'<div class="header"><div class="headertitle">{AS_HEADING}{html.escape(title_of(text))}</div></div></div>\n'
    # A list of members has no title, and begins with headings of the third level.
    return text.replace("<h3>", "<h2>").replace("</h3>", "</h2>").replace(CONTENTS, heading + CONTENTS, 1)


def finish(book, root):
    """Returns the pages that are made of Markdown."""
    # Doxygen's names for pages differ from version to version; their titles do not.
    pages = {page: named(page.read_text(encoding="utf-8")) for page in book.glob("*.html")}
    for page, text in pages.items():
        if 'id="nested-classes"' not in text:
            text = NO_CLASSES.sub("", text)
        page.write_text(text, encoding="utf-8")
    for script in book.glob("menu.js"):  # which writes the search field into each page
        script.write_text(script.read_text(encoding="utf-8").replace(
            'id="MSearchField"', 'id="MSearchField" aria-label="Search"'), encoding="utf-8")
    titles = {title_of(text): page.name for page, text in pages.items()}
    made = {book / "index.html"}
    for markdown in [root / "README.md", *root.glob("*/**/*.md")]:
        heading = re.match(r"# (.*)\n", markdown.read_text(encoding="utf-8"))
        if root / "build" in markdown.parents or not heading or heading.group(1) not in titles:
            continue  # not in the book
        title, page = heading.group(1), book / titles[heading.group(1)]
        made.add(page)

        def follow(match):
            before, link, after = match.groups()
            target = (markdown.parent / unquote(urldefrag(html.unescape(link)).url)).resolve()
            if not is_local(link) or (book / urldefrag(link).url).exists() or not target.is_file():
                return match.group()
            shown = titles.get(f"{target.relative_to(root)} Source File")
            return before + (shown or write_source_page(book, root, target, page.name, title)) + after

        text = BROKEN_FOLD.sub("", SVG_OBJECT.sub(r'<img src="\1" alt="\2">', pages[page]))
        page.write_text(HREF.sub(follow, text), encoding="utf-8")
    return made


def unknown_pages(book, made):
    for page in sorted(set(book.glob("md_*.html")) - made):
        yield f"{page}: its title is no heading of a Markdown file"


def nameless_folds(made):
    for page in sorted(made):
        text = page.read_text(encoding="utf-8")
        for match in NO_TITLE.finditer(text):
            yield f"{page}:{text.count(chr(10), 0, match.start()) + 1}: a fold without a title"


def early_notebooks(book):
    entries = re.findall(r'^    \[ "(.*?)", ', (book / "navtreedata.js").read_text(encoding="utf-8"), re.MULTILINE)
    for place, title in enumerate(entries):
        chapter = re.fullmatch(r"Notebook of chapter (\d+)", title)
        if chapter and not any(entry.startswith(chapter.group(1) + " ") for entry in entries[:place]):
            yield f"{book / 'navtreedata.js'}: '{title}' is listed before the chapter"


def dead_links(book):
    pages = {page: Page(page.read_text(encoding="utf-8")) for page in sorted(book.rglob("*.html"))}
    for page, content in pages.items():
        for line, link in content.links:
            if not is_local(link):
                continue
            address, anchor = urldefrag(link)
            target = (page.parent / unquote(address.split("?")[0])).resolve() if address else page
            if not target.exists():
                yield page, f"{page}:{line}: no such file: {link}"
            elif anchor and target in pages and unquote(anchor) not in pages[target].anchors:
                yield page, f"{page}:{line}: no such anchor: {link}"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    book, root = (Path(argument).resolve() for argument in sys.argv[1:])
    made = finish(book, root)
    dead = list(dead_links(book))
    for _, message in dead:
        print(message, file=sys.stderr)
    others = [*nameless_folds(made), *unknown_pages(book, made), *early_notebooks(book)]
    for message in others:
        print(message, file=sys.stderr)
    if ours := sum(page in made for page, _ in dead) + len(others):
        sys.exit(f"book.py: {ours} faults")


if __name__ == "__main__":
    main()
