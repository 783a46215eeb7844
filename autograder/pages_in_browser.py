#!/usr/bin/env python3
"""Checks pages in a real browser, Chromium, and by an accessibility checker, axe-core; prints what is wrong and a table.

    autograder/pages_in_browser.py PAGE|FOLDER...   pages, and all that lie in folders: a class's, a report, the book
    autograder/pages_in_browser.py --class          pages that are made here: a small class's and reports
    autograder/pages_in_browser.py --self-test      pages with a fault each: is it found, and nothing else?

Each page is opened as it is, from its file, in light and dark colours and in windows of 360 and 1280 CSS pixels, with all
folds open; then once more without scripts. A fault is what axe-core calls a violation, faint text in a picture, what is
wider than the window, what is loaded from elsewhere or not found, an error that the browser reports, colours that stay
light although the page says that it has dark ones, and text that only a script shows. The browser reaches no network.
Options: --browser PROGRAM, --axe FILE (axe.min.js or the package; otherwise it is fetched from the npm registry, once),
--brief (of the table only rows with a fault and the sum), --keep DIR (of --class: where its pages are left).
--class takes what ./rungs has built: build/$RUNGS_PRESET, or RUNGS_BUILD. Exit status: 0 nothing is wrong, 1 something is,
2 wrong use, 3 could not check; of --class and --self-test 77 where no browser starts or axe-core cannot be had.
"""

import argparse
import base64
import fcntl
import hashlib
import io
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request
from pathlib import Path

sys.dont_write_bytecode = True  # beside the sources
from class_figures import RUNGS, Failure, MadeClass, ThresholdWorkbook, rungs, table, text_of  # noqa: E402

BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
AXE = "4.14.1"
AXE_SHA512 = "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
SETTINGS = [(scheme, width) for scheme in ("light", "dark") for width in (360, 1280)]
SECONDS = 120  # that anything may take in the browser
SHOWN = 3  # elements of a page with the same fault


class Missing(Failure):
    """What is not on this machine."""


# --------------------------------------------------------------------------------------------- axe-core


def script_in(package):
    """axe-core's program, of the package's bytes."""
    with tarfile.open(fileobj=io.BytesIO(package)) as archive:
        return archive.extractfile("package/axe.min.js").read().decode()


def axe_core(given):
    """@returns the program's text"""
    if given:
        content = given.read_bytes()
        return script_in(content) if content.startswith(b"\x1f\x8b") else content.decode()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rungs"
    file = cache / f"axe-core-{AXE}.tgz"
    package = file.read_bytes() if file.exists() else b""
    if not is_axe(package):
        address = f"https://registry.npmjs.org/axe-core/-/{file.name}"
        try:
            with urllib.request.urlopen(address, timeout=60) as answer:
                package = answer.read()
        except OSError as error:
            raise Missing(f"axe-core could not be fetched: {error}. Get {address} elsewhere, and say --axe FILE") from error
        if not is_axe(package):
            raise Failure(f"{address} is not what it was: its SHA-512 differs, so it is not used")
        cache.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{os.getpid()}")
        part.write_bytes(package)
        part.replace(file)
    return script_in(package)


def is_axe(package):
    return base64.b64encode(hashlib.sha512(package).digest()).decode() == AXE_SHA512


# ---------------------------------------------------------------------------------------------- browser


def find_browser(given):
    for name in [given] if given else BROWSERS:
        if program := shutil.which(name):
            return program
    raise Missing(f"no browser: {given or ', '.join(BROWSERS)}. Install Chromium (Debian, as root: apt-get install chromium), "
                  "or say where one is: --browser PROGRAM")


