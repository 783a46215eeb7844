#!/usr/bin/env python3
"""Tests how the book is made: anchors, links, formulas, and code, which has to stay as it is; the glossary; the course."""

import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True  # beside the sources
import book_course  # noqa: E402
import book_formulas  # noqa: E402
from book_glossary import Glossary  # noqa: E402
from book_markdown import Formula, Sources, slug  # noqa: E402

PAGE = r"""# A page

See [there](docs/other.md#a-word), [below](#twice-1), [a program](a.cpp), `[code](docs/other.md)`.

## Twice
## Twice

Let $x_i$ be $y^*$ and `$not$` this, at \$5 or $6. Nor <code>$c$</code>, nor <!-- $d$ -->.

$$
\sum_i
x_i
$$

| a | b |
|:--|:--|
| $\|x\|$ | `$t$` |

- An item with $z$,

      and code in it: $no$ formula

```sh
echo $HOME $x$  # comment
## no heading
```

    $indented$ code
"""

GLOSSARY = """# Glossary

## warp
<!-- also: lane -->
<!-- not: warp speed -->

32 *threads*, one instruction.

See [01](../chapters/00_a/README.md#01-one).

## bank conflict

Two words of one bank.

See [01](../chapters/00_a/README.md#01-one).
"""

LESSON = """<h2>A warp</h2><p>At warp speed: <code>warp</code>, <a href="x">warps</a>, warp-wide.
<math><mtext>warp</mtext></math></p><table><tr><td>warp</td></tr></table>
<details><summary>A lane</summary><p>Here is a bank
conflict, and a lane.</p></details><ul><li>Two <em>Lanes</em> of a warp.</li></ul>
"""


def sources_of(test, files):
    """Markdown files, and others that are not pages, in a folder that lasts as long as the test."""
    folder = tempfile.TemporaryDirectory()
    test.addCleanup(folder.cleanup)
    root = Path(folder.name).resolve()
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return Sources(root, [path for path in files if path.endswith(".md")])


class Markdown(unittest.TestCase):
    def setUp(self):
        self.sources = sources_of(self, {"README.md": PAGE, "docs/other.md": "# Other\n\n## A `word`\n"})
        self.page, self.other = self.sources.all.values()
        self.formulas = []
        self.text = self.sources.convert(self.page, self.formulas)

    def test_anchors_are_those_of_github(self):
        self.assertEqual(slug("03 shared_tree"), "03-shared_tree")
        self.assertEqual(slug("Code: `simt++`, and [more](x.md)!"), "code-simt-and-more")
        self.assertEqual([anchor for _, _, anchor, _ in self.page.headings], ["a-page", "twice", "twice-1"])

    def test_pages_are_named_after_their_files(self):
        self.assertEqual([self.page.page, self.other.page], ["index.html", "docs-other.html"])
        self.assertTrue(self.sources.convert(self.other).startswith("# Other {#docs-other}\n"))

    def test_links_lead_to_pages_of_the_book(self):
        self.assertIn("[there](docs-other.html#a-word), [below](index.html#twice-1), [a program](a.cpp), "
                      "`[code](docs/other.md)`", self.text)

    def test_unknown_headings_are_reported_with_their_lines(self):
        self.assertEqual(list(self.sources.unknown_anchors()), [])
        page = "# A\n\n`[code](other.md#x)` and\n[there](docs/other.md#words), [below](#b), [out](https://a.b#c).\n"
        sources = sources_of(self, {"README.md": page, "docs/other.md": "# Other\n"})
        self.assertEqual(list(sources.unknown_anchors()), ["README.md:4: no such heading: docs/other.md#words",
                                                           "README.md:4: no such heading: #b"])

    def test_formulas_are_found_with_their_lines(self):
        self.assertEqual([(formula.tex, formula.block, formula.line) for formula in self.formulas],
                         [("x_i", False, 8), ("y^*", False, 8), (r"\sum_i x_i", True, 10), ("|x|", False, 17),
                          ("z", False, 19)])

    def test_code_is_left_alone(self):
        for kept in ("`$not$`", "`$c$`", "<!-- $d$ -->", "`$t$`", "echo $HOME $x$  # comment\n## no heading\n",
                     r"at \$5 or $6.", "    $indented$ code"):
            self.assertIn(kept, self.text)

    def test_lines_keep_their_numbers(self):
        self.assertEqual(self.text.count("\n"), PAGE.count("\n"))

    @unittest.skipUnless(shutil.which("blahtexml"), "blahtexml is not installed")
    def test_formulas_become_mathml(self):
        formulas = [Formula(tex, True, "a.md", 3) for tex in (r"\tfrac{1}{2}\mathbb{R}", r"\frac{a", r"\nothing")]
        shown, wrong = book_formulas.convert_all(formulas, shutil.which("blahtexml"))
        self.assertIn("<mfrac><mn>1</mn><mn>2</mn></mfrac>", shown[formulas[0].key])
        self.assertIn("ℝ", shown[formulas[0].key])
        self.assertEqual([message.split(": ")[:2] for message in wrong], [["a.md:3", "formula"]] * 2)
        self.assertIn("open brace", wrong[0])
        self.assertIn(r"\nothing", wrong[1])

    def test_without_a_converter_formulas_are_code(self):
        shown, wrong = book_formulas.convert_all(self.formulas, None)
        self.assertEqual(shown[self.formulas[0].key], "<code>x_i</code>")
        self.assertEqual(wrong, [])


