#!/usr/bin/env python3
"""Tests how Markdown is prepared for the book: anchors, links, formulas, and code, which has to stay as it is."""

import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True  # beside the sources
import book_formulas  # noqa: E402
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


class Markdown(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = Path(folder.name).resolve()
        (root / "docs").mkdir()
        (root / "README.md").write_text(PAGE, encoding="utf-8")
        (root / "docs/other.md").write_text("# Other\n\n## A `word`\n", encoding="utf-8")
        self.sources = Sources(root, ["README.md", "docs/other.md"])
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


if __name__ == "__main__":
    unittest.main()
