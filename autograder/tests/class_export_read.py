"""Reads what `rungs export` has written with the readers of Python's library, and prints what it found as JSON.

    class_export_read.py csv|junit|html FILE      class_export_read.py zip FILE FOLDER
"""
import csv
import html.parser
import json
import sys
import xml.etree.ElementTree
import zipfile


class Page(html.parser.HTMLParser):
    """Tags that are open, tables with their captions and scopes, text, and whatever would load or run something."""

    VOID = {"meta", "br", "hr", "img", "link", "input"}

    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.text, self.active = [], [], [], []
        self.tables, self.captions, self.headings, self.ids = 0, 0, [], []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag in ("script", "iframe", "object", "embed", "form", "link", "img", "base"):
            self.active.append(tag)
        self.active += [name for name in attributes if name.startswith("on") or name in ("src", "style", "srcset")]
        if attributes.get("href", "").lower().startswith(("javascript:", "data:", "http")):
            self.active.append(attributes["href"])
        if "id" in attributes:
            self.ids.append(attributes["id"])
        self.tables += tag == "table"
        self.captions += tag == "caption"
        if tag == "th" and attributes.get("scope") not in ("row", "col"):
            self.wrong.append("th without scope")
        if tag in ("h1", "h2", "h3", "h4"):
            self.headings.append(int(tag[1]))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append("</" + tag + ">")

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.text.append(data)


def read_html(file):
    page = Page()
    page.feed(open(file, encoding="utf-8", errors="strict").read())
    page.close()
    steps = [b - a for a, b in zip(page.headings, page.headings[1:])]
    return {
        "wrong": page.wrong + page.open,
        "active": page.active,
        "tables": page.tables,
        "captions": page.captions,
        "headings in order": page.headings[:1] == [1] and page.headings.count(1) == 1 and max(steps, default=1) <= 1,
        "ids are unique": len(page.ids) == len(set(page.ids)),
        "text": " ".join(" ".join(page.text).split()),
    }


def read_junit(file):
    root = xml.etree.ElementTree.parse(file).getroot()
    return {
        "counts": root.attrib,
        "suites": [
            {
                "name": suite.get("name"),
                "counts": suite.attrib,
                "properties": {one.get("name"): one.get("value") for one in suite.iter("property")},
                "cases": [
                    {
                        "classname": case.get("classname"),
                        "name": case.get("name"),
                        "what": [child.tag for child in case],
                        "message": [child.get("message") for child in case],
                        "text": "".join(case.itertext()),
                    }
                    for case in suite.iter("testcase")
                ],
            }
            for suite in root.iter("testsuite")
        ],
    }


def read_csv(file):
    with open(file, newline="", encoding="utf-8", errors="strict") as lines:
        return list(csv.reader(lines, strict=True))


def read_zip(file, folder):
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None
        archive.extractall(folder)
        return {one.filename: oct(one.external_attr >> 16 & 0o777) for one in archive.infolist()}


kinds = {"csv": read_csv, "junit": read_junit, "html": read_html, "zip": read_zip}
json.dump(kinds[sys.argv[1]](*sys.argv[2:]), sys.stdout)
