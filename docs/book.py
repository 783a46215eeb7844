#!/usr/bin/env python3
"""Makes the book: Doxygen reads the lessons, the pages of docs/ and the headers, then its pages are finished and checked.

usage: book.py DOXYFILE BOOK ROOT   DOXYFILE: made of Doxyfile.in; BOOK: the folder to make; ROOT: the repository
       book.py --filter ROOT FILE   prints what Doxygen reads in place of a Markdown file (book_markdown.py)

The style is that of the package doxygen-awesome-css, or Doxygen's own if that is not installed. docs/README.md lists
the pages by reader; lessons and notebooks are found in chapters/. A page for contributors links to the notebooks.
Doxygen hands a Markdown link to a file that is not one of its pages through as it is, and shows an SVG picture as an
object, which keeps its width where the window has less. So in the pages made of Markdown:
  - a link to a file of the repository leads to its source page: Doxygen's for a header, one made here for another file;
  - an SVG picture becomes an image;
  - a fold that holds lists or paragraphs is one fold: Doxygen ends it before each of them and begins another;
  - headings are below the page's title, have their anchors, and are listed beside the text;
  - what a page asks for with `<!-- book: WHAT -->` is put there (book_course.py);
  - a lesson's first use of a word leads to the glossary (book_glossary.py), and it ends with links to its neighbours.
All of Doxygen's pages get names for their parts, for readers who do not see them (NAMED), and load the book's scripts.
A class whose nested classes are all private loses its link to a list of them, which Doxygen 1.9.4 does not write.
Then the links of all pages are followed. A link that leads nowhere in the book, by file or by anchor, is printed. In a
page made of Markdown it is an error; the links that Doxygen adds differ from version to version. Other errors are a
fold without a title, a page that docs/README.md does not list, a formula that cannot be read (book_formulas.py), a
Markdown link to a heading that there is not, a faulty entry of the glossary, and a word of search_words.txt that does
not find its section (book_search.py).
"""

import html
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, unquote, urldefrag

sys.dont_write_bytecode = True  # beside the sources
import book_course  # noqa: E402
import book_formulas  # noqa: E402
import book_glossary  # noqa: E402
import book_search  # noqa: E402
from book_markdown import MADE_WORD, WORD, Sources, is_local, plain  # noqa: E402

HERE = Path(__file__).resolve().parent
STYLES = ["doxygen-awesome.css", "doxygen-awesome-sidebar-only.css"]
SCRIPTS = ["search.js", "book.js"]
TOOLS = """
<div id="book-tools"><input id="book-search" type="search" placeholder="Search the book ( / )"
aria-label="Search the book" autocomplete="off">
<button id="book-scheme" type="button"></button></div>
<div id="book-results" role="region" aria-label="Search results" hidden></div>
"""
SOURCE_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Rungs: {path}</title>{styles}{scripts}</head>
<body class="source"><main><div class="header"><div class="headertitle">
<div class="title" role="heading" aria-level="1">{path}</div></div></div><div class="contents"><p><a href="{up}{page}">{title}</a></p>
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
    '<div id="doc-content">': '<div id="doc-content" role="main" tabindex="0">',
    '<div id="nav-path"': '<div id="nav-path" role="navigation" aria-label="This page"',
    '<div class="fragment">': '<div class="fragment" tabindex="0">',
    '<pre class="fragment">': '<pre class="fragment" tabindex="0">',
    '<div class="memproto">': '<div class="memproto" tabindex="0">',
    '<table class="markdownTable">': '<table class="markdownTable" tabindex="0">',
    '<table class="memberdecls">': '<table class="memberdecls" tabindex="0">',
    '<div id="main-nav"></div>': '<div id="main-nav"></div>' + TOOLS,
    '<div id="projectname">Rungs': '<div id="projectname"><a href="index.html">Rungs</a>',
}
NO_HEADING = re.compile(r'<th class="(\w*)">\s*</th>')
TITLE, AS_HEADING = '<div class="title">', '<div class="title" role="heading" aria-level="1">'
CONTENTS = '<div class="contents">'
HREF = re.compile(r'(<a\b[^>]*?\bhref=")([^"]*)(")')
SECTION = re.compile(r"<h([1-6])>([^\n]*?)\s*(headingX\d+X\d+X)\s*</h\1>")
CONTENTS_END = "</div></div><!-- contents -->"


class Fault(Exception):
    """What keeps the book from being made, in words."""


# ------------------------------------------------------------------------------------------- what there is


