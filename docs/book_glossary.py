"""The glossary of the book: docs/glossary.md defines each word once, and its first use in a lesson leads there.

A word is a heading of the second level, or several with commas between them. Below it, `<!-- also: a, b -->` has other
words and forms (a plural in -s needs none), and `<!-- not: c d -->` phrases in which the word means something else. The
first paragraph is the meaning, which a lesson shows beside the word; what follows leads to a section of a lesson. Words
in headings, code, formulas, links and tables are left alone. A use within a fold counts if there is no other, since
many readers leave folds closed.
"""

import html
import re
from urllib.parse import urldefrag

from book_markdown import HEADING, LINK, blocks, plain

PATH = "docs/glossary.md"
NOTE = re.compile(r"<!-- (also|not): (.*?) -->\s*")
TAG = re.compile(r"(<!--.*?-->|<[^<>]*>)", re.DOTALL)
TAG_NAME = re.compile(r"<(/?)([a-z]\w*)")
VOID = {"img", "br", "hr", "input", "link", "meta", "col"}
TEXT = {"p", "li"}
KEPT = {"a", "code", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "summary", "math", "svg", "script", "style", "table"}
KEPT_CLASS = re.compile(r'class="(?:fragment|image|caption|toc|term)\b')


class Term:
    def __init__(self, line, title, anchor):
        self.line, self.title, self.anchor = line, title, anchor
        self.words, self.others, self.meaning, self.lessons = title.split(", "), [], "", 0


class Glossary:
    """Terms of a page, and what is wrong with it: messages with file and line."""

    def __init__(self, source):
        self.page, self.terms, self.wrong = source.page, [], []
        anchors = iter(source.headings)
        line = 1
        for prose, lines in blocks(source.text):
            text = "".join(lines)
            if match := prose and HEADING.match(lines[0].rstrip("\n")):
                _, title, anchor, _ = next(anchors)
                if len(match.group(1)) == 2:
                    self.terms.append(Term(line, plain(title), anchor))
            elif prose and self.terms:
                self.add(self.terms[-1], text)
            line += len(lines)
        self.check(source.path)

    def add(self, term, text):
        while match := NOTE.match(text):
            (term.words if match.group(1) == "also" else term.others).extend(match.group(2).split(", "))
            text = text[match.end():]
        if not term.meaning:
            term.meaning = " ".join(plain(text).split())
        term.lessons += sum(urldefrag(link).url.startswith("../chapters/") for link, _ in LINK.findall(text))

    def check(self, path):
        lines = {}
        for term in self.terms:
            for word in term.words:
                first = lines.setdefault(word.lower(), term.line)
                if first != term.line:
                    self.wrong.append(f"{path}:{term.line}: line {first} defines '{word}' already")
            if not term.meaning:
                self.wrong.append(f"{path}:{term.line}: '{term.title}' has no meaning")
            if not term.lessons:
                self.wrong.append(f"{path}:{term.line}: '{term.title}' leads to no lesson")

    def linked(self, page):
        """A page with the first use of each word as a link that shows its meaning."""
        parts = TAG.split(page)
        uses = sorted(use for term in self.terms if (use := self.first_use(term, parts)))
        for place, start, end, term in reversed(uses):  # so that the places before it stay
            text = parts[place]
            parts[place] = text[:start] + self.link(self.terms[term], text[start:end]) + text[end:]
        return "".join(parts)

    def first_use(self, term, parts):
        """@returns (part, start, end, number of the term), or None"""
        word = re.compile(r"(?<![\w-])(?:%s)s?(?![\w-])" % "|".join(
            re.escape(word).replace(r"\ ", r"\s+").replace("'", "(?:'|’)")
            for word in sorted(term.words, key=len, reverse=True)), re.IGNORECASE)
        longer = term.others + [other for one in self.terms if one is not term for other in one.words]
        folded = None
        for place, in_fold in places(parts):
            for match in word.finditer(parts[place]):
                if is_part_of_longer(match, longer):
                    continue
                use = (place, match.start(), match.end(), self.terms.index(term))
                if not in_fold:
                    return use
                folded = folded or use
        return folded

    def link(self, term, text):
        name = f"meaning-{term.anchor}"
        return (f'<span class="term"><a href="{self.page}#{term.anchor}" aria-describedby="{name}">{text}</a>'
                f'<span class="meaning" id="{name}" role="tooltip">{html.escape(term.meaning, quote=False)}</span></span>')


def is_part_of_longer(match, words):
    """Whether it is a part of one of these phrases, as "launch" is of "cooperative launch"."""
    text, found = match.string, match.group().lower()
    for word in words:
        at = word.lower().find(found)
        while at >= 0 and len(word) > len(found):
            start = match.start() - at
            if start >= 0 and " ".join(text[start:start + len(word)].lower().split()) == word.lower():
                return True
            at = word.lower().find(found, at + 1)
    return False


def places(parts):
    """Pairs (part, is it in a fold?) of the text in paragraphs and lists. `parts` are text and tags in turn."""
    open_tags = []  # pairs (name, is its text left alone?)
    for place, part in enumerate(parts):
        if place % 2 == 0:
            names = {name for name, _ in open_tags}
            if part.strip() and not TEXT.isdisjoint(names) and not any(kept for _, kept in open_tags):
                yield place, "details" in names
        elif match := TAG_NAME.match(part):
            closes, name = match.groups()
            if not closes and name not in VOID:
                open_tags.append((name, name in KEPT or bool(KEPT_CLASS.search(part))))
            elif closes and name in {one for one, _ in open_tags}:
                while open_tags.pop()[0] != name:
                    pass
