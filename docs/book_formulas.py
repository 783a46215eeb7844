"""Formulas of the book: blahtexml turns TeX into MathML, which browsers show without a script."""

import html
import re
import subprocess
import unicodedata
import xml.etree.ElementTree as xml

from book_markdown import WORD

BLAHTEXML = "http://gva.noekeon.org/blahtexml"  # the name of its attributes; nothing is loaded
# Commands that blahtexml lacks: the number of arguments, and what they stand for.
COMMANDS = {"tfrac": (2, r"{\textstyle\frac{#1}{#2}}"), "dfrac": (2, r"{\displaystyle\frac{#1}{#2}}"),
            "stackrel": (2, r"\overset{#1}{#2}"), ":": (0, r"\,"), "dotsc": (0, r"\ldots"),
            "lt": (0, "<"), "gt": (0, ">")}
PREAMBLE = "".join(rf"\newcommand{{\{name}}}{f'[{count}]' if count else ''}{{{text}}}"
                   for name, (count, text) in COMMANDS.items())
LONG = 30  # characters of TeX
# Letters in these styles are characters of their own; browsers do not make them of the attribute.
STYLES = {"bold": "BOLD", "bold-italic": "BOLD ITALIC", "double-struck": "DOUBLE-STRUCK", "fraktur": "FRAKTUR",
          "monospace": "MONOSPACE", "sans-serif": "SANS-SERIF", "script": "SCRIPT"}


def styled(character, style):
    name = unicodedata.name(character, "").replace("LATIN ", "").replace("GREEK ", "").replace("LETTER ", "")
    for prefix in (f"MATHEMATICAL {style} ", f"{style} ", f"{style.replace('FRAKTUR', 'BLACK-LETTER')} "):
        try:
            return unicodedata.lookup(prefix + name)
        except KeyError:
            pass
    return character


def blahtexml(converter, formulas):
    """What blahtexml makes of formulas: for each of them an element whose first child is its MathML or an error."""
    page = xml.Element("formulas")
    for formula in formulas:
        kind = "block" if formula.block else "inline"
        xml.SubElement(page, "formula", {f"{{{BLAHTEXML}}}{kind}": PREAMBLE + formula.tex})
    run = subprocess.run([converter, "--xmlin", "--mathml-encoding", "raw"], input=xml.tostring(page, encoding="unicode"),
                         capture_output=True, encoding="utf-8", check=False)
    try:
        return list(xml.fromstring(run.stdout))
    except xml.ParseError as error:
        raise OSError(f"{converter} ended with {run.returncode}: {run.stdout}{run.stderr}") from error


def as_math(formula, found):
    """MathML as a page has it, with the TeX that it was made of."""
    math = xml.Element("math", {"display": "block"} if formula.block else {})
    meaning = xml.SubElement(math, "semantics")
    row = xml.SubElement(meaning, "mrow")
    row.extend(found)
    xml.SubElement(meaning, "annotation", {"encoding": "application/x-tex"}).text = formula.tex
    for element in row.iter():
        element.tag = element.tag.split("}")[-1]  # without its namespace
        if element.tag == "mo" and element.text == "-":
            element.text = "\u2212"  # a minus, and no hyphen
        if style := STYLES.get(element.get("mathvariant", "")):
            element.text = "".join(styled(character, style) for character in element.text)
            del element.attrib["mathvariant"]
    for rows in row.iter("mtable"):  # browsers ignore this attribute; the style aligns each cell
        sides = rows.attrib.pop("columnalign", "center").split()
        for line in rows.iter("mtr"):
            for place, cell in enumerate(line):
                cell.set("class", f"{sides[place % len(sides)]}{' close' if len(sides) > 1 else ''}")
    text = xml.tostring(math, encoding="unicode")
    return f'<span class="formula" tabindex="0">{text}</span>' if formula.block else text


def as_code(formula):
    code = f"<code>{html.escape(formula.tex)}</code>"
    return f'<span class="formula">{code}</span>' if formula.block else code


def convert_all(formulas, converter):
    """@returns by key what each formula is in the book, and messages about those that cannot be read"""
    different = list({formula.key: formula for formula in formulas}.values())
    if not converter or not different:
        return {formula.key: as_code(formula) for formula in different}, []
    shown, wrong = {}, {}
    for formula, element in zip(different, blahtexml(converter, different)):
        if element[0].tag.endswith("}error"):
            wrong[formula.key] = element[0].text
        else:
            shown[formula.key] = as_math(formula, element[0])
    return shown, [f"{formula.file}:{formula.line}: formula: {wrong[formula.key]}: ${formula.tex}$"
                   for formula in formulas if formula.key in wrong]


def put_in(text, shown, formulas, script=False):
    """A page, or a script of Doxygen's, with formulas in place of their words; where only text can be, their TeX."""
    tex = {formula.key: formula.tex for formula in formulas}

    def source(match):
        quoted = tex[match.group(1)].replace("\\", "\\\\").replace('"', '\\"')
        return quoted if script else html.escape(tex[match.group(1)])

    if script:
        return WORD.sub(source, text)
    text = re.sub(r"<title>.*?</title>|<[^<>]*formulaX[^<>]*>", lambda tag: WORD.sub(source, tag.group()), text)
    # A screen reader may find no text in a table's heading that is a formula: it gets the TeX.
    text = re.sub(rf"(<th\b[^>]*>)\s*{WORD.pattern}\s*</th>", lambda match: (
        f'{match.group(1)}<span class="unseen">{html.escape(tex[match.group(2)])}</span>'
        f'<span aria-hidden="true">formulaX{match.group(2)}X</span></th>'), text)

    def beside(match):
        """Punctuation stays in the line of its formula. A long formula has a line of its own on a telephone."""
        before, key, after = match.groups()
        if not (before or after or len(tex[key]) > LONG) or shown[key].startswith("<span"):
            return before + shown[key] + after
        long = ' long" tabindex="0' if len(tex[key]) > LONG else ""
        return f'<span class="together{long}">{before}{shown[key]}{after}</span>'

    return re.sub(rf"([(\[]?){WORD.pattern}((?:[-.,;:?!)\]][-.,;:?!)\]\w]*)?)", beside, text)