def sources_in(root):
    """The Markdown files of the book, lessons first."""
    lessons, notebooks = (sorted(root.glob(f"chapters/*/{name}.md")) for name in ("README", "notebook"))
    docs = [file for file in sorted(root.glob("docs/*.md")) if file.name != "README.md"]
    others = [file for file in [root / "autograder/attacks/README.md"] if file.exists()]
    return Sources(root, [file.relative_to(root).as_posix() for file in
                          [root / "README.md", *lessons, *docs, *others, *notebooks]])


def groups_in(root, sources):
    """Pairs of a heading and the pages below it, as the navigation shows them."""
    found = {"Lessons": [source for path, source in sources.all.items() if re.fullmatch(r"chapters/.*/README\.md", path)]}
    title = None
    for line in (root / "docs/README.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            title = line[3:].strip()
        for link in re.findall(r"^- \[[^]]*\]\(([^)]*\.md)\)", line) if title else []:
            path = Path(os.path.normpath(Path("docs") / link)).as_posix()
            if path in sources.all:
                found.setdefault(title, []).append(sources.all[path])
    return [(title, pages) for title, pages in found.items() if pages]


def packaged(path):
    """A file of a package that is installed, or was unpacked where the launcher says."""
    for prefix in [*os.environ.get("CMAKE_PREFIX_PATH", "").split(":"), "/usr/local", "/usr"]:
        if prefix and (file := Path(prefix) / path).exists():
            return file
    return None


# ------------------------------------------------------------------------------------------------- Doxygen


def layout(groups):
    def tab(kind, title, inner="", url=""):
        address = f' url="{html.escape(url)}"' if url else ""
        return f'<tab type="{kind}" visible="yes"{address} title="{html.escape(title)}">{inner}</tab>'

    def tabs(group):
        return "".join(tab("user", page.title, url=f"@ref {page.name}") for page in group)

    pages = "".join(tab("usergroup", title, tabs(group), "[none]") for title, group in groups)
    return ('<doxygenlayout version="1.0"><navindex>' + tab("mainpage", "Start") + pages + tab(
        "usergroup", "API", tab("classlist", "Classes") + tab("hierarchy", "Class hierarchy") + tab("filelist", "Files"),
        "[none]") + "</navindex></doxygenlayout>\n")


def run_doxygen(doxyfile, book, root, sources, groups):
    """@returns the names of the styles that the pages load"""
    try:
        version = subprocess.run(["doxygen", "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise Fault(f"doxygen does not run ({error}); its package is doxygen") from error
    theme = [file for style in STYLES if (file := packaged(f"share/doxygen-awesome-css/{style}"))]
    if len(theme) < len(STYLES):
        print("book.py: the package doxygen-awesome-css is not installed, so the book has Doxygen's plain style",
              file=sys.stderr)
        theme = [HERE / "theme/plain.css"]
    styles = [*theme, HERE / "theme/book.css"]
    (book / "layout.xml").write_text(layout(groups), encoding="utf-8")
    settings = {
        "@INCLUDE": doxyfile,
        "OUTPUT_DIRECTORY": book,
        "INPUT +": " ".join(str(source.file) for source in sources.all.values()),
        "FILTER_PATTERNS": f'"*.md={sys.executable} {HERE / "book.py"} --filter {root}"',
        "LAYOUT_FILE": book / "layout.xml",
        "HTML_EXTRA_STYLESHEET": " ".join(str(style) for style in styles),
        "HTML_EXTRA_FILES": " ".join(str(HERE / "theme" / script) for script in SCRIPTS),
    }
    if tuple(map(int, re.findall(r"\d+", version)[:3])) >= (1, 9, 5):
        settings["HTML_COLORSTYLE"] = "LIGHT"  # dark colours are the theme's
    (book / "Doxyfile").write_text("".join(f"{key}= {value}\n" for key, value in settings.items()), encoding="utf-8")
    if subprocess.run(["doxygen", book / "Doxyfile"], cwd=root, check=False).returncode:
        raise Fault("doxygen failed; its messages are above")
    return [style.name for style in styles]


# ------------------------------------------------------------------------------------------------ formulas


def read_formulas(sources):
    """@returns all formulas, and by key what each of them is in the book"""
    formulas = []
    for source in sources.all.values():
        sources.convert(source, formulas)
    converter = shutil.which("blahtexml")
    if formulas and not converter:
        print("book.py: the package blahtexml is not installed, so formulas are shown as TeX", file=sys.stderr)
    try:
        shown, wrong = book_formulas.convert_all(formulas, converter)
    except OSError as error:
        raise Fault(str(error)) from error
    for message in wrong:
        print(message, file=sys.stderr)
    if wrong:
        raise Fault(f"{len(wrong)} formulas that {converter} cannot read")
    return formulas, shown


# ---------------------------------------------------------------------------------- glossary and the course


def read_glossary(sources):
    """@returns the glossary, if its words and all links to headings are in order"""
    glossary = book_glossary.Glossary(sources.all[book_glossary.PATH])
    wrong = [*sources.unknown_anchors(), *glossary.wrong]
    for message in wrong:
        print(message, file=sys.stderr)
    if wrong:
        raise Fault(f"{len(wrong)} faults in links and in the glossary")
    return glossary


def make_parts(sources):
    """@returns by page what it asks for with `<!-- book: WHAT -->`"""
    made = {}
    for path, source in sources.all.items():
        for line, what in source.made:
            try:
                made.setdefault(source, []).append(book_course.make(what, sources))
            except book_course.Wrong as wrong:
                raise Fault(f"{path}:{line}: {wrong}") from wrong
    return made


# --------------------------------------------------------------------------------------------------- pages


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


def in_head(styles, up=""):
    """What a page loads: pairs of styles and scripts."""
    return ("".join(f'<link href="{up}{style}" rel="stylesheet">' for style in styles),
            "".join(f'<script src="{up}{script}"></script>' for script in SCRIPTS))


def write_source_page(book, root, file, page, title, styles):
    """A page with the text of `file`; returns its address."""
    path = file.relative_to(root)
    address, up = Path("source") / f"{path}.html", "../" * len(path.parts)
    lines = "".join(f'<div class="line"><span class="lineno">{number:5}</span> {html.escape(line)}</div>\n'
                    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1))
    styles, scripts = in_head(["doxygen.css", *styles], up)
    (book / address).parent.mkdir(parents=True, exist_ok=True)
    (book / address).write_text(SOURCE_PAGE.format(path=path, up=up, page=page, title=html.escape(title), lines=lines,
                                                   styles=styles, scripts=scripts), encoding="utf-8")
    return quote(address.as_posix())


def named(text):
    for part, with_name in NAMED.items():
        text = text.replace(part, with_name)
    text = NO_HEADING.sub(r'<td class="\1"></td>', text)
    text = text.replace("</head>", in_head([])[1] + "\n</head>", 1)
    if TITLE in text:
        return text.replace(TITLE, AS_HEADING, 1)
    if "<h1" in text:
        return text
    heading = f'<div class="header"><div class="headertitle">{AS_HEADING}{html.escape(title_of(text))}</div></div></div>\n'
    # A list of members has no title, and begins with headings of the third level.
    return text.replace("<h3>", "<h2>").replace("</h3>", "</h2>").replace(CONTENTS, heading + CONTENTS, 1)


def table_of_contents(source):
    items = [(level, text, anchor) for level, text, anchor, _ in source.headings if level in (2, 3)]
    if len(items) < 3:
        return ""
    links = "".join(f'<li class="level{level - 1}"><a href="#{anchor}">{html.escape(plain(text))}</a></li>'
                    for level, text, anchor in items)
    return ('<div class="toc" role="navigation" aria-label="On this page"><details><summary>On this page</summary>'
            f"<ul>{links}</ul></details></div>\n")


def steps(source, row):
    """Links from a page to its neighbours in a row of pages."""
    place = row.index(source)
    links = [f'<a rel="{rel}" href="{page.page}"><span>{word}</span> {html.escape(page.title)}</a>'
             for rel, word, page in (("prev", "Previous", row[place - 1] if place else None),
                                     ("next", "Next", row[place + 1] if place + 1 < len(row) else None)) if page]
    return '<nav class="steps" aria-label="Lessons">' + "".join(links) + "</nav>\n"


def rename_scripts(book):
    """A part of the tree is a script with a variable that has the script's name. It must not begin with a digit."""
    names = {file.stem: f"at_{file.stem}" for file in book.glob("[0-9]*.js")}
    for file in list(book.glob("*.js")) if names else []:
        text = file.read_text(encoding="utf-8")
        text = re.sub(r'"(\d\w*)"', lambda match: f'"{names.get(match.group(1), match.group(1))}"', text)
        if file.stem in names:
            text = text.replace(f"var {file.stem} ", f"var {names[file.stem]} ", 1)
            file.unlink()
        (book / f"{names.get(file.stem, file.stem)}.js").write_text(text, encoding="utf-8")


def finish(book, root, sources, groups, styles, glossary, parts):
    """@returns the pages that are made of Markdown"""
    pages = {page: named(page.read_text(encoding="utf-8")) for page in book.glob("*.html")}
    for page, text in pages.items():
        if 'id="nested-classes"' not in text:
            text = NO_CLASSES.sub("", text)
        page.write_text(text, encoding="utf-8")
    rename_scripts(book)
    source_pages = {title_of(text): page.name for page, text in pages.items() if page.name.endswith("_source.html")}
    anchors = {word: (level, anchor) for source in sources.all.values() for level, _, anchor, word in source.headings}
    lessons = dict(groups).get("Lessons", [])
    for source in sources.all.values():
        page = book / source.page
        if page not in pages:
            raise Fault(f"{source.path}: Doxygen made no page of it; does it begin with its title?")

        def follow(match):
            before, link, after = match.groups()
            target = (source.file.parent / unquote(urldefrag(html.unescape(link)).url)).resolve()
            if not is_local(link) or (book / urldefrag(link).url).exists() or not target.is_file():
                return match.group()
            shown = source_pages.get(f"{target.relative_to(root)} Source File")
            return before + (shown or write_source_page(book, root, target, page.name, source.title, styles)) + after

        def section(match):
            title, (level, anchor) = match.group(2), anchors[match.group(3)]
            return (f'<h{level} id="{anchor}">{title} '
                    f'<a class="here" href="#{anchor}" aria-label="Link to this section">#</a></h{level}>')

        text = BROKEN_FOLD.sub("", SVG_OBJECT.sub(r'<img src="\1" alt="\2">', pages[page]))
        text = HREF.sub(follow, SECTION.sub(section, text))
        if source in lessons:
            text = glossary.linked(text)
        text = MADE_WORD.sub(lambda match: parts[source][int(match.group(1))], text)
        text = text.replace(CONTENTS, CONTENTS + "\n" + table_of_contents(source), 1)
        if source in lessons:
            text = text.replace(CONTENTS_END, steps(source, lessons) + CONTENTS_END, 1)
        page.write_text(text, encoding="utf-8")
    return {book / source.page for source in sources.all.values()}


# -------------------------------------------------------------------------------------------------- checks


def unlisted_pages(sources, groups):
    listed = {source.path for _, pages in groups for source in pages}
    for path in sources.all:
        if path not in listed and path != "README.md" and not path.endswith("/notebook.md"):
            yield f"{path}: docs/README.md does not list it, so no reader finds it"


def nameless_folds(made):
    for page in sorted(made):
        text = page.read_text(encoding="utf-8")
        for match in NO_TITLE.finditer(text):
            yield f"{page}:{text.count(chr(10), 0, match.start()) + 1}: a fold without a title"


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


# ---------------------------------------------------------------------------------------------------- main


def make(doxyfile, book, root):
    shutil.rmtree(book, ignore_errors=True)  # so that no page of yesterday hides a dead link
    book.mkdir(parents=True)
    sources = sources_in(root)
    groups = groups_in(root, sources)
    glossary, parts = read_glossary(sources), make_parts(sources)
    formulas, shown = read_formulas(sources)
    styles = run_doxygen(doxyfile, book, root, sources, groups)
    made = finish(book / "html", root, sources, groups, styles, glossary, parts)
    for file in [*(book / "html").glob("*.html"), *(book / "html").glob("*.js")]:
        if WORD.search(text := file.read_text(encoding="utf-8")):
            file.write_text(book_formulas.put_in(text, shown, formulas, file.suffix == ".js"), encoding="utf-8")
    index = book_search.index_of(book / "html", sources, dict(groups).get("Lessons", []), title_of)
    book_search.write_index(book / "html", index)
    misses = book_search.try_words(book, [HERE / "theme/search.js", book / "html/search_index.js"], sources,
                                   HERE / "search_words.txt")
    if misses is None:
        print("book.py: the package duktape is not installed, so the search was not tried", file=sys.stderr)
    dead = list(dead_links(book / "html"))
    others = [*nameless_folds(made), *unlisted_pages(sources, groups), *(misses or [])]
    for message in [*(message for _, message in dead), *others]:
        print(message, file=sys.stderr)
    if ours := sum(page in made for page, _ in dead) + len(others):
        raise Fault(f"{ours} faults")


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "--filter":
        root, file = (Path(argument).resolve() for argument in sys.argv[2:])
        sources = sources_in(root)
        sys.stdout.reconfigure(encoding="utf-8")
        print(sources.convert(sources.all[file.relative_to(root).as_posix()]), end="")
    elif len(sys.argv) == 4:
        make(*(Path(argument).resolve() for argument in sys.argv[1:]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main()
    except Fault as fault:
        sys.exit(f"book.py: {fault}")