class Browser:
    """Chromium without a window, told what to do through two pipes (Chrome DevTools Protocol)."""

    def __init__(self, program, folder):
        # Pages are to be complete in themselves; nobody is asked for what is missing.
        words = [program, "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={folder}/profile", "--no-first-run",
                 "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions", "--disable-background-networking",
                 "--disable-component-update", "--host-resolver-rules=MAP * ~NOTFOUND", "about:blank"]
        if os.geteuid() == 0:  # Chromium refuses to hold itself as root
            words.insert(1, "--no-sandbox")
        self.log = Path(folder) / "browser.log"
        theirs, self.to = (self.above(end) for end in os.pipe())
        self.out, answers = (self.above(end) for end in os.pipe())

        def give():  # it reads from 3 and writes to 4
            os.dup2(theirs, 3)
            os.dup2(answers, 4)

        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, close_fds=False,
                                            preexec_fn=give, start_new_session=True)
        os.close(theirs)
        os.close(answers)
        self.read, self.number, self.events = b"", 0, []
        try:
            self.version = self.call("Browser.getVersion")["product"]
        except Failure as failure:
            self.end()
            raise Missing(f"{program} does not start: {failure}") from failure

    @staticmethod
    def above(end):
        """The same pipe, under a number that is not given away."""
        number = fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10)
        os.close(end)
        return number

    def end(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        os.close(self.to)
        os.close(self.out)

    def message(self, until):
        while b"\0" not in self.read:
            ready, _, _ = select.select([self.out], [], [], max(0, until - time.monotonic()))
            if not ready:
                raise Failure(f"the browser did not answer within {SECONDS} s")
            more = os.read(self.out, 1 << 20)
            if not more:
                raise Failure(f"the browser ended:\n{text_of(self.log)[-2000:]}")
            self.read += more
        message, self.read = self.read.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        """@returns its result; events that come meanwhile are kept"""
        self.number += 1
        call = {"id": self.number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        data = json.dumps(call).encode() + b"\0"
        try:
            while data:
                data = data[os.write(self.to, data):]
        except BrokenPipeError as error:
            raise Failure(f"the browser ended:\n{text_of(self.log)[-2000:]}") from error
        until = time.monotonic() + SECONDS
        while True:
            message = self.message(until)
            if message.get("id") == self.number:
                if "error" in message:
                    raise Failure(f"{method}: {message['error']['message']}")
                return message["result"]
            self.keep(message)

    def keep(self, message):
        if "method" in message:
            self.events.append(message)
            if message["method"] == "Page.javascriptDialogOpening":  # nothing goes on before it is closed
                self.number += 1
                close = {"id": self.number, "method": "Page.handleJavaScriptDialog", "params": {"accept": False},
                         "sessionId": message["sessionId"]}
                os.write(self.to, json.dumps(close).encode() + b"\0")

    def wait_for(self, done):
        until = time.monotonic() + SECONDS
        while not done():
            self.keep(self.message(until))


class Tab:
    """A page that is open. Our own script runs beside the page's, in a world of its own: no policy of the page's holds it."""

    def __init__(self, browser, file, scripts=True):
        self.browser, self.file = browser, file
        browser.events.clear()
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setScrollbarsHidden", hidden=True)
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.look(*SETTINGS[-1])
        frame = self.call("Page.navigate", url=file.resolve().as_uri())
        if "errorText" in frame:
            raise Failure(f"{file} cannot be opened: {frame['errorText']}")
        browser.wait_for(lambda: any(self.of("Page.loadEventFired")) and not self.loading())
        self.world = self.call("Page.createIsolatedWorld", frameId=frame["frameId"])["executionContextId"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.browser.call("Target.closeTarget", targetId=self.target)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def of(self, method):
        return (event["params"] for event in self.browser.events
                if event["method"] == method and event.get("sessionId") == self.session)

    def loading(self):
        ended = {event["requestId"] for name in ("Finished", "Failed") for event in self.of(f"Network.loading{name}")}
        return {event["requestId"] for event in self.of("Network.requestWillBeSent")} - ended

    def look(self, scheme, width):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme},
                                                          {"name": "prefers-reduced-motion", "value": "reduce"}])

    def evaluate(self, script):
        answer = self.call("Runtime.evaluate", expression=script, contextId=self.world, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            about = answer["exceptionDetails"]
            raise Failure(f"{self.file}: {about.get('exception', {}).get('description') or about['text']}")
        return answer["result"].get("value")

    def told(self):
        """Faults that the browser reports: of loading, of scripts. @returns pairs of a rule and what it is about"""
        addresses = {event["requestId"]: event["request"]["url"] for event in self.of("Network.requestWillBeSent")}
        faults = [("loads-from-elsewhere", address) for address in addresses.values()
                  if address.split(":")[0] not in ("file", "data", "blob", "about")]
        elsewhere = {about for _, about in faults}
        for event in self.of("Network.loadingFailed"):
            address = addresses.get(event["requestId"], "")
            if not event.get("canceled") and address not in elsewhere:
                faults.append(("is-not-loaded", f"{address}: {event.get('blockedReason') or event['errorText']}"))
        for event in self.of("Page.javascriptDialogOpening"):
            faults.append(("opens-a-dialog", event["message"]))
        for event in self.of("Runtime.exceptionThrown"):
            about = event["exceptionDetails"]
            faults.append(("script-fails", about.get("exception", {}).get("description") or about["text"]))
        for event in self.of("Log.entryAdded"):
            entry = event["entry"]
            if entry["level"] == "error" and entry["source"] != "network":  # these are among the events above
                faults.append(("browser-complains", entry["text"]))
        return list(dict.fromkeys(faults))


# ----------------------------------------------------------------------------------------------- checks

# Where a page's own text is: beside it Doxygen has a tree, which a script draws.
COMMON = """
const content = document.querySelector("main, [role=main], .contents") || document.body;
for (const fold of document.querySelectorAll("details")) fold.open = true;
const text = () => content.innerText.split(/\\s+/).filter(Boolean);
"""
TEXT = "(() => {" + COMMON + "return text(); })()"
# Some pages scroll as a whole in a part of their own, so the window itself never does. What scrolls by itself within
# the text, such as a table, may be wide.
MEASURE = "(async () => {" + COMMON + """
await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
const root = document.documentElement, scrolls = e => getComputedStyle(e).overflowX !== "visible";
const whole = [document.scrollingElement];
for (let e = content; e && e !== document.body && e !== root; e = e.parentElement) if (scrolls(e)) whole.push(e);
const overflow = Math.max(...whole.map(e => e.scrollWidth - e.clientWidth));
let wide = null, most = 0;
if (overflow > 0) for (const e of document.body.querySelectorAll("*")) {
    const right = e.getBoundingClientRect().right;
    let within = e.parentElement;
    while (within && within !== document.body && !whole.includes(within) && !scrolls(within)) within = within.parentElement;
    if (right > most && (!within || within === document.body || whole.includes(within))) [wide, most] = [e, right];
}
// What axe-core leaves undecided: it does not see what is behind text in a picture. Here that is the page.
const pixel = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
const light = colours => {  // of one painted over the other
    for (const colour of colours) {
        pixel.fillStyle = colour;
        pixel.fillRect(0, 0, 1, 1);
    }
    const linear = c => c <= .04045 * 255 ? c / 255 / 12.92 : ((c / 255 + .055) / 1.055) ** 2.4;
    const [r, g, b] = [...pixel.getImageData(0, 0, 1, 1).data].map(linear);
    return .2126 * r + .7152 * g + .0722 * b;
};
const faint = [], paper = document.body.appendChild(document.createElement("i"));
paper.style.backgroundColor = "canvas";
const canvas = getComputedStyle(paper).backgroundColor;
paper.remove();
for (const text of document.querySelectorAll("svg text")) {
    if (!text.checkVisibility()) continue;
    const behind = [];
    for (let e = text.closest("svg"); e; e = e.parentElement) behind.unshift(getComputedStyle(e).backgroundColor);
    behind.unshift(canvas);
    const back = light(behind), front = light([...behind, getComputedStyle(text).fill]);
    const contrast = (Math.max(back, front) + .05) / (Math.min(back, front) + .05);
    if (contrast < 4.5) faint.push({html: text.outerHTML.slice(0, 300), contrast: contrast.toFixed(2)});
}
// With `preload` it would fetch the page's styles again, which nobody may from a file.
const found = await axe.run(document, {preload: false, resultTypes: ["violations", "incomplete"]});
const meta = document.querySelector("meta[name=color-scheme]");
return {
    scheme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light",
    width: innerWidth,
    says: (meta ? meta.content : "") + " " + getComputedStyle(root).colorScheme,
    colours: [root, document.body].flatMap(e => [getComputedStyle(e).backgroundColor, getComputedStyle(e).color]),
    overflow, wide: wide ? wide.outerHTML.slice(0, 300) : "",
    passes: found.passes.map(one => one.id), faint,
    undecided: found.incomplete.filter(one => one.nodes.some(node => !node.html.startsWith("<text"))).map(one => one.id),
    violations: found.violations.map(rule => ({id: rule.id, help: rule.help, nodes: rule.nodes.map(node => ({
        html: node.html.slice(0, 300), help: node.failureSummary}))})),
};
})()"""


class Faults:
    """Of a page: by rule and element, the settings in which each was seen, and what to do."""

    def __init__(self):
        self.found = {}

    def add(self, setting, rule, about, advice):
        settings, _ = self.found.setdefault((rule, about), ([], advice))
        if setting not in settings:
            settings.append(setting)

    def rules(self):
        return {rule: {setting for (other, _), (settings, _) in self.found.items() if other == rule for setting in settings}
                for rule, _ in self.found}

    def of(self, setting):
        return sum(setting in settings for settings, _ in self.found.values())

    def show(self, page):
        shown = {}
        for (rule, about), (settings, advice) in self.found.items():
            shown[rule] = shown.get(rule, 0) + 1
            if shown[rule] > SHOWN:
                continue
            where = "always" if len(settings) == len(SETTINGS) else ", ".join(settings)
            print(f"{page}: {rule} ({where})\n    {short(about)}\n    {advice}", flush=True)
        for rule, count in shown.items():
            if count > SHOWN:
                print(f"{page}: {rule}: {count - SHOWN} more", flush=True)


def short(text, most=160):
    text = " ".join(text.split())
    return text if len(text) <= most else text[:most] + " ..."


ADVICE = {
    "loads-from-elsewhere": "put what it loads into the page or beside it",
    "is-not-loaded": "put the file where the page looks for it, or do not ask for it",
    "opens-a-dialog": "something that a page only quotes is run as a script: escape it",
    "script-fails": "fix the script",
    "browser-complains": "fix what it complains of",
}


def check_page(browser, axe, file):
    """@returns rows of the table and faults"""
    rows, faults, colours = [], Faults(), {}
    with Tab(browser, file) as tab:
        tab.evaluate(axe + "\n;0")
        for scheme, width in SETTINGS:
            tab.look(scheme, width)
            seen = tab.evaluate(MEASURE)
            if (seen["scheme"], seen["width"]) != (scheme, width):
                raise Failure(f"{browser.version} shows {seen['scheme']}, {seen['width']} in place of {scheme}, {width}")
            setting = f"{scheme} {width}"
            for rule in seen["violations"]:
                for node in rule["nodes"]:
                    faults.add(setting, rule["id"], node["html"], short(f"{rule['help']}. {node['help']}", 300))
            for text in seen["faint"]:
                faults.add(setting, "faint-in-a-picture", text["html"], f"its contrast is {text['contrast']}, and should be 4.5: "
                           "give it another colour")
            if seen["overflow"] > 0:
                faults.add(setting, "overflow", seen["wide"], f"it is {seen['overflow']} pixels wider than its window: let it "
                           "wrap, shrink or scroll by itself")
            if colours.setdefault(width, seen["colours"]) == seen["colours"] and scheme == "dark" and "dark" in seen["says"]:
                faults.add(setting, "stays-light", ", ".join(seen["colours"]), "give it dark colours, or do not say that it has")
            rows.append([file, scheme, width, len(seen["passes"]), len(seen["violations"]), len(seen["undecided"]),
                         seen["overflow"], seen])
        text = tab.evaluate(TEXT)
        for rule, about in tab.told():
            faults.add("loading", rule, about, ADVICE[rule])
    with Tab(browser, file, scripts=False) as tab:
        bare = tab.evaluate(TEXT)
        if bare != text:
            lost = [word for word in text if word not in set(bare)] or text[:20]
            faults.add("without scripts", "needs-a-script", " ".join(lost), "this text is there only where scripts run: write it "
                       "into the page")
    return rows, faults


def check(browser, axe, files, names, brief):
    """Prints faults as they are found, then the table. @returns how many pages have any"""
    print(f"{browser.version}, {axe.split(chr(10))[0].lstrip('/*! ')}; {len(files)} pages\n", flush=True)
    rows, wrong, undecided, start = [], 0, {}, time.monotonic()
    for file in files:
        of_page, faults = check_page(browser, axe, file)
        faults.show(names[file])
        wrong += bool(faults.found)
        for row in of_page:
            for rule in row.pop()["undecided"]:
                undecided[rule] = undecided.get(rule, 0) + 1
            rows.append([*row, faults.of(f"{row[1]} {row[2]}")])
    if wrong:
        print()
    shown = [row for row in rows if row[-1]] if brief else rows
    table(["page", "colours", "width", "rules passed", "violated", "undecided", "overflow"],
          *([names[row[0]], *row[1:-1]] for row in shown),
          ["all", "", "", *(sum(row[i] for row in rows) for i in (3, 4, 5)), max(row[6] for row in rows)])
    if undecided:
        print("undecided, to be seen by eye: " + ", ".join(f"{rule} ({count})" for rule, count in sorted(undecided.items())))
    print(f"{len(files) - wrong} of {len(files)} pages without a fault; {time.monotonic() - start:.0f} s")
    return wrong


# -------------------------------------------------------------------------------------------- self-test

GOOD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>A page</title>
<style>p {{ max-width: 30rem }} {style}</style></head>
<body><main><h1>A page</h1><p>Nothing is wrong with it.</p><details><summary>A fold</summary><p>{folded}</p></details>
{content}</main></body></html>
"""
DOT = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>"
ALL = {f"{scheme} {width}" for scheme, width in SETTINGS}
# Of each page what differs from the good one, and the faults that are to be found, with the settings.
MADE = {
    "good": ({}, {}),
    "wide table that scrolls": ({"content": '<div style="overflow-x:auto" tabindex="0" role="region" aria-label="Wide">'
                                            '<div style="width:2000px">wide</div></div>'}, {}),
    "picture without a text": ({"content": f'<img src="{DOT}">'}, {"image-alt": ALL}),
    "the same in a fold": ({"folded": f'<img src="{DOT}">'}, {"image-alt": ALL}),
    "faint": ({"style": "main p { color: #999; background: #fff }"}, {"color-contrast": ALL}),
    "faint in the dark": ({"style": "@media (prefers-color-scheme: dark) { main p { color: #444; background: #111 } }"},
                          {"color-contrast": {"dark 360", "dark 1280"}}),
    "picture with faint text": ({"content": '<svg role="img" aria-label="A word"><text y="20" fill="#999">word</text></svg>'},
                                {"faint-in-a-picture": {"light 360", "light 1280"}}),
    "too wide for a telephone": ({"content": '<div style="width:500px">wide</div>'}, {"overflow": {"light 360", "dark 360"}}),
    "stays light": ({"style": ":root { color-scheme: light dark } html, body { color: #000; background: #fff }"},
                    {"stays-light": {"dark 360", "dark 1280"}}),
    "script from elsewhere": ({"content": '<script src="https://example.org/a.js"></script>'},
                              {"loads-from-elsewhere": {"loading"}}),
    "picture that is not there": ({"content": '<img src="none.png" alt="none">'}, {"is-not-loaded": {"loading"}}),
    "dialog": ({"content": "<script>alert(1)</script>"}, {"opens-a-dialog": {"loading"}}),
    "script that fails": ({"content": "<script>none()</script>"}, {"script-fails": {"loading"}}),
    "text by a script": ({"content": "<p id=p>one</p><script>p.textContent = 'two'</script>"},
                         {"needs-a-script": {"without scripts"}}),
}


def self_test(browser, axe, work):
    wrong = 0
    rows = [["made page", "found", "as it should be"]]
    for name, (differs, expected) in MADE.items():
        file = work / f"{name}.html"
        file.write_text(GOOD.format(**{"style": "", "content": "", "folded": "Nor here.", **differs}), encoding="utf-8")
        found = check_page(browser, axe, file)[1].rules()
        wrong += found != expected
        told = "; ".join(f"{rule} ({'always' if settings == ALL else ', '.join(sorted(settings))})"
                         for rule, settings in found.items())
        rows.append([name, told or "nothing", "yes" if found == expected else f"no: {expected or 'nothing'}"])
    print(f"{browser.version}, {axe.split(chr(10))[0].lstrip('/*! ')}\n")
    table(*rows)
    return 1 if wrong else 0


# ------------------------------------------------------------------------------------------- made pages

ASKED = ["00_first_kernels/01_square", "01_reduction/03_shared_tree"]
# Some that a page may stumble over: markup, no blank, from right to left.
NAMES = {"s0000": "<script>alert(1)</script>&amp;", "s0001": "w" * 200, "s0002": "\u05d3\u05df \u05d0\u05d1"}


def make_pages(work):
    """A class's pages, and the report of a workbook that passes and of one that does not. @returns folders of them"""
    made = MadeClass(work / "class", 6, 1, asked=ASKED, policy="[weights]\n\"01\" = 2\n",
                     kinds=["full", "hostile", "partial", "broken", "late", "starter"])
    named = [f"{who},{NAMES.get(who, name)},{rest}" for who, name, rest in (line.split(",", 2) for line in made.roster)]
    (made.place / "roster.csv").write_text("\n".join(named) + "\n", encoding="utf-8")
    graded, pages = work / "graded", work / "pages"
    log = rungs("grade", made.place, "--out", graded, "--below-s3", expect=(0, 1, 3))
    if not (graded / "projection.txt").exists():
        raise Failure(f"the class could not be graded: {log[-3000:]}")
    for detail in ("all", "reasons", "points"):
        rungs("export", graded, "--to", "html", "--detail", detail, "--out", pages / detail, expect=(0, 3))
    workbook = ThresholdWorkbook(work / "workbook", None)
    workbook.write_manifest(1.5, 2.5)
    right = text_of(workbook.solution)
    wrong = right.replace("float", "flaot")
    if wrong == right:
        raise Failure(f"{workbook.solution} has no float to misspell")
    for name, text, status in (("passes", right, 0), ("fails", wrong, 1)):
        workbook.solution.write_text(text, encoding="utf-8")
        run = workbook.run("demo", "--backend", "cpu", "--out", pages / f"report-{name}")
        if run.returncode != status:
            raise Failure(f"rungs demo of a workbook that {name} ended with {run.returncode}:\n"
                          f"{(run.stdout + run.stderr)[-3000:]}")
    return pages


# ------------------------------------------------------------------------------------------------- main


def pages_in(given):
    """@returns files, and how they are called in what is printed"""
    names = {}
    for path in given:
        # Doxygen keeps lists in search/, which it shows within its pages.
        files = sorted(file for file in path.rglob("*.html") if file.parent.name != "search") if path.is_dir() else [path]
        names.update({file: str(file.relative_to(path)) if path.is_dir() else file.name for file in files})
    return list(names), names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=Path, nargs="*", metavar="PAGE|FOLDER")
    parser.add_argument("--class", dest="made", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--browser", metavar="PROGRAM")
    parser.add_argument("--axe", type=Path, metavar="FILE")
    parser.add_argument("--brief", action="store_true")
    parser.add_argument("--keep", type=Path, metavar="DIR")
    args = parser.parse_args()
    if bool(args.pages) + args.made + args.self_test != 1:
        parser.error("say one of: pages or folders, --class, --self-test")
    if args.keep and not args.made:
        parser.error("--keep goes with --class")
    for path in [*args.pages, *([args.axe] if args.axe else [])]:
        if not path.exists():
            parser.error(f"there is no {path}")
    if args.made and not RUNGS.exists():
        raise Failure(f"{RUNGS} is missing; build first: ./rungs grade --help")
    files, names = pages_in(args.pages)
    if args.pages and not files:
        parser.error("there is no page in there")
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    with tempfile.TemporaryDirectory(prefix="rungs-pages-", ignore_cleanup_errors=True) as folder:
        work = Path(folder)
        try:
            axe, browser = axe_core(args.axe), Browser(find_browser(args.browser), work)
        except Missing as missing:
            print(f"pages_in_browser: {missing}", file=sys.stderr)
            return 77 if args.made or args.self_test else 3
        try:
            if args.made:
                pages = make_pages(work)
                if args.keep:
                    shutil.copytree(pages, args.keep, dirs_exist_ok=True)
                files, names = pages_in([pages])
            if args.self_test:
                return self_test(browser, axe, work)
            return 1 if check(browser, axe, files, names, args.brief) else 0
        finally:
            browser.end()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"pages_in_browser: {failure}", file=sys.stderr)
        sys.exit(3)
