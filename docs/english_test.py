#!/usr/bin/env python3
"""Tests what english.py reads and finds."""

import sys
import unittest

sys.dont_write_bytecode = True  # next to the sources
import english  # noqa: E402

# For each rule what it finds, and what looks like it and is right.
SENTENCES = {
    "stands": ("How to add to it stands in contributing.", "The backend stands alone, and t stands for time."),
    "except": ("Every case passes but for the last.", "It is small, but for n = 0 it fails."),
    "a for per": ("It reads 20 bytes a row.", "With two threads a row takes longer."),
    "where for if": ("Where there is no GPU, it is skipped.", "Where the time went. Where the loop ends, is there a barrier?"),
    "told": ("The race is told.", "A sum is told from a product, and the user is told to wait."),
    "come to": ("All threads come to the barrier.", "They come to the same result."),
    "behind": ("It is loaded behind the early return.", "It lies behind the wall."),
    "is no": ("This is no fault.", "There is no fault."),
    "so is": ("The first is exact, and so is the second.", "It is exact, and so far nothing differs."),
    "who": ("For who grades a class.", "For those who grade a class."),
    "fronted": ("Ordered are operations of one stream.", "Operations of one stream are ordered."),
    "has the": ("Why: has the block two dimensions?", "Each block has the same two dimensions."),
    "archaic": ("It is read anew.", "It is read again."),
    "mend": ("Find the fault and mend it.", "We recommend it."),
}


def found(path, text):
    return sorted((finding.line, finding.rule) for finding in english.check(path, text))


class Rules(unittest.TestCase):
    def test_each_rule_has_an_example(self):
        self.assertEqual(list(SENTENCES), [rule.name for rule in english.RULES])

    def test_each_rule_finds_its_example_and_nothing_else(self):
        for rule, (wrong, right) in SENTENCES.items():
            self.assertEqual(found("a.md", wrong), [(1, rule)], wrong)
            self.assertEqual(found("a.md", right), [], right)

    def test_a_page_may_say_nobody_twice(self):
        self.assertEqual(found("a.md", "Nobody waits.\n\nNobody reads.\n"), [])
        self.assertEqual(found("a.md", "Nobody waits.\n\nNobody reads.\n\nNobody writes.\n"), [(5, "nobody")])

    def test_long_paragraphs_and_sentences_are_only_warnings(self):
        for text in ("word " * 41, "A few words. " * 41):
            (finding,) = english.check("a.md", text)
            self.assertEqual((finding.rule, finding.error), ("long", False))


class Readers(unittest.TestCase):
    def test_markdown(self):
        page = ("A thread\nstands `here stands`.\n\n```\nit stands\n```\n\n"
                "$$\nstands\n$$\n\n<!-- hints: 01 -->\nIt stands.\n<!-- end -->\n\n| a | it stands |\n- It\n  stands\n")
        self.assertEqual(found("a.md", page), [(2, "stands"), (16, "stands"), (18, "stands")])

    def test_a_sentence_may_run_over_lines_of_a_comment(self):
        text = "// All of them but\n// for one.\nint stands;  // it stands\n/* a\n * b stands */\n"
        self.assertEqual(found("a.cpp", text), [(1, "except"), (3, "stands"), (5, "stands")])

    def test_messages(self):
        text = 'say("it " \'"\'\n"it stands " + stands + "stands");\nauto digits = 1\'000\'000; say("one thread a " "row");\n'
        self.assertEqual(found("a.cpp", text), [(2, "stands"), (3, "a for per")])

    def test_data_is_no_prose(self):
        for text in ('#include "it stands"', 'auto x = R"(it stands)";', 'key("stands");', "// `it stands`"):
            self.assertEqual(found("a.cpp", text), [], text)

    def test_a_test_quotes_messages_but_has_a_name(self):
        text = 'TEST_CASE("it stands") {\n    CHECK(text == "it stands");  // it stands\n}\n'
        self.assertEqual(found("tests/a.cpp", text), [(1, "stands"), (2, "stands")])

    def test_manifests(self):
        text = '# It stands.\nidea = "it stands"\nchange = [["it stands", "no"]]\nhints = [\n    "a",\n    "`it stands` is",\n]\n'
        self.assertEqual(found("a.toml", text), [(1, "stands"), (2, "stands")])

    def test_scripts(self):
        text = '"""A doc.\n\nIt stands."""\n# It stands.\nx = r"it stands"\nprint("it stands")\n'
        self.assertEqual(found("a.py", text), [(3, "stands"), (4, "stands"), (6, "stands")])
        self.assertEqual(found("a.sh", 'echo "it stands" # it stands\nstands=$#\n'), [(1, "stands"), (1, "stands")])

    def test_figures_and_schemas(self):
        self.assertEqual(found("a.svg", '<svg class="it stands">\n<text x="1">it stands</text></svg>'), [(2, "stands")])
        self.assertEqual(found("a.schema.json", '{"description": "it stands", "it stands": 1}'), [(1, "stands")])


class Torn(unittest.TestCase):
    FULL = "// " + "word " * 18 + "\n"

    def test_comments(self):
        self.assertEqual(found("a.cpp", self.FULL + "// two words\n"), [(2, "torn comment")])
        for below in ("// these three words\n", "\n// two words\n", "  // two words\n", "// - item\n", "// ----\n",
                      "// TODO 1.1\n"):
            self.assertEqual(found("a.cpp", self.FULL + below), [], below)

    def test_literals(self):
        self.assertEqual(found("a.cpp", 'say("a line of enough words "\n    "not ");'), [(2, "torn literal")])
        self.assertEqual(found("a.cpp", 'say("a\\n"\n    "b\\n");\nsay("a", "b");'), [])


class Exceptions(unittest.TestCase):
    def test_an_exception_is_a_place_with_a_reason(self):
        with self.assertRaises(ValueError):
            english.Exceptions('[[exception]]\npath = "a.md"\nwords = "stands"\n')
        allowed = english.Exceptions('[[exception]]\npath = "a.md"\nwords = "stands"\nwhy = "a proverb"\n')
        (finding,) = english.check("a.md", "It stands.")
        self.assertFalse(allowed.allow("b.md", finding))
        self.assertEqual(allowed.unused, {("a.md", "stands")})
        self.assertTrue(allowed.allow("a.md", finding))
        self.assertEqual(allowed.unused, set())

    def test_a_folder_may_wait_with_sentences_of_one_kind(self):
        allowed = english.Exceptions('[[not_yet]]\nkind = "comment"\npaths = ["a/", "b/"]\nwhy = "later"\n')
        comment, message = english.check("a/a.cpp", '// It stands.\nsay("it stands");')
        self.assertTrue(allowed.allow("a/a.cpp", comment))
        self.assertFalse(allowed.allow("a/a.cpp", message))
        self.assertFalse(allowed.allow("c/a.cpp", comment))
        self.assertEqual(allowed.unused, {("b/", "comment")})


class Tree(unittest.TestCase):
    def test_all_of_it_is_plain_english(self):
        self.assertEqual(english.main([]), 0)


if __name__ == "__main__":
    unittest.main()