class Words(unittest.TestCase):
    def glossary(self, text=GLOSSARY):
        sources = sources_of(self, {"docs/glossary.md": text, "chapters/00_a/README.md": "# A\n\n## 01 one\n"})
        return Glossary(sources.all["docs/glossary.md"])

    def test_the_first_use_leads_to_the_glossary_and_shows_the_meaning(self):
        glossary = self.glossary()
        self.assertEqual(glossary.wrong, [])
        page = glossary.linked(LESSON)
        self.assertIn('<em><span class="term"><a href="docs-glossary.html#warp" aria-describedby="meaning-warp">Lanes</a>'
                      '<span class="meaning" id="meaning-warp" role="tooltip">32 threads, one instruction.</span></span>'
                      '</em> of a warp.', page)
        self.assertIn('>bank\nconflict</a>', page)  # there is no other use than in a fold
        self.assertEqual(page.count('class="term"'), 2)

    def test_nothing_else_is_changed(self):
        page = self.glossary().linked(LESSON)
        for kept in ("<h2>A warp</h2>", "At warp speed: <code>warp</code>, <a href=\"x\">warps</a>, warp-wide.",
                     "<mtext>warp</mtext>", "<td>warp</td>", "<summary>A lane</summary>", "and a lane."):
            self.assertIn(kept, page)

    def test_faults_are_reported_with_their_lines(self):
        self.assertEqual(self.glossary(GLOSSARY + "\n## Lane\n\nAgain. [01](../chapters/00_a/README.md)\n").wrong,
                         ["docs/glossary.md:17: line 3 defines 'Lane' already"])
        self.assertEqual(self.glossary("# Glossary\n\n## warp\n\n## lane\n\nText.\n").wrong,
                         ["docs/glossary.md:3: 'warp' has no meaning", "docs/glossary.md:3: 'warp' leads to no lesson",
                          "docs/glossary.md:5: 'lane' leads to no lesson"])


class Course(unittest.TestCase):
    def setUp(self):
        rungs = "".join(f'[rungs.0{number}_r]\nkind = "{kind}"\n{f"minutes = {minutes}" if minutes else ""}\n'
                        for number, kind, minutes in ((1, "given", 0), (2, "write", 30), (3, "fill", 20), (4, "write", 40),
                                                      (5, "summit", 300)))
        need = "# L\n\n**You need** [that](../00_a/README.md){}. **Not here:** [this](../03_d/README.md)\n"
        lessons = {"00_a": "# L\n", "01_b": need.format(""), "02_c": need.format(", [b](../01_b/README.md)"),
                   "03_d": need.format("")}
        files = {f"chapters/{name}/README.md": text for name, text in lessons.items()}
        files |= {f"chapters/{name}/chapter.toml": f'title = "{name}"\n{rungs}' for name in lessons}
        files["docs/page.md"] = "# P\n\n<!-- book: map -->\n\nText.\n"
        self.sources = sources_of(self, files)

    def test_a_page_asks_for_a_part(self):
        page = self.sources.all["docs/page.md"]
        self.assertEqual(page.made, [(3, "map")])
        self.assertEqual(self.sources.convert(page), "# P {#docs-page}\n\nmadeX0X\n\nText.\n")
        with self.assertRaisesRegex(book_course.Wrong, "cannot make 'maps'"):
            book_course.make("maps", self.sources)

    def test_needs_are_those_that_do_not_follow(self):
        chapters = book_course.chapters_in(self.sources)
        self.assertEqual(book_course.direct_needs(chapters), {"00": [], "01": ["00"], "02": ["01"], "03": ["00"]})
        drawn = book_course.make("map", self.sources)
        self.assertEqual(drawn.count("marker-end"), 3)
        self.assertIn("needs 1; 1.5 h; summits 5.0 h", drawn)
        chapters["01"].needs = ["02"]
        with self.assertRaisesRegex(book_course.Wrong, "chapter 01 needs chapter 02, which does not come before it"):
            book_course.direct_needs(chapters)
        chapters["01"].needs = []
        with self.assertRaisesRegex(book_course.Wrong, "lesson of chapter 01 links to no chapter"):
            book_course.direct_needs(chapters)

    def test_weeks_have_about_the_same_time(self):
        chapters = book_course.chapters_in(self.sources)
        weeks = book_course.weeks_of(book_course.rungs_of(chapters, ["00", "01/01,03-05"]), 3)
        self.assertEqual([[f"{rung.chapter.number}/{rung.number}" for rung in week] for week in weeks],
                         [["00/01", "00/02", "00/03", "00/04"], ["01/01", "01/03", "01/04"], ["01/05"]])
        self.assertIn('0 00_a</a>: 01 to 03</td><td class="markdownTableBodyLeft">0.8 h<',
                      book_course.make("syllabus 2 00", self.sources))
        with self.assertRaisesRegex(book_course.Wrong, "3 rungs for 4 weeks"):
            book_course.make("syllabus 4 00", self.sources)
        for words in ("09", "00/07", "00/02-09", "00/"):
            with self.assertRaises(book_course.Wrong):
                book_course.rungs_of(chapters, [words])


if __name__ == "__main__":
    unittest.main()
