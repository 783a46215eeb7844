"""Prepares Markdown for Doxygen, and knows the pages and their anchors before they are made.

Doxygen's names of pages and anchors differ from version to version. It numbers headings across all files, and takes a
formula for Markdown. So it gets Markdown in which
  - a heading ends with a word that book.py turns into an anchor, the one that GitHub gives it (`#03-shared_tree`);
  - a link to a Markdown file of the book, or to a heading, leads to the page and the anchor themselves;
  - a formula ($...$ in a line, $$...$$ by itself) is a word that book.py replaces by MathML;
  - a comment `<!-- book: what -->` by itself is a word that book.py replaces by what book_course.py makes.
Code and comments stay as they are, and lines keep their numbers.
"""

import hashlib
import html
import re
from pathlib import Path
from urllib.parse import unquote, urldefrag

FENCE = re.compile(r"[ >]*(`{3,}|~{3,})")
HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
ITEM = re.compile(r"\s*([-*+]|\d+[.)])\s")
# What stays as it is within prose.
KEPT = re.compile(r"<!--.*?-->|<(code|pre)\b.*?</\1>|(?<!`)(`+)(?!`).+?(?<!`)\2(?!`)", re.DOTALL)
HTML_CODE = re.compile(r"<code>([^<]+)</code>")
LINK = re.compile(r"\]\(([^()\s]+)((?:\s+\"[^\"]*\")?)\)")
FORMULA = re.compile(r"(?<![\\$])\$\$(?P<block>(?:[^$\\]|\\.)+?)\$\$(?!\$)"
                     r"|(?<![\\$\w])\$(?=\S)(?P<inline>(?:[^$\\]|\\.)+?)(?<!\s)\$(?![\w$])", re.DOTALL)
WORD = re.compile(r"formulaX([0-9a-f]{16})X")
MADE = re.compile(r"<!-- book: (.*?) -->\s*")
MADE_WORD = re.compile(r"<p[^>]*>\s*madeX(\d+)X\s*</p>")


class Formula:
    def __init__(self, tex, block, file, line):
        self.tex, self.block, self.file, self.line = " ".join(tex.split()), block, file, line
        self.key = hashlib.sha256(f"{block} {self.tex}".encode()).hexdigest()[:16]
        self.word = f"formulaX{self.key}X"


def as_span(match):
    """Code in HTML, written as a span of Markdown: Doxygen 1.9.8 confuses brackets in it with a link."""
    code = html.unescape(" ".join(match.group(1).split()))
    mark = "``" if "`" in code else "`"
    return mark + code + mark + "\n" * match.group().count("\n")


def is_local(link):
    return not re.match(r"[a-z]+:|//", link)


def slug(heading):
    """A heading's anchor on GitHub, except for the number that distinguishes equal headings."""
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", heading)  # the text of a link
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def plain(markdown):
    """Text without its markup."""
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", markdown)
    return re.sub(r"[`*]|\\(?=[\W_])", "", text).strip()


def blocks(text):
    """Pairs (is it prose?, lines): a block is code, a blank line, a heading, or other lines between these."""
    block, fence, blank = [], "", True
    start = 0  # the column where the text of the current list item begins
    for line in text.splitlines(keepends=True):
        mark, indent = FENCE.match(line), len(line) - len(line.lstrip(" \t"))
        if fence:
            block.append(line)
            if mark and mark.group(1).startswith(fence) and not line.strip().strip(fence[0]):
                yield False, block
                block, fence, blank = [], "", True
            continue
        heading = HEADING.match(line.rstrip("\n"))
        if block and (mark or heading or not line.strip()):
            yield True, block
            block = []
        if not line.strip():
            yield False, [line]
            blank = True
            continue
        if blank or heading or mark:  # otherwise the line continues the one above, whatever its indent
            start = min(start, indent)
        if mark:
            block, fence = [line], mark.group(1)
        elif blank and indent >= start + 4:
            yield False, [line]
        elif heading:
            yield True, [line]
            blank = True
        else:
            item = ITEM.match(line)
            start = len(item.group()) if item else start
            block.append(line)
            blank = False
    if block:
        yield not fence, block


