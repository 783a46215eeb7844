#!/usr/bin/env python3
"""Holds prose to plain English. What it finds is not always wrong, but readers stumble over it.

    docs/english.py [FILE...]    these files, or the whole tree

It reads Markdown, manifests, the texts of figures, and the comments and messages of sources. Code, formulas, generated
regions, recorded outputs and submissions are not prose. english.toml lists exceptions, each with its reason.
Exit status: 0 without errors (warnings are printed, too), 1 with errors.
"""

import bisect
import html
import io
import os
import re
import shutil
import subprocess
import sys
import tokenize
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class Rule:
    def __init__(self, name, instead, pattern, error=True):
        self.name, self.instead, self.pattern, self.error = name, instead, re.compile(pattern), error


ITEMS = (r"(?:bars?|files?|threads?|rows?|launch(?:es)?|bytes|barriers|floats|registers|points?|sectors?|word|s|ms|MB|GB"
         r"|steps|cycles|requests)")
RULES = [
    Rule("stands", "is, are, is described in",
         r"\b(?:stands?|stood|standing)\b(?!-)(?! (?:still|for|out|up|alone|in the way|in for|between|by)\b)"
         r"(?<!verdict stands)(?<!grades stand)"),
    Rule("except", "except", r"\bbut for\b(?! [nN]\b)"),
    Rule("a for per", "per",
         r"\b(?:one|two|three|four|eight|sixteen|N|\d[\d.,]*)(?: more)? " + ITEMS + r" an? (?:rung|row|run|thread|system|step"
         r"|lane|point|round|block|warp|submission|call|second|turn|launch)\b"
         r"(?! (?:has|is|takes?|costs?|makes?|moves?|gets?))"
         r"|\b(?:rows|points|bytes|cycles|steps) a (?:second|point|row|thread)\b"),
    Rule("where for if", "if, when",
         r"(?:(?<=[.;:] )|^)Where (?:there|it|that|none|two|they|neither|nothing|run mode|a|the|no)\b(?=[^.:;]*,)"
         r"(?![^.]*\?)"),
    Rule("told", "is reported, shows, covers",
         r"\b(?:is|are|was|were|been) told\b(?! (?:to|apart|from)\b)|\btells? (?:of|neither)\b"),
    Rule("come to", "reach", r"\bcom(?:e|es|ing) to (?:the|its|every|each) (?:barrier|end|place)\b"),
    Rule("behind", "after",
         r"\bbehind (?:the|an?|it|that|which|two) (?:read|write|launch|kernel|last|early|one|barrier|atomic|declaration)\b"
         r"|queued behind"),
    Rule("is no", "is not a",
         r"(?<![Tt]here )\b(?:is|are|was) no (?:fault|source|grade|exercise|time|prediction|step|reason|UTF-8|part|answer"
         r"|bad)\b"),
    Rule("so is", "X also ...", r"(?:\band |; |\. )[sS]o (?:is|are|does|do|has) (?:a|an|the|another|one|all)\b"),
    Rule("who", "whoever, those who", r"\b(?:[Ff]or|[Bb]y) who \w+s\b"),
    Rule("fronted", "the subject first",
         r"(?:^|[.:] )(?:Ordered|Refused|Asked|Aimed|Counted|Wanted|Kept) (?:are|is|were|was)\b"),
    Rule("has the", "does X have",
         r"(?:^|[:;?,] |\b(?:What|and) )(?:has|have) (?:the|a|an) \w+ (?:two|a|an|the|to do)\b(?=[^.;]*\?)"),
    Rule("archaic", "again, also, forever", r"\b(?:anew|afresh|likewise|thereby|besides(?=[,.;])|for good)\b", error=False),
    Rule("mend", "fix", r"\bmend(?:s|ed|ing)?\b", error=False),
]
NOBODY = re.compile(r"\b[Nn]obody\b")
NOBODIES = 2  # a page
WORDS_OF_PARAGRAPH, WORDS_OF_SENTENCE = 120, 40

# A formatter breaks long lines. The rest is then a literal shorter than this next to another one, or a line of one or
# two words below a full line of a comment.
SHORT_LITERAL = 12
FULL_LINE = 85


