"""What theme/search.js searches: the text of the book's pages, section by section.

A section is what follows a heading in a page made of Markdown, and a documented member in the other pages. Lessons have
more weight than other pages, and these have more than the API. Notebooks and the glossary repeat what a lesson says.
"""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

LEFT_OUT = {"script", "style", "svg"}
LEFT_OUT_CLASSES = {"toc", "steps", "here", "memproto", "permalink", "ttc", "meaning"}
VOID = {"img", "br", "hr", "input", "link", "meta", "col"}
INLINE = {"a", "b", "code", "em", "i", "span", "strong", "sub", "sup", "tt"}
DEFINED = re.compile(r"(References|Referenced by|Definition at line) [^.]*\.(\w+\.)?")
API = re.compile(r"(class|struct|union|namespace).*|.*_8(cuh|hpp)")


class Sections(HTMLParser):
    """[anchor, title, text] of each section of a page; the first is what comes before the first heading."""

    def __init__(self, text, title, api):
        super().__init__()
        self.api, self.title, self.anchor, self.inside, self.left_out = api, title, "", 0, 0
        self.in_math, self.heading, self.sections = False, None, [["", title, []]]
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.apart(tag)
        values = dict(attributes)
        kind = (values.get("class") or "").split()
        if tag == "div" and "contents" in kind and not self.inside:
            self.inside = 1
        elif self.inside and tag == "div":
            self.inside += 1
        if self.left_out or tag in LEFT_OUT or not LEFT_OUT_CLASSES.isdisjoint(kind):
            self.left_out += tag not in VOID
        if tag == "math":  # its text is the TeX in it
            self.in_math = True
        elif tag == "annotation":
            self.in_math = False
        if self.api and tag == "a" and values.get("id"):
            self.anchor = values["id"]
        if self.inside and not self.left_out and (tag == "h2" and "memtitle" in kind if self.api else
                                                  re.fullmatch("h[2-6]", tag) and values.get("id")):
            self.sections.append([self.anchor if self.api else values["id"], "", []])
            self.heading = tag

    def handle_endtag(self, tag):
        self.apart(tag)
        if self.left_out:
            self.left_out -= tag not in VOID
        if tag in ("annotation", "math"):
            self.in_math = tag == "annotation"
        if tag == self.heading:
            self.heading = None
        if self.inside and tag == "div":
            self.inside -= 1

    def apart(self, tag):
        if tag not in INLINE:
            self.sections[-1][2].append(" ")

    def handle_data(self, data):
        if not self.inside or self.left_out or self.in_math:
            return
        if self.heading:
            self.sections[-1][1] += data
        else:
            self.sections[-1][2].append(data)


def sections_of(text, title, api=False):
    return [[anchor, " ".join(heading.split()), DEFINED.sub("", " ".join("".join(words).split())).strip()]
            for anchor, heading, words in Sections(text, title, api).sections]


def index_of(book, sources, lessons, title_of):
    """Pages as theme/search.js wants them."""
    index = []
    for source in [*lessons, *(source for source in sources.all.values() if source not in lessons)]:
        text = (book / source.page).read_text(encoding="utf-8")
        weight = 1.5 if source in lessons else 0.7 if source.path.endswith(("/notebook.md", "/glossary.md")) else 1
        index.append([source.page, source.title, weight, sections_of(text, source.title)])
    for page in sorted(book.glob("*.html")):
        if API.fullmatch(page.stem) and not page.stem.endswith(("-members", "_source")):
            text = page.read_text(encoding="utf-8")
            title = re.sub(r" (Class|Struct|Union|Namespace|File)( Template)? Reference$", "", title_of(text))
            index.append([page.name, title, 0.25, sections_of(text, title, api=True)])
    return index


def write_index(book, index):
    words = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
    (book / "search_index.js").write_text(f"bookSearch.index = {words};\n", encoding="utf-8")


INTERPRETERS = ["duk", "qjs", "node"]
RESULTS = 8  # the section of a word has to be among so many
PROGRAM = """
var words = %s, found = words.map(function (word) {
    return bookSearch.find(bookSearch.index, word, %d).map(function (hit) { return hit.address; });
});
(typeof print === "function" ? print : console.log)(JSON.stringify(found));
"""


def try_words(book, scripts, sources, words):
    """Searches for each word of the file `words` with the program that readers use. @returns messages about words whose
    section is not among the first results, or None if no interpreter is installed"""
    interpreter = next((program for name in INTERPRETERS if (program := shutil.which(name))), None)
    if not interpreter:
        return None
    wanted, wrong = [], []
    for number, line in enumerate(words.read_text(encoding="utf-8").splitlines(), 1):
        if line and not line.startswith("#"):
            word, target = line.rsplit(maxsplit=1)
            path, anchor = target.split("#")
            if path in sources.all:  # a student edition lacks some
                wanted.append((number, word.strip(), f"{sources.all[path].page}#{anchor}"))
    program = book / "search_test.js"
    program.write_text("\n".join([*(file.read_text(encoding="utf-8") for file in scripts),
                                  PROGRAM % (json.dumps([word for _, word, _ in wanted]), RESULTS)]), encoding="utf-8")
    run = subprocess.run([interpreter, program], capture_output=True, encoding="utf-8", check=False)
    program.unlink()
    if run.returncode:
        return [f"{interpreter} ended with {run.returncode}: {run.stdout[-1000:]}{run.stderr[-1000:]}"]
    for (number, word, address), found in zip(wanted, json.loads(run.stdout)):
        if address not in found:
            instead = ", ".join(found[:3]) or "nothing"
            wrong.append(f"{words.name}:{number}: '{word}' does not find {address}, but {instead}")
    return wrong
