"""What the book shows of the course as a whole: pages ask for it with `<!-- book: WHAT -->`.

WHAT is `map`, the chapters and what they need, as a drawing; `syllabus WEEKS RUNGS...`, a table of weeks with about the
same time in each; `summits`, those with their minutes; or `notebooks`, links to them. Kinds and minutes are those of
chapter.toml, and what a chapter needs are the lessons that its own lesson links to after "**You need**".
RUNGS are `03` for all rungs of chapter 3 except summits, `03/02-06,08` for some.
"""

import html
import re
import textwrap
from functools import cache

LESSON = re.compile(r"chapters/(\d\d)_\w+/README\.md")
NEEDED = re.compile(r"\*\*You need\*\*(.*?)(?:\*\*|\n\n)", re.DOTALL)
CHAPTER_LINK = re.compile(r"\.\./(\d\d)_\w+/README\.md")
LETTERS = 28  # of a title that fit into a line of the map
RUNGS = re.compile(r"(\d\d)(?:/(\d\d(?:-\d\d)?(?:,\d\d(?:-\d\d)?)*))?")


class Wrong(Exception):
    """What cannot be made, in words."""


class Rung:
    def __init__(self, chapter, name, table):
        self.chapter, self.number, self.name = chapter, name[:2], name[3:]
        self.kind, self.minutes = table.get("kind", "given"), table.get("minutes", 0)


class Chapter:
    def __init__(self, number, source):
        self.number, self.page = number, source.page
        try:
            import tomllib
        except ModuleNotFoundError as error:
            raise Wrong("the book needs Python 3.11 or later") from error
        with open(source.file.parent / "chapter.toml", "rb") as file:
            table = tomllib.load(file)
        self.title = table["title"]
        self.rungs = [Rung(self, name, rung) for name, rung in table["rungs"].items()]
        needed = NEEDED.search(source.text)
        self.needs = sorted(set(CHAPTER_LINK.findall(needed.group(1)))) if needed else []

    @property
    def link(self):
        return f'<a href="{self.page}">{int(self.number)} {html.escape(self.title)}</a>'

    def minutes(self, summits):
        return sum(rung.minutes for rung in self.rungs if (rung.kind == "summit") == summits)


def chapters_in(sources):
    """By number; a chapter without a manifest, as tests have them, is left out."""
    return {match.group(1): Chapter(match.group(1), source) for path, source in sources.all.items()
            if (match := LESSON.fullmatch(path)) and (source.file.parent / "chapter.toml").exists()}


def hours(minutes):
    return f"{minutes / 60:.0f} h" if minutes >= 600 else f"{minutes / 60:.1f} h"


# ---------------------------------------------------------------------------------------------------- map


def direct_needs(chapters):
    """What each chapter needs, without what follows: chapter 5 needs 1, and 1 needs 0, so 5 need not name 0."""
    above = {}
    for number, chapter in chapters.items():
        for need in chapter.needs:
            if need not in above:
                raise Wrong(f"chapter {number} needs chapter {need}, which does not come before it")
        if above and not chapter.needs:
            raise Wrong(f"the lesson of chapter {number} links to no chapter after '**You need**'")
        above[number] = set(chapter.needs).union(*(above[need] for need in chapter.needs))
    return {number: [need for need in chapter.needs if not any(need in above[other] for other in chapter.needs)]
            for number, chapter in chapters.items()}


def course_map(chapters):
    """One row per chapter, and at its left an arc from each chapter that it needs. As wide as a telephone."""
    needs = direct_needs(chapters)
    dot, at, names, bottom = 64, {}, {}, 4  # where circles are; rows and titles by chapter
    for number, chapter in chapters.items():
        names[number] = textwrap.wrap(f"{int(number)} {chapter.title}", LETTERS)
        at[number] = bottom + 20
        bottom += 34 + 18 * len(names[number])
    drawn = [arc(dot, at[need], at[number]) for number, needed in needs.items() for need in needed]
    for number, chapter in chapters.items():
        lines = "".join(f'<tspan x="{dot + 14}" dy="{18 if row else 0}">{html.escape(line)}</tspan>'
                        for row, line in enumerate(names[number]))
        below = ", ".join(str(int(need)) for need in needs[number])
        times = [f"needs {below}"] if below else []
        times.append(hours(chapter.minutes(False)))
        if chapter.minutes(True):
            times.append(f"summits {hours(chapter.minutes(True))}")
        drawn.append(f'<a href="{chapter.page}"><circle cx="{dot}" cy="{at[number]}" r="6"/>'
                     f'<text y="{at[number] - 3}" class="name">{lines}</text></a>'
                     f'<text x="{dot + 14}" y="{at[number] + 18 * len(names[number]) - 4}">{"; ".join(times)}</text>')
    return (f'<svg class="course" viewBox="0 0 328 {bottom}" role="group" '
            'aria-label="The chapters, and what each of them needs">'
            '<defs><marker id="course-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
            'orient="auto"><path d="M0 0 L8 4 L0 8 z" class="tip"/></marker></defs>'
            f'{"".join(drawn)}</svg>')