class Source:
    """A Markdown file: its page, its title, its headings (level, text, anchor, the word at their end)."""

    def __init__(self, root, path, number):
        self.root, self.path, self.file = root, path, root / path
        stem = re.sub(r"(/?README)?\.md$", "", path).replace("/", "-")
        self.name = stem or "index"
        self.page = f"{self.name}.html"
        self.text = self.file.read_text(encoding="utf-8")
        self.headings, seen = [], {}
        self.made = []  # pairs (line, what book_course.py is to make)
        line = 1
        for prose, lines in blocks(self.text):
            if match := prose and MADE.fullmatch("".join(lines)):
                self.made.append((line, match.group(1)))
            line += len(lines)
            if match := prose and HEADING.match(lines[0].rstrip("\n")):
                text, anchor = match.group(2), slug(match.group(2))
                seen[anchor] = seen.get(anchor, -1) + 1
                anchor += f"-{seen[anchor]}" if seen[anchor] else ""
                self.headings.append((len(match.group(1)), text, anchor, f"headingX{number}X{len(self.headings)}X"))
        self.title = plain(self.headings[0][1]) if self.headings and self.headings[0][0] == 1 else ""


class Sources:
    """All Markdown files of the book, by path."""

    def __init__(self, root, paths):
        self.root = root
        self.all = {path: Source(root, path, number) for number, path in enumerate(paths)}

    def page_of(self, source, link):
        """The place in the book that a link of a file leads to, or None."""
        address, anchor = urldefrag(link)
        if not address:
            return f"{source.page}#{anchor}"
        try:
            path = (source.file.parent / unquote(address)).resolve().relative_to(self.root).as_posix()
        except ValueError:
            return None
        if path not in self.all:
            return None
        return self.all[path].page + (f"#{anchor}" if anchor else "")

    def unknown_anchors(self):
        """Messages about links to headings that there are not."""
        anchors = {source.page: {anchor for _, _, anchor, _ in source.headings} for source in self.all.values()}
        for source in self.all.values():
            line = 1
            for prose, lines in blocks(source.text):
                text = KEPT.sub(lambda kept: "\n" * kept.group().count("\n"), "".join(lines)) if prose else ""
                for match in LINK.finditer(text):
                    to = self.page_of(source, match.group(1)) if is_local(match.group(1)) else None
                    page, anchor = urldefrag(to or "")
                    if anchor and anchor not in anchors[page]:
                        at = line + text.count("\n", 0, match.start())
                        yield f"{source.path}:{at}: no such heading: {match.group(1)}"
                line += len(lines)

    def convert(self, source, formulas=None):
        """The file as Doxygen gets it. Its formulas are added to the list `formulas`."""
        converted, line, heading, made = [], 1, 0, 0
        for prose, lines in blocks(source.text):
            text = "".join(lines)
            if prose and MADE.fullmatch(text):
                text = f"madeX{made}X\n"
                made += 1
            elif prose:
                text = self.convert_prose(source, text, line, formulas)
                if HEADING.match(lines[0].rstrip("\n")):
                    mark = source.headings[heading][3]
                    if heading == 0:  # Doxygen names the main page; the first heading names any other page
                        mark = "" if source.path == "README.md" else f"{{#{source.name}}}"
                    heading += 1
                    text = f"{text.rstrip()} {mark}\n"
            converted.append(text)
            line += len(lines)
        return "".join(converted)

    def convert_prose(self, source, text, line, formulas):
        table = text.lstrip().startswith("|")

        def link(match):
            to = self.page_of(source, match.group(1)) if is_local(match.group(1)) else None
            return f"]({to}{match.group(2)})" if to else match.group()

        def formula(match, start):
            tex = match.group("block") or match.group("inline")
            at = line + text.count("\n", 0, start + match.start())
            made = Formula(tex.replace("\\|", "|") if table else tex, bool(match.group("block")), source.path, at)
            if formulas is not None:
                formulas.append(made)
            return made.word + "\n" * match.group().count("\n")

        def change(part, start):
            return LINK.sub(link, FORMULA.sub(lambda match: formula(match, start), part))

        changed, end = [], 0
        for kept in KEPT.finditer(text):
            changed += [change(text[end:kept.start()], end), HTML_CODE.sub(as_span, kept.group())]
            end = kept.end()
        return "".join([*changed, change(text[end:], end)])