class Passage:
    """Prose of one kind ("page", "comment" or "message") from one place: a paragraph, a comment, a literal."""

    def __init__(self, kind, lines):
        self.kind = kind
        # Code and formulas may reach over the end of a line.
        pieces = plain("\n".join(text for _, text in lines)).split("\n")
        self.text, self.starts, self.lines = "", [], []
        for (line, _), piece in zip(lines, pieces):
            self.text += " " if self.text else ""
            self.starts.append(len(self.text))
            self.lines.append(line)
            self.text += " ".join(piece.split())

    def line_of(self, position):
        return self.lines[bisect.bisect_right(self.starts, position) - 1]


class Finding:
    def __init__(self, line, kind, rule, words, instead, error=True):
        self.line, self.kind, self.rule, self.words, self.instead, self.error = line, kind, rule, words, instead, error


# ---------------------------------------------------------------------------------------------------------------------
# Readers: from a file to its passages

CODE = re.compile(r"<code>.*?</code>|<pre>.*?</pre>|(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
FORMULA = re.compile(r"\$\$.*?\$\$|(?<![\\$\w])\$(?=[^\s$])[^$]*?(?<![\s\\])\$(?!\d)", re.DOTALL)
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
TAG = re.compile(r"<[a-zA-Z/!][^<>]*>")


def lines_kept(match, text=""):
    return text + "\n" * match.group().count("\n")


def plain(text):
    """Prose without code and formulas, which leave an N."""
    text = CODE.sub(lambda m: lines_kept(m, "N"), text)
    text = FORMULA.sub(lambda m: lines_kept(m, "N"), text)
    text = LINK.sub(r"\1", text)
    return html.unescape(TAG.sub(lines_kept, text))


GENERATED = re.compile(r"<!-- (?:ladder|hints|snippet|counts|measured|summary|chapters)\b")
ITEM = re.compile(r"\s*(?:[-*] |\d+\. |>|#|\||:|@|<details>|TODO\b)")


def page(text):
    """Markdown: paragraphs, items and the cells of tables; no fences, no indented code, nothing that is generated."""
    lines, fence, generated, blank = [], None, False, True
    for number, line in enumerate(text.split("\n"), 1):
        mark = re.match(r"\s*(`{3,}|~{3,}|\$\$)", line)
        if fence:
            fence = None if line.strip().startswith(fence) or (fence == "$$" and line.rstrip().endswith("$$")) else fence
            continue
        if mark and not (mark[1] == "$$" and line.strip().endswith("$$") and len(line.strip()) > 2):
            fence = mark[1]
        generated = generated or bool(GENERATED.match(line))
        ends = not line.strip() or fence or generated or ITEM.match(line)
        if ends and lines:
            yield Passage("page", lines)
            lines = []
        prose = line.strip() and not fence and not generated and not (blank and re.match(r" {6}|    (?![-*]|\d)", line))
        if prose and line.lstrip().startswith("|"):
            for cell in re.split(r"(?<!\\)\|", line):
                yield Passage("page", [(number, cell)])
        elif prose:
            lines.append((number, re.sub(r"^\s*(?:[-*] |\d+\. |>|#+ )\s*", "", line)))
        generated = generated and "<!-- end -->" not in line
        blank = not line.strip()
    if lines:
        yield Passage("page", lines)


class Comment:
    """A line of one."""

    def __init__(self, line, column, text, alone):
        self.line, self.column, self.text, self.alone = line, column, text, alone

    def goes_on(self, above):
        """Whether it continues the line above it: it begins in the same column, after blanks only."""
        return self.alone and above is not None and (self.line, self.column) == (above.line + 1, above.column) \
            and bool(self.text.strip()) and not ITEM.match(self.text)


def comments(found):
    """Paragraphs of comments."""
    lines, above = [], None
    for comment in found:
        if lines and not comment.goes_on(above):
            yield Passage("comment", lines)
            lines = []
        if comment.text.strip():
            lines.append((comment.line, comment.text))
        above = comment
    if lines:
        yield Passage("comment", lines)


TOKEN = re.compile(r"""(?P<comment>//(?:[^\\\n]|\\.|\\\n)*)|(?P<block>/\*.*?\*/)
    |(?P<raw>\b(?:u8|[uUL])?R"(?P<mark>[^\s()\\"]{0,16})\(.*?\)(?P=mark)")
    |(?P<string>"(?:[^"\\\n]|\\.)*")|(?P<char>'(?:[^'\\\n]|\\.)+')|(?P<number>\b\d[\w']*)
    |(?P<directive>^[ \t]*\#[ \t]*(?:include|error|pragma)\b[^\n]*)""", re.DOTALL | re.MULTILINE | re.VERBOSE)
SAYS_SOMETHING = re.compile(r"[A-Za-z,:;.)] [A-Za-z(]")
MARKER = re.compile(r"^  |[A-Z]+ SOLUTION|clang-format|NOLINT|^\W*$")
NAMES_A_TEST = re.compile(r"(?:TEST_CASE|SECTION|TEST_CASE_METHOD)\s*\(\s*(?:\w+,\s*)?$")


def tokens(text):
    """The lines of comments, and literals as chains of neighbours, each (line, text)."""
    starts = [0] + [m.end() for m in re.finditer("\n", text)]
    found, chains, end = [], [], None
    for m in TOKEN.finditer(text):
        line = bisect.bisect_right(starts, m.start())
        column = m.start() - starts[line - 1]
        if m["comment"] or m["block"]:
            body = m.group()[:-2] if m["block"] else m.group()
            alone = not text[starts[line - 1]:m.start()].strip()
            for offset, part in enumerate(body.split("\n")):
                part = re.sub(r"^\s*(?://[/!]*<?|/\*+|\*+(?= |$))", "", part)
                found.append(Comment(line + offset, column, part, alone or offset > 0))
        elif m["string"]:
            joined = end is not None and not text[end:m.start()].strip()
            before = text[max(0, m.start() - 60):m.start()]
            if not joined:
                chains.append((bool(NAMES_A_TEST.search(before)), []))
            chains[-1][1].append((line, m.group()[1:-1]))
            end = m.end()
    return found, chains


def unescaped(text):
    return re.sub(r"\\(.)", lambda m: {"n": " ", "t": " "}.get(m[1], m[1]), text)


def source(text, is_test):
    """C++, CUDA, CSS and JavaScript. What a test expects is quoted, its name is not."""
    found, chains = tokens(text)
    yield from comments(found)
    for names_a_test, chain in chains:
        if (names_a_test or not is_test) and SAYS_SOMETHING.search("".join(literal for _, literal in chain)):
            yield Passage("message", [(line, unescaped(literal)) for line, literal in chain])


def torn(text):
    """What a formatter has broken: comments with the rest of a line on a line of its own, and literals of a fragment."""
    found, chains = tokens(text)
    lines = text.split("\n")
    for above, comment in zip(found, found[1:]):
        if comment.goes_on(above) and len(comment.text.split()) <= 2 and len(lines[above.line - 1]) >= FULL_LINE \
                and re.search("[a-z]", above.text) and not MARKER.search(comment.text):
            yield Finding(comment.line, "comment", "torn comment", comment.text.strip(), "it on full lines")
    for _, chain in chains:
        for (above, before), (number, literal) in zip(chain, chain[1:]):
            if number != above and (before.endswith(" ") or re.match(r" \S", literal)):
                for line, part in ((above, before), (number, literal)):
                    words = part.removesuffix("\\n")
                    if len(words) < SHORT_LITERAL and re.search("[A-Za-z]{2}", words) and not re.search("[{};=]", words):
                        yield Finding(line, "message", "torn literal", f'"{part}"', "it broken elsewhere")


MANIFEST = re.compile(r"""(?P<comment>\#[^\n]*)|(?P<key>^[\w-]+(?=\s*=)|(?<=[{,]\s)\w+(?=\s*=))
    |(?P<string>\"{3}.*?\"{3}|'{3}.*?'{3}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')""", re.DOTALL | re.MULTILINE | re.VERBOSE)
QUOTED = {"change", "told"}  # keys whose values are code and outputs


def manifest(text):
    """TOML."""
    found, key = [], ""
    for m in MANIFEST.finditer(text):
        line = text.count("\n", 0, m.start()) + 1
        if m["comment"]:
            begin = text.rfind("\n", 0, m.start()) + 1
            found.append(Comment(line, m.start() - begin, m.group().lstrip("# "), not text[begin:m.start()].strip()))
        elif m["key"]:
            key = m.group()
        elif key not in QUOTED and SAYS_SOMETHING.search(m.group()):
            body = m.group().strip("\"'")
            yield Passage("message", [(line + offset, unescaped(part)) for offset, part in enumerate(body.split("\n"))])
    yield from comments(found)


def script(text, is_test):
    """Python."""
    found, last = [], None
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            alone = not token.line[:token.start[1]].strip()
            found.append(Comment(*token.start, token.string.lstrip("#! "), alone))
        elif token.type == tokenize.STRING and SAYS_SOMETHING.search(token.string) and token.string[0] != "r":
            first = last is None or last in (tokenize.NEWLINE, tokenize.INDENT, tokenize.NL, tokenize.COMMENT)
            body = re.sub(r"^\w*(\"{3}|'{3}|\"|')(.*)\1$", r"\2", token.string, flags=re.DOTALL)
            if not is_test or first:
                lines = [(token.start[0] + i, part) for i, part in enumerate(body.split("\n"))]
                while lines:  # paragraphs of a docstring
                    blank = next((i for i, (_, part) in enumerate(lines) if not part.strip()), len(lines))
                    if lines[:blank]:
                        yield Passage("comment" if first else "message", lines[:blank])
                    lines = lines[blank + 1:]
        if token.type not in (tokenize.NL, tokenize.COMMENT):
            last = token.type
    yield from comments(found)


def shell(text):
    """Shell, CMake and YAML: comments, and literals of one line."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        for m in re.finditer(r"(?:^|(?<=\s))#+\s?(?P<comment>.*)|\"(?P<double>(?:[^\"\\]|\\.)*)\"|'(?P<single>[^']*)'", line):
            literal = m["double"] or m["single"]
            if m["comment"] is not None:
                found.append(Comment(number, m.start(), m["comment"], not line[:m.start()].strip()))
            elif literal and SAYS_SOMETHING.search(literal):
                yield Passage("message", [(number, unescaped(literal))])
    yield from comments(found)


def schema(text):
    for number, line in enumerate(text.split("\n"), 1):
        for m in re.finditer(r"\"(?:description|title|\$comment)\": \"((?:[^\"\\]|\\.)*)\"", line):
            yield Passage("message", [(number, unescaped(m[1]))])


def figure(text):
    for m in re.finditer(r"<(?:text|tspan|title|desc)[^>]*>([^<]+)<|aria-label=\"([^\"]*)\"", text):
        yield Passage("message", [(text.count("\n", 0, m.start()) + 1, html.unescape(m[1] or m[2]))])


SOURCES = {".cpp", ".hpp", ".h", ".c", ".cu", ".cuh", ".js", ".css"}
# Submissions, programs that are wrong on purpose, recorded outputs and what the translator is tested with.
# Rungs are a student's; the solutions that they are made from are read.
NOT_PROSE = re.compile(r"^chapters/[^/]*/\d\d_[^/]*\.(?:cu|toml)$|^(?:build|report|\.git|\.cache|[^/]*-out)(?:/|$)|attacks/\d|/recorded/|/corpus/|/samples/|/golden/"
                       r"|/check/tests/[^/]*\.cu$|/tests/bad_input\.cu$")
IS_TEST = re.compile(r"(^|/)tests?/|_test\.\w+$")


SHELL = {".sh", ".cmake", ".yml"}
SHELL_NAMES = {"rungs", "CMakeLists.txt", "run"}


def is_read(path):
    path = Path(path)
    return path.suffix in SOURCES | SHELL | {".md", ".toml", ".py", ".svg"} or path.name in SHELL_NAMES \
        or path.name.endswith(".schema.json")


def passages(path, text):
    suffix, is_test = Path(path).suffix, bool(IS_TEST.search(path))
    if suffix == ".md":
        return page(text)
    if suffix in SOURCES:
        return source(text, is_test)
    if suffix == ".toml":
        return manifest(text)
    if suffix == ".py":
        return script(text, is_test)
    if suffix == ".svg":
        return figure(text)
    if suffix == ".json":
        return schema(text)
    return shell(text)


# ---------------------------------------------------------------------------------------------------------------------
# From passages to findings


def check(path, text):
    nobodies = 0
    for passage in passages(path, text):
        for rule in RULES:
            for m in rule.pattern.finditer(passage.text):
                yield Finding(passage.line_of(m.start()), passage.kind, rule.name, m.group(), rule.instead, rule.error)
        for m in NOBODY.finditer(passage.text):
            nobodies += 1
            if nobodies > NOBODIES:
                yield Finding(passage.line_of(m.start()), passage.kind, "nobody", m.group(), "a passive, or the actor's name",
                              error=False)
        if passage.kind == "page":
            yield from long(passage)
    if Path(path).suffix in SOURCES:
        yield from torn(text)


def long(passage):
    words = len(passage.text.split())
    if words > WORDS_OF_PARAGRAPH:
        yield Finding(passage.lines[0], "page", "long", f"a paragraph of {words} words", "two paragraphs", error=False)
    for m in re.finditer(r"\S.*?(?:[.?!](?=\s+[A-Z*])|$)", passage.text):
        words = len(m.group().split())
        if words > WORDS_OF_SENTENCE:
            yield Finding(passage.line_of(m.start()), "page", "long", f"a sentence of {words} words", "two sentences",
                          error=False)


class Exceptions:
    """english.toml. One that is no longer needed is an error, too."""

    def __init__(self, text):
        table = tomllib.loads(text)
        entries = table.get("exception", []) + table.get("not_yet", [])
        for entry in entries:
            if not entry.get("why"):
                raise ValueError(f"an exception has no reason: {entry}")
        self.places = {(entry["path"], entry["words"]) for entry in table.get("exception", [])}
        self.folders = {(path, entry["kind"]) for entry in table.get("not_yet", []) for path in entry["paths"]}
        self.unused = self.places | self.folders

    def allow(self, path, finding):
        needed = self.places & {(path, finding.words)}
        if finding.error:
            needed |= {(folder, kind) for folder, kind in self.folders if path.startswith(folder) and kind == finding.kind}
        self.unused -= needed
        return bool(needed)


def tree():
    """The files of the tree that are not ignored."""
    git = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                         capture_output=True, text=True) if (ROOT / ".git").exists() and shutil.which("git") else None
    if git and git.returncode == 0:
        yield from (name for name in git.stdout.split("\0")
                    if name and not NOT_PROSE.search(name) and (ROOT / name).is_file())
        return
    for folder, folders, files in os.walk(ROOT):
        here = Path(folder).relative_to(ROOT)
        folders[:] = [name for name in folders if not NOT_PROSE.search(str(here / name))]
        yield from (str(here / name) for name in files if not NOT_PROSE.search(str(here / name)))


def main(names):
    allowed = Exceptions(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    errors = warnings = 0
    for name in [str(Path(name).resolve().relative_to(ROOT)) for name in names] or sorted(tree()):
        if not is_read(name):
            continue
        for finding in sorted(check(name, (ROOT / name).read_text(encoding="utf-8", errors="replace")), key=lambda found: found.line):
            if not allowed.allow(name, finding):
                errors, warnings = errors + finding.error, warnings + (not finding.error)
                print(f"{name}:{finding.line}: {'error' if finding.error else 'warning'}: \"{finding.words}\" "
                      f"({finding.rule}): say {finding.instead}")
    for place, what in [] if names else sorted(allowed.unused):
        errors += 1
        print(f"docs/english.toml: error: nothing needs the exception for {place}: {what}")
    print(f"{errors} errors, {warnings} warnings")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