def arc(dot, start, end):
    left = dot - 12 - min(50, (end - start) / 5)
    return (f'<path d="M{dot} {start} C{left:.0f} {start + 18} {left:.0f} {end - 18} {dot - 8} {end}" '
            'marker-end="url(#course-arrow)"/>')


# ----------------------------------------------------------------------------------------------- syllabus


def rungs_of(chapters, words):
    """The rungs that a syllabus names, in its order."""
    found = []
    for word in words:
        match = RUNGS.fullmatch(word)
        if not match or match.group(1) not in chapters:
            raise Wrong(f"'{word}' names no chapter")
        rungs = chapters[match.group(1)].rungs
        if not match.group(2):
            found += [rung for rung in rungs if rung.kind != "summit"]
            continue
        for part in match.group(2).split(","):
            first, last = (part.split("-") * 2)[:2]
            some = [rung for rung in rungs if first <= rung.number <= last]
            if not some or some[0].number != first or some[-1].number != last:
                raise Wrong(f"'{word}' names a rung that chapter {match.group(1)} does not have")
            found += some
    return found


def weeks_of(rungs, weeks):
    """The rungs in `weeks` parts, in their order, whose times differ as little as possible. A given rung is read with
    the one after it."""
    units = [[]]
    for rung in rungs:
        last = units[-1][-1] if units[-1] else None
        if last and (last.kind != "given" or last.chapter is not rung.chapter):
            units.append([])
        units[-1].append(rung)

    if len(units) < weeks:
        raise Wrong(f"{len(units)} rungs for {weeks} weeks")

    @cache
    def best(first, left):
        """The least sum of squares for the units from `first` on in `left` weeks, and where each week ends."""
        if left == 1:
            return sum(rung.minutes for unit in units[first:] for rung in unit) ** 2, (len(units),)
        return min((sum(rung.minutes for unit in units[first:end] for rung in unit) ** 2 + best(end, left - 1)[0],
                    (end, *best(end, left - 1)[1])) for end in range(first + 1, len(units) - left + 2))

    ends = best(0, weeks)[1]
    return [[rung for unit in units[start:end] for rung in unit] for start, end in zip((0, *ends), ends)]


def runs(rungs):
    """The rungs of a week: "0 First kernels: 01 to 05" for each chapter."""
    named = []
    for chapter in dict.fromkeys(rung.chapter for rung in rungs):
        numbers = [rung.number for rung in chapter.rungs]
        pieces = []
        for place in (numbers.index(rung.number) for rung in rungs if rung.chapter is chapter):
            if pieces and pieces[-1][-1] == place - 1:
                pieces[-1].append(place)
            else:
                pieces.append([place])
        named.append(f"{chapter.link}: " + ", ".join(
            numbers[piece[0]] + (f" to {numbers[piece[-1]]}" if len(piece) > 1 else "") for piece in pieces))
    return "; ".join(named)


def table(heads, rows):
    head = "".join(f'<th class="markdownTableHeadLeft">{head}</th>' for head in heads)
    body = "".join('<tr class="markdownTableRowOdd">' + "".join(
        f'<td class="markdownTableBodyLeft">{cell}</td>' for cell in row) + "</tr>\n" for row in rows)
    return f'<table class="markdownTable" tabindex="0"><tr class="markdownTableHead">{head}</tr>\n{body}</table>'


def syllabus(chapters, weeks, words):
    rungs = rungs_of(chapters, words)
    parts = weeks_of(rungs, weeks)
    rows = [(number, runs(part), hours(sum(rung.minutes for rung in part))) for number, part in enumerate(parts, 1)]
    rows.append(("all", f"{sum(rung.kind != 'given' for rung in rungs)} rungs to do",
                 hours(sum(rung.minutes for rung in rungs))))
    return table(("week", "rungs", "time"), rows)


def summits(chapters):
    return table(("chapter", "summits", "time"), [
        (chapter.link, ", ".join(f"{rung.number} {rung.name}" for rung in tops), hours(chapter.minutes(True)))
        for chapter in chapters.values() if (tops := [rung for rung in chapter.rungs if rung.kind == "summit"])])


# --------------------------------------------------------------------------------------------------- main


def notebooks(sources):
    return "<ul>" + "".join(f'<li><a href="{source.page}">{html.escape(source.title)}</a></li>'
                            for path, source in sources.all.items() if path.endswith("/notebook.md")) + "</ul>"


def make(what, sources):
    """@returns HTML; throws Wrong"""
    kind, *words = what.split()
    if kind == "notebooks" and not words:
        return notebooks(sources)
    chapters = chapters_in(sources)
    if kind == "map" and not words:
        return course_map(chapters)
    if kind == "summits" and not words:
        return summits(chapters)
    if kind == "syllabus" and len(words) > 1 and words[0].isdigit() and int(words[0]):
        return syllabus(chapters, int(words[0]), words[1:])
    raise Wrong(f"the book cannot make '{what}'")
