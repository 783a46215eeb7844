#!/usr/bin/env python3
"""Measures what grading a class promises, here, and prints tables. Nothing else should run meanwhile.

    autograder/class_figures.py killed STUDENTS KILLS [JOBS]   kill -9 at random moments: what is lost, what differs
    autograder/class_figures.py chain [STUDENTS [JOBS]]        from hand-ins in every form to grades in every form
    autograder/class_figures.py flat SUBMISSIONS [JOBS]        descriptors, memory and disk of a long run; --jobs 1 and 4
    autograder/class_figures.py thresholds [REPEATS]           wrong verdicts near a threshold of speed, quiet and busy
    autograder/class_figures.py overhead [LAUNCHES]            what confinement adds to a launch

Options: --seed N (of the class and of the moments; drawn and printed unless given), --work DIR (kept; a temporary
folder otherwise), --seconds N (`killed` kills no more after so long, `thresholds` ends after about so long: 270), and of
`thresholds` --at zero|full|both (which threshold; zero, below which a rung is SLOW), --size N (elements that are summed;
the manifest's) and --cuda-only.
It takes what ./rungs has built: build/$RUNGS_PRESET, or RUNGS_BUILD. Exit status: 0 as promised, 1 not, 2 wrong use,
3 could not measure.
"""

import argparse
import ctypes
import datetime
import hashlib
import io
import json
import math
import os
import random
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("RUNGS_BUILD") or ROOT / "build" / os.environ.get("RUNGS_PRESET", "default"))
RUNGS = BUILD / "bin" / "rungs"
DUE = "2026-03-01T12:00:00Z"
EARLY, IN_TIME, LATE = "2026-02-20T10:00:00Z", "2026-03-01T10:00:00Z", "2026-03-02T18:00:00Z"
PERCENT_PER_DAY, MOST_DAYS = 10, 3
# Of chapters 00 and 01, the quick ones, with points for modelled speed among them.
ASKED = ["00_first_kernels/01_square", "00_first_kernels/05_grid_stride", "01_reduction/03_shared_tree",
         "01_reduction/08_grid_stride"]
# In place of 01/03, each with one verdict that it may get: it steals, lies, breaks, hides, stays.
HOSTILE = ["01_prints_ok_and_exits", "05_constant", "08_host_loop", "03_claims_at_exit", "13_closes_descriptors",
           "15_fork_bomb", "22_daemon", "255_reads_beside_its_array", "41_throws", "50_includes_dev_zero",
           "66_rewrites_the_report", "67_right_by_luck", "210_opens_many_descriptors"]


class Failure(Exception):
    """What cannot be measured, and why."""


def text_of(path):
    return Path(path).read_text(encoding="utf-8", errors="surrogateescape")


def machine():
    model = re.search(r"^model name\s*:\s*(.*)$", text_of("/proc/cpuinfo"), re.MULTILINE)
    return f"{len(os.sched_getaffinity(0))} cores, {model.group(1) if model else os.uname().machine}"


def table(*rows):
    """As Markdown; the first row names the columns."""
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for number, row in enumerate(rows):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |")
        if number == 0:
            print("|" + "|".join(":" + "-" * (width + 1) for width in widths) + "|")
    print(flush=True)


# ------------------------------------------------------------------------------------------ a made class


def pack_zip(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return out.getvalue()


# Endings of archives, and how tarfile calls what packs them.
TARS = {".tar": "", ".tar.gz": "gz", ".tgz": "gz", ".tar.xz": "xz", ".txz": "xz", ".tar.bz2": "bz2", ".tar.zst": None}


def pack_tar(files, ending):
    if ending == ".tar.zst":
        return subprocess.run(["zstd", "-q", "-c"], input=pack_tar(files, ".tar"), stdout=subprocess.PIPE, check=True).stdout
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=f"w:{TARS[ending]}") as archive:
        for name, text in files.items():
            about = tarfile.TarInfo(name)
            about.size = len(text.encode())
            archive.addfile(about, io.BytesIO(text.encode()))
    return out.getvalue()


def link_out():
    """What is refused: a link out of the archive."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        about = tarfile.TarInfo("03_shared_tree.cu")
        about.type, about.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(about)
    return out.getvalue()


class MadeClass:
    """Hand-ins of a class, from reference solutions; the same for the same seed. Kinds and forms take turns, so that
    eight students have all kinds and five all forms. `policy`: lines of assignment.toml."""

    KINDS = ["full", "hostile", "partial", "broken", "copy", "late", "starter", "full"]
    FORMS = ["folder", ".zip", ".tar.gz", ".tar.xz", ".tar"]

    def __init__(self, place, students, seed, kinds=None, asked=None, odd_ones=True, forms=None, policy=""):
        self.place, self.random, self.asked = Path(place), random.Random(seed), asked or ASKED
        self.solutions = {rung: text_of(ROOT / "solutions" / f"{rung}.cu") for rung in self.asked}
        self.kinds, self.counts, self.expected = kinds or self.KINDS, {}, {}
        self.forms = forms or self.FORMS
        self.records = 0  # that a finished run has
        self.handed_in = {}  # of each student the kind, and the files and the time of what counts
        self.place.mkdir(parents=True)
        roster = ["id,name,email,login"]
        earlier = None
        for i in range(students):
            kind = self.kinds[i % len(self.kinds)]
            who = f"s{i:04d}"
            files = self.files(kind, who, i, earlier)
            earlier = files if kind == "full" else earlier
            when = {"late": LATE}.get(kind, IN_TIME)
            form = self.forms[i % len(self.forms)]
            if kind == "twice":
                self.hand_in(who, dict(sorted(files.items())[:1]), EARLY, form)
            self.hand_in(who, files, when, form)
            self.handed_in[who] = kind, files, when
            self.counts[kind] = self.counts.get(kind, 0) + 1
            self.records += len(self.asked)
            roster.append(f"{who},Student {i},{who}@example.org,login{i}")
        if odd_ones:  # neither has a record
            (self.place / "refused.tar.gz").write_bytes(link_out())
            roster += ["refused,Handed in a link,refused@example.org,link", "absent,Handed in nothing,absent@example.org,none"]
        self.roster = roster
        (self.place / "roster.csv").write_text("\n".join(roster) + "\n")
        names = ", ".join(f'"{rung[:2]}/{rung.split("/")[1][:2]}"' for rung in self.asked)
        (self.place / "assignment.toml").write_text(
            f'title = "Figures"\ndue = {DUE}\nrungs = [{names}]\nroster = "roster.csv"\nleast_sandbox = "S0"\n{policy}'
            f"[late]\npercent_per_day = {PERCENT_PER_DAY}\nmost_days = {MOST_DAYS}\n")

    def files(self, kind, who, number, earlier):
        # A line of their own: equal bytes are judged once.
        files = {f"{rung}.cu": text + f"\n// {who}\n" for rung, text in self.solutions.items()}
        names = sorted(files)
        if kind == "partial":  # files are missing, but never all
            for name in self.random.sample(names, len(names) // 2):
                del files[name]
        elif kind == "broken":
            name = self.random.choice(names)
            files[name] = files[name].replace("}", "", 1)
        elif kind == "starter":
            for rung in self.asked:
                files[f"{rung}.cu"] = text_of(ROOT / "chapters" / f"{rung}.cu")
        elif kind == "copy" and earlier:
            files = dict(earlier)
        elif kind == "hostile":
            attack = HOSTILE[number // len(self.kinds) % len(HOSTILE)]
            folder = ROOT / "autograder" / "attacks"
            head, text = text_of(folder / f"{attack}.cu").replace("RUNGS_ROOM", str(self.place)).split("\n\n", 1)
            honest = text_of(folder / "honest.cuh")
            files["01_reduction/03_shared_tree.cu"] = text.replace('#include "honest.cuh"', honest) + f"// {who}\n"
            keys = re.sub("^//", "", head, flags=re.MULTILINE).partition("\n\n")[2]
            verdicts = tomllib.loads(keys)["verdicts"]
            self.expected[who] = (attack, verdicts)
        return files

    def hand_in(self, who, files, when, form):
        if form == "folder":
            for name, text in files.items():
                file = self.place / f"{who}@{when}" / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            return
        packed = pack_zip(files) if form == ".zip" else pack_tar(files, form)
        (self.place / f"{who}@{when}{form}").write_bytes(packed)

    def described(self):
        return ", ".join(f"{count} {kind}" for kind, count in sorted(self.counts.items()))


# ---------------------------------------------------------------------------------------------- grading


class Grader:
    """`rungs grade`, in a session and with a folder for temporary files of its own."""

    running = None  # the latest; it does not outlive us

    def __init__(self, made, out, jobs, temporary):
        self.out, self.temporary = Path(out), Path(temporary)
        self.temporary.mkdir(parents=True, exist_ok=True)
        self.log = Path(f"{out}.log")
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [RUNGS, "grade", made.place, "--out", out, "--below-s3", "--jobs", str(jobs)], stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, start_new_session=True, cwd=ROOT,
                env={**os.environ, "RUNGS_BUILD": str(BUILD), "TMPDIR": str(temporary)})
        Grader.running = self

    def ended(self):
        return self.process.poll() is not None

    def kill(self):
        """Of the whole group, at once."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        return self.process.wait() == -signal.SIGKILL

    def finish(self):
        status = self.process.wait()
        # 3: somebody has no grade yet, because a human has to decide.
        if status not in (0, 1, 3) or not (self.out / "projection.txt").exists():
            raise Failure(f"rungs grade ended with {status}:\n{text_of(self.log)[-3000:]}")
        return status


def give_seed(out, seed_of):
    """Both runs need the same secret."""
    out.mkdir(mode=0o700)
    shutil.copy(seed_of / "seed", out / "seed")
    (out / "seed").chmod(0o600)


def records_of(out):
    """Names of records and the hash of what is in them; None where that is no JSON."""
    found = {}
    for folder, _, names in os.walk(out / "records"):
        for name in names:
            if name.startswith(".") or not name.endswith(".json"):
                continue
            file = Path(folder) / name
            content = file.read_bytes()
            try:
                json.loads(content)
                found[str(file.relative_to(out))] = hashlib.sha256(content).hexdigest()
            except ValueError:
                found[str(file.relative_to(out))] = None
    return found


def count_records(out):
    return sum(name.endswith(".json") and name[0] != "." for _, _, names in os.walk(out / "records") for name in names)


def projection(out):
    return text_of(out / "projection.txt").splitlines()


def differing(one, other):
    """Lines of either that the other has not, by student, attempt and rung."""
    keyed = [{tuple(line.split("\t")[:3]): line for line in lines} for lines in (one, other)]
    keys = set(keyed[0]) | set(keyed[1])
    return sorted((keyed[0].get(key, "-"), keyed[1].get(key, "-")) for key in keys
                  if keyed[0].get(key) != keyed[1].get(key))


def essence(out):
    """Of each record what a verdict is: its key, verdict, points, causes and modelled speed, without what was measured by
    a clock."""
    essences = {}
    for name in records_of(out):
        record = json.loads(text_of(out / name))
        result = record["result"]
        modelled = result.get("modelled")
        essences[name] = json.dumps([record["key"], record["same_as"], result["verdict"], result["points"],
                                     [(cause["source"], cause["kind"], cause["line"]) for cause in result["causes"]],
                                     modelled and modelled.get("speedup")])
    return essences


def others(out):
    """Files that are neither records nor below cache/."""
    found = set()
    for folder, folders, names in os.walk(out):
        if Path(folder) == out and "cache" in folders:
            folders.remove("cache")
        found |= {str((Path(folder) / name).relative_to(out)) for name in names
                  if not str((Path(folder) / name).relative_to(out)).startswith("records/") or name[0] == "."}
    return found


def adopt_orphans():
    """What outlives a grader becomes our child. @returns whether that can be had"""
    try:
        return ctypes.CDLL(None, use_errno=True).prctl(36, 1, 0, 0, 0) == 0  # PR_SET_CHILD_SUBREAPER
    except (OSError, AttributeError):
        return False


def orphans_left(seconds):
    """Waits for the end of what a killed grader has left. @returns how many processes were still there then"""
    end = time.monotonic() + seconds
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return 0
        if pid == 0:
            if time.monotonic() > end:
                children = text_of(f"/proc/self/task/{os.getpid()}/children").split()
                for child in children:
                    os.kill(int(child), signal.SIGKILL)
                return len(children)
            time.sleep(0.01)


def killed(args, work, seed):
    made = MadeClass(work / "class", args.students, seed)
    print(f"{args.students} students ({made.described()}), and one refused and one absent; {len(made.asked)} rungs, "
          f"{made.records} records; --jobs {args.jobs}; seed {seed}\n", flush=True)
    whole = work / "whole"
    start = time.monotonic()
    Grader(made, whole, args.jobs, work / "tmp-whole").finish()
    whole_seconds = time.monotonic() - start
    print(f"undisturbed: {whole_seconds:.1f} s", flush=True)

    chance = random.Random(seed + 1)
    adopted = adopt_orphans()
    tally = dict.fromkeys(["kills", "starts", "rounds", "records", "lost", "differing", "vanished", "changed", "halves",
                           "too many", "deeper", "strays", "temporary", "work", "processes"], 0)
    slowest_end = 0.0
    expected, whole_essence, whole_others = projection(whole), essence(whole), others(whole)
    start = time.monotonic()
    # A class that was too quick for so many kills is graded once more.
    while tally["kills"] < args.kills and time.monotonic() - start < args.seconds:
        tally["rounds"] += 1
        broken = work / f"killed{tally['rounds']}"
        give_seed(broken, whole)
        temporary = work / f"tmp-killed{tally['rounds']}"
        before = {}
        while True:
            grader = Grader(made, broken, args.jobs, temporary)
            tally["starts"] += 1
            left = args.kills - tally["kills"] if time.monotonic() - start < args.seconds else 0
            if not kill_some_time(grader, chance, made.records, left):
                grader.finish()
            else:
                tally["kills"] += 1
                if adopted:
                    ending = time.monotonic()
                    tally["processes"] += orphans_left(30)
                    slowest_end = max(slowest_end, time.monotonic() - ending)
            now = records_of(broken)
            tally["halves"] += sum(content is None for content in now.values())
            tally["vanished"] += len(set(before) - set(now))
            tally["changed"] += sum(name in now and now[name] != content for name, content in before.items())
            before = now
            if grader.process.returncode != -signal.SIGKILL:
                break
            if tally["kills"] % max(1, args.kills // 10) == 0:
                print(f"  {tally['kills']} kills, {len(now)} of {made.records} records, "
                      f"{time.monotonic() - start:.0f} s", flush=True)
        lines = differing(expected, projection(broken))
        here = essence(broken)
        deeper = [name for name in here if name in whole_essence and here[name] != whole_essence[name]]
        strays = others(broken) - whole_others
        tally["records"] += len(now)
        tally["lost"] += len(set(whole_essence) - set(now))
        tally["too many"] += len(set(now) - set(whole_essence))
        tally["differing"] += len(lines)
        tally["deeper"] += len(deeper)
        tally["strays"] += len(strays)
        tally["temporary"] += len(list(temporary.iterdir()))
        tally["work"] += len(list((broken / "cache" / "work").glob("*")))
        for old, new in lines[:20]:
            print(f"  undisturbed: {old}\n  killed:      {new}")
        for name in deeper[:10]:
            print(f"  {name}\n    undisturbed: {whole_essence[name]}\n    killed:      {here[name]}")
        for name in sorted(strays)[:10]:
            print(f"  not in the other run: {name}")
    seconds = time.monotonic() - start
    print()
    table(["kills", "starts", "classes", "records", "lost", "differing", "seconds"],
          [*(tally[name] for name in ("kills", "starts", "rounds", "records", "lost", "differing")), f"{seconds:.1f}"])
    table(["beside that", "number"],
          ["undisturbed run, s", f"{whole_seconds:.1f}"],
          ["lines of the projection of a class", len(expected)],
          ["records that were there at a kill, and not at the next", tally["vanished"]],
          ["records that have changed after they were written", tally["changed"]],
          ["records seen in halves", tally["halves"]],
          ["records too many", tally["too many"]],
          ["records with another key, cause or modelled speed", tally["deeper"]],
          ["files beside the records that the other run has not", tally["strays"]],
          ["temporary files left", tally["temporary"]],
          ["work folders left in the cache", tally["work"]],
          ["processes left 30 s after a kill", tally["processes"] if adopted else "not looked for"],
          ["longest until all processes had ended, s", f"{slowest_end:.2f}" if adopted else "not looked for"])
    wrong = unexpected_verdicts(made, expected)
    promised = ("lost", "differing", "vanished", "changed", "halves", "too many", "deeper", "processes")
    return 1 if wrong or any(tally[name] for name in promised) else 0


def kill_some_time(grader, chance, records, kills_left):
    """Kills at a random moment. @returns whether it was killed before it had finished"""
    if kills_left == 0:
        return False
    # Most kills come soon after the start. The others wait until some records more are there, or what is slow to judge
    # would keep all of them at the beginning; half of these come just when a record has been written.
    wait_for, have = 0, count_records(grader.out)
    if chance.random() < 0.3:
        wait_for = max(1, round(chance.uniform(0, 4) * (records - have) / kills_left))
    moment = chance.uniform(0.2, 2) if wait_for == 0 else chance.uniform(0, chance.choice([0.02, 1]))
    while wait_for > 0 and not grader.ended() and count_records(grader.out) < have + wait_for:
        time.sleep(0.002)
    end = time.monotonic() + moment
    while time.monotonic() < end and not grader.ended():
        time.sleep(0.002)
    return grader.kill()


def unexpected_verdicts(made, lines):
    """Attacks that got another verdict than they may get."""
    wrong = 0
    for line in lines:
        student, _, rung, verdict = line.split("\t")[:4]
        attack, allowed = made.expected.get(student, ("", []))
        if attack and rung == "01_reduction/03_shared_tree" and verdict not in allowed:
            print(f"  {attack} of {student} got {verdict}, and may get {' or '.join(allowed)}")
            wrong += 1
    return wrong


# ------------------------------------------------------------------------------------------------ chain

READER = ROOT / "autograder" / "tests" / "class_export_read.py"
CLUSTER = ROOT / "autograder" / "tests" / "slurm_cluster.sh"
WEIGHTS, ROUND_TO = {"01": 2}, 0.5
KILLS = 4


def rungs(*words, expect=(0,), **environment):
    """The program, to its end. @returns what it printed"""
    run = subprocess.run([RUNGS, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=ROOT, check=False,
                         env={**os.environ, "RUNGS_BUILD": str(BUILD), "LC_ALL": "C.UTF-8", "COLUMNS": "200", **environment})
    if run.returncode not in expect:
        raise Failure(f"rungs {' '.join(map(str, words))} ended with {run.returncode}:\n{(run.stdout + run.stderr)[-3000:]}")
    return run.stdout


def read_by_python(kind, *files):
    run = subprocess.run([sys.executable, READER, kind, *files], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise Failure(f"{files[0]} cannot be read: {run.stderr[-2000:]}")
    return json.loads(run.stdout)


def exact(points):
    return f"{points:.4f}".rstrip("0").rstrip(".")


class Platforms:
    """The same hand-ins as platforms hand them out: all but those of who has handed in twice, which they do not tell."""

    NAMES = ["one archive", "gradescope", "canvas", "moodle", "git"]

    def __init__(self, made, work):
        self.made, self.work = made, work
        self.hand_ins = {who: (files, when) for who, (kind, files, when) in made.handed_in.items() if kind != "twice"}
        self.hand_ins["refused"] = {"refused.tar.gz": link_out()}, IN_TIME
        self.people = [line for line in made.roster[1:] if line.split(",")[0] in [*self.hand_ins, "absent"]]

    def make(self, name):
        """@returns what to grade, in a folder of its own with assignment.toml and a roster"""
        place = self.work / name.replace(" ", "-")
        place.mkdir(parents=True)
        columns = {"canvas": "canvas,handed_in", "moodle": "moodle,handed_in", "git": "repository"}.get(name, "")
        roster = [",".join(filter(None, [self.made.roster[0], columns]))]
        given = getattr(self, name.replace(" ", "_"))(place)
        for number, line in enumerate(self.people):
            who = line.split(",")[0]
            more = {"canvas": f",{1000 + number}", "moodle": f",{1000 + number}", "git": f",{place}/{who}.git"}.get(name, "")
            if name in ("canvas", "moodle"):
                more += "," + (self.hand_ins[who][1] if who in self.hand_ins else "")
            roster.append(line + ("," if name == "git" and who == "absent" else more))
        (place / "roster.csv").write_text("\n".join(roster) + "\n")
        shutil.copy(self.made.place / "assignment.toml", place)
        return given

    def each(self):
        for number, line in enumerate(self.people):
            who, name = line.split(",")[:2]
            if who in self.hand_ins:
                yield number, who, name, *self.hand_ins[who]

    @staticmethod
    def put(folder, files):
        for name, content in files.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else content.encode())

    def one_archive(self, place):
        with tarfile.open(place / "class.tar.xz", "w:xz") as archive:
            for entry in sorted(self.made.place.iterdir()):
                who = entry.name.split("@")[0].split(".")[0]
                if who in self.hand_ins:
                    archive.add(entry, arcname=f"class/{entry.name}")
        return place / "class.tar.xz"

    def gradescope(self, place):
        folder, lines = place / "class" / "assignment_1_export", ["---"]
        for number, who, name, files, when in self.each():
            self.put(folder / f"submission_{number}", files)
            lines += [f"submission_{number}:", "  :submitters:", f"  - :name: {name}", f"    :sid: {who}",
                      f"    :email: {who.upper()}@example.org", f"  :created_at: {when[:10]} {when[11:19]} Z"]
        (folder / "submission_metadata.yml").write_text("\n".join(lines) + "\n")
        return Path(shutil.make_archive(str(place / "gradescope"), "zip", place / "class"))

    def canvas(self, place):
        for number, who, name, files, when in self.each():
            late = "LATE_" if when > DUE else ""
            self.put(place / "class", {f"{name.lower().replace(' ', '')}_{late}{1000 + number}_{i}_{Path(file).name}": content
                                       for i, (file, content) in enumerate(files.items())})
        return Path(shutil.make_archive(str(place / "canvas"), "zip", place / "class"))

    def moodle(self, place):
        for number, who, name, files, when in self.each():
            self.put(place / "class" / f"{name}_{1000 + number}_assignsubmission_file_", files)
        return Path(shutil.make_archive(str(place / "moodle"), "zip", place / "class"))

    def git(self, place):
        """Of a repository the commit counts that was there when it was due: a later one is never taken."""
        (place / "class").mkdir()
        for number, who, name, files, when in self.each():
            folder = place / f"{who}.git"
            self.put(folder, files if who != "refused" else {"README": "see the link"})
            if who == "refused":
                (folder / "03_shared_tree.cu").symlink_to("/etc/passwd")
            author = {f"GIT_{whose}_{what}": value for whose in ("AUTHOR", "COMMITTER")
                      for what, value in (("NAME", who), ("EMAIL", f"{who}@example.org"), ("DATE", IN_TIME))}
            for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "in time"]):
                subprocess.run(["git", "-c", "commit.gpgsign=false", *words], cwd=folder, check=True, capture_output=True,
                               env={**os.environ, **author})
        return place / "class"


def graded_and_killed(made, out, jobs, work, chance):
    """@returns kills, and what of the records was lost, changed or in halves meanwhile"""
    kills, lost, before = 0, 0, {}
    while True:
        grader = Grader(made, out, jobs, work / "tmp-chain")
        # When some of the records are there, and then at any moment.
        wait_for = (kills + chance.random()) * made.records / (KILLS + 1)
        moment = chance.uniform(0, 1)
        while kills < KILLS and not grader.ended() and count_records(out) < wait_for:
            time.sleep(0.01)
        end = time.monotonic() + moment
        while kills < KILLS and not grader.ended() and time.monotonic() < end:
            time.sleep(0.01)
        killed_it = kills < KILLS and grader.kill()
        if killed_it:
            kills += 1
            orphans_left(30)
        else:
            grader.finish()
        now = records_of(out)
        lost += sum(content is None for content in now.values())
        lost += sum(now.get(name) != content for name, content in before.items())
        before = now
        if not killed_it:
            return kills, lost


def late_factor(when):
    due, then = (datetime.datetime.fromisoformat(time_.replace("Z", "+00:00")) for time_ in (DUE, when))
    days = math.ceil(max(0, (then - due).total_seconds()) / 86400)
    return 0 if days > MOST_DAYS else 1 - days * PERCENT_PER_DAY / 100


def expected_scores(made, out, table_of_csv, with_lateness=True):
    """From the points in projection.txt of the attempts that count, and when they came. Points have four digits there, so
    the CSV's are taken, which have to be the same to that many. @returns scores by student, and how many points differ"""
    assignment = json.loads(text_of(out / "assignment.json"))
    attempts = {}
    for line in projection(out):
        who, attempt, rung, _, _, points = line.split("\t")
        attempts.setdefault(who, {}).setdefault(int(attempt), {})[rung] = points
    scores, differing_points = {}, 0
    for row in table_of_csv:
        who = row["id"]
        if who not in attempts:
            scores[who] = 0.0
            continue
        total, open_ = 0.0, False
        counted = attempts[who][max(attempts[who])]
        for rung in assignment["rungs"]:
            told = counted[f"{rung['chapter']}/{rung['rung']}"]
            cell = row[f"{rung['chapter'][:2]}/{rung['rung'][:2]}"]
            open_ = open_ or told == "-"
            differing_points += (cell == "") != (told == "-") or (cell != "" and f"{float(cell):.4g}" != told)
            total += WEIGHTS.get(rung["chapter"][:2], 1) * float(cell or 0)
        when = made.handed_in[who][2] if who in made.handed_in else IN_TIME
        total *= late_factor(when) if with_lateness else 1
        scores[who] = None if open_ else math.floor(total / ROUND_TO + 0.5 + 1e-9) * ROUND_TO
    return scores, differing_points


def csv_of(out, to, expect):
    file = to / "grades.csv"
    rungs("export", out, "--to", "csv", "--out", file, expect=expect)
    heading, *rows = read_by_python("csv", file)
    return [dict(zip(heading, row)) for row in rows]


def number_or_none(text):
    return float(text) if text not in (None, "", "-") else None


def exported(out, to, rows, expect):
    """Exports a class in every form, and reads each back. @returns for each form the score of each student (None: it has
    none), and how much else in it is not as it should be"""
    to.mkdir(parents=True, exist_ok=True)
    most = float(rows[0]["max score"])
    found, wrong = {}, {}

    found["csv"] = {row["id"]: number_or_none(row["score"]) for row in rows}
    lines = [re.match(r"  .*\((\S+)\) +\S+ +(\S+)  ", line) for line in rungs("export", out, "--to", "table",
                                                                              expect=expect).splitlines()[1:]]
    found["table"] = {line.group(1): number_or_none(line.group(2)) for line in lines if line}

    rungs("export", out, "--to", "junit", "--out", to / "junit.xml", expect=expect)
    suites = read_by_python("junit", to / "junit.xml")["suites"]
    found["junit"] = {suite["name"]: number_or_none(suite["properties"].get("score")) for suite in suites}
    wrong["junit"] = sum((int(suite["counts"]["errors"]) > 0) == ("score" in suite["properties"]) for suite in suites)

    rungs("export", out, "--to", "html", "--detail", "all", "--out", to / "html", expect=expect)
    pages = {row["id"]: read_by_python("html", to / "html" / "students" / f"{row['id']}.html") for row in rows}
    page_score = re.compile(r"([0-9.]+|\u2013) / " + re.escape(exact(most)) + r"(?![0-9.])")
    scores = {who: page_score.search(page["text"]) for who, page in pages.items()}
    found["html"] = {who: number_or_none(score.group(1).replace("\u2013", "-")) for who, score in scores.items() if score}
    index = read_by_python("html", to / "html" / "index.html")
    wrong["html"] = sum(bool(page["wrong"] or page["active"] or page["tables"] != page["captions"]
                             or not page["headings in order"] or not page["ids are unique"])
                        for page in [*pages.values(), index])

    rungs("export", out, "--to", "gradescope", "--out", to / "gradescope", expect=expect)
    results = {row["id"]: json.loads(text_of(to / "gradescope" / "results" / row["id"] / "results.json")) for row in rows}
    found["gradescope"] = {who: result.get("score") for who, result in results.items()}
    read_by_python("zip", to / "gradescope" / "graded.zip", to / "graded")
    by_address = json.loads(text_of(to / "graded" / "graded.json"))["results"]
    found["gradescope's graded.zip"] = {row["id"]: by_address[row["email"]].get("score") for row in rows}

    rungs("export", out, "--to", "classroom50", "--out", to / "classroom50", expect=expect)
    files = {row["id"]: to / "classroom50" / row["id"] / "result.json" for row in rows}
    whole = {who: json.loads(text_of(file)) for who, file in files.items() if file.exists()}
    found["classroom50"] = {who: whole[who]["score"] * most / whole[who]["max-score"] if who in whole else None
                            for who in files}

    (to / "canvas.csv").write_text(
        "Student,ID,SIS User ID,SIS Login ID,Section,Figures (77)\n    Points Possible,,,,," + exact(most) + "\n"
        + "".join(f"{row['name']},{700 + i},,{row['login']},A,\n" for i, row in enumerate(rows)))
    (to / "moodle.csv").write_text(
        "Identifier,Full name,Email address,Status,Grade,Maximum Grade\n"
        + "".join(f"Participant {700 + i},{row['name']},{row['email']},-,,{exact(most)}\n" for i, row in enumerate(rows)))
    for platform, key, cell, first in (("canvas", 3, 5, 2), ("moodle", 2, 4, 1)):
        filled = to / f"{platform}-filled.csv"
        rungs("export", out, "--to", platform, "--from", to / f"{platform}.csv", "--out", filled, expect=expect)
        before, after = read_by_python("csv", to / f"{platform}.csv"), read_by_python("csv", filled)
        if not filled.exists():
            raise Failure(f"{to / platform}.csv was not filled in")
        who_is = {row["login"]: row["id"] for row in rows} | {row["email"]: row["id"] for row in rows}
        found[platform] = {who_is[line[key]]: number_or_none(line[cell]) for line in after[first:]}
        wrong[platform] = sum(old[:cell] + old[cell + 1:] != new[:cell] + new[cell + 1:] for old, new in zip(before, after))
        wrong[platform] += len(before) != len(after)
    return found, wrong


def packed_autograder(out, to, expect):
    """@returns how many files of the zip name a student, or are missing"""
    rungs("export", out, "--to", "gradescope-autograder", "--out", to / "autograder.zip", expect=expect)
    names = read_by_python("zip", to / "autograder.zip", to / "autograder")
    return sum(name not in names for name in ("setup.sh", "run_autograder", "assignment.toml", "workbook/rungs")) + sum(
        bool(re.search(r"/s[0-9]{4}\b", name)) for name in names)


def compare_scores(found, wrong, expected):
    """Prints a table. @returns how much is not as it should be. `expected`: scores by form, and in each by student"""
    rows, faults = [["form", "students", "with a score", "sum of scores", "other scores", "wrong otherwise"]], 0
    for form, scores in found.items():
        should = expected[form]
        other = [who for who in should if who not in scores or (scores[who] is None) != (should[who] is None)
                 or (scores[who] is not None and abs(scores[who] - should[who]) > 1e-6)]
        for who in other[:5]:
            print(f"  {form}: {who} has {scores.get(who, 'no place')}, and should have {should[who]}")
        known = [score for score in scores.values() if score is not None]
        rows.append([form, len(scores), len(known), exact(sum(known)), len(other), wrong.get(form, 0)])
        faults += len(other) + wrong.get(form, 0)
    table(*rows)
    return faults


def decide_all(out):
    """Decides all that `review` lists, with reasons. @returns how many decisions there are"""
    assignment = json.loads(text_of(out / "assignment.json"))
    names = {f"{rung['chapter'][:2]}/{rung['rung'][:2]}": rung["max_points"] for rung in assignment["rungs"]}
    decisions = 0
    for line in rungs("review", out, expect=(3,)).splitlines():
        if refused := re.match(r"(\S+)  the hand-in \S+ was refused: ", line):
            asked = [(refused.group(1), name, 0) for name in names]
        elif evidence := re.match(r"(\S+) (\d\d/\d\d)  [A-Z_]+  ", line):
            asked = [(evidence.group(1), evidence.group(2), names[evidence.group(2)] / 2)]
        else:
            continue
        for who, name, points in asked:
            rungs("review", out, who, name, "--points", str(points), "--because", f"{who} has shown how it works, or not")
            decisions += 1
    rungs("review", out)  # nothing is open: status 0
    return decisions


def grade_on_cluster(made, whole, out, cluster):
    """The same class by --slurm, on a cluster of one node. @returns why not; empty: it is graded"""
    with socket.socket() as one:
        one.bind(("", 0))
        port = one.getsockname()[1]
    # Its daemons keep what they print to open.
    with open(cluster / "start.log", "w+") as log:
        started = subprocess.run([CLUSTER, "start", cluster, str(port)], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                 check=False).returncode
        log.seek(0)
        said = log.read().strip()
    if started == 3:
        return said
    if started != 0:
        raise Failure(f"the cluster did not come up:\n{said[-3000:]}")
    give_seed(out, whole)
    environment = {"SLURM_CONF": f"{cluster}/slurm.conf"}
    rungs("grade", made.place, "--out", out, "--below-s3", "--slurm", "--tasks", "2", "--", "--partition=main",
          "--cpus-per-task=1", **environment)
    name = json.loads(text_of(out / "slurm" / "run.json"))["name"]
    while subprocess.run(["squeue", "--noheader", f"--name={name}"], env={**os.environ, **environment}, check=True,
                         stdout=subprocess.PIPE).stdout:
        time.sleep(1)
    if not (out / "projection.txt").exists():
        raise Failure(f"the jobs of {name} have left no grades; {out}/slurm/{name}/ has their logs")
    return ""


def chain(args, work, seed):
    start = time.monotonic()
    forms = ["folder", ".zip", *(ending for ending in TARS if ending != ".tar.zst" or shutil.which("zstd"))]
    weights = "".join(f'"{chapter}" = {weight}\n' for chapter, weight in WEIGHTS.items())
    made = MadeClass(work / "class", args.students, seed, forms=forms, policy=f"round_to = {ROUND_TO}\n[weights]\n{weights}",
                     kinds=["full", "hostile", "partial", "broken", "copy", "late", "starter", "twice"])
    print(f"{args.students} students ({made.described()}), as {', '.join(forms)}, and one refused and one absent; "
          f"{len(made.asked)} rungs, {made.records} records; --jobs {args.jobs}; seed {seed}\n", flush=True)
    adopt_orphans()
    steps = [["step", "seconds", "what", "wrong"]]
    faults, lap = 0, start

    def step(name, what, wrong):
        nonlocal faults, lap
        now = time.monotonic()
        steps.append([name, f"{now - lap:.1f}", what, wrong])
        faults += wrong
        lap = now
        print(f"  {name}: {now - start:.0f} s", flush=True)

    whole = work / "whole"
    kills, lost = graded_and_killed(made, whole, args.jobs, work, random.Random(seed + 1))
    before, records = projection(whole), count_records(whole)
    step("grade", f"{records} records, {kills} kills", lost + abs(records - made.records) + unexpected_verdicts(made, before))

    # With the same bytes the keys are the same: what comes in another form finds its records.
    platforms, outs = Platforms(made, work / "platforms"), {}
    for name in Platforms.NAMES:
        given, out = platforms.make(name), work / "platforms" / f"{name.replace(' ', '-')}-graded"
        give_seed(out, whole)
        shutil.copytree(whole / "records", out / "records", ignore=lambda folder, names: (
            [] if Path(folder).name != "records" else [one for one in names if one not in platforms.hand_ins]))
        there = count_records(out)
        rungs("grade", given, "--assignment", given.parent / "assignment.toml", "--out", out, "--below-s3", expect=(0, 1, 3))
        same = [line for line in before if line.split("\t")[0] in platforms.hand_ins]
        lines = differing(same, projection(out))
        for old, new in lines[:5]:
            print(f"  folders and archives: {old}\n  {name}: {new}")
        step(name, f"{len(platforms.hand_ins)} hand-ins, {count_records(out) - there} records more",
             len(lines) + count_records(out) - there)
        outs[name] = out

    def export(when, expect):
        rows = csv_of(whole, work, expect)
        expected, wrong = expected_scores(made, whole, rows)
        found, otherwise = exported(whole, work / f"exports-{when}", rows, expect)
        print(f"exports {when} the review, read back:\n")
        wrong += compare_scores(found, otherwise, {form: expected for form in found})
        left = sum(score is None for score in expected.values())
        step(f"export, {when} the review", f"{len(found)} forms, {left} students without a score", wrong)
        return rows

    export("before", (3,))
    decisions = decide_all(whole)
    rungs("grade", made.place, "--out", whole, "--below-s3", "--jobs", str(args.jobs), expect=(0, 1))
    step("review", f"{decisions} decisions", count_records(whole) - records)
    rows = export("after", (0,))
    step("autograder.zip", "read back", packed_autograder(whole, work / "exports-after", (0,)))

    scores, should = {}, {}
    for name, out in outs.items():
        shutil.copytree(whole / "decisions", out / "decisions")
        scores[name] = {row["id"]: number_or_none(row["score"]) for row in csv_of(out, work, (0,))}
        # A commit is never late.
        there = [row for row in rows if row["id"] in scores[name]]
        should[name] = expected_scores(made, whole, there, with_lateness=name != "git")[0]
    print("the same hand-ins in other forms, exported as CSV:\n")
    step("export of other forms", f"{len(outs)} forms", compare_scores(scores, {}, should))

    out = work / "cluster"
    # Slurm's configuration takes no blank in the folder's name.
    with tempfile.TemporaryDirectory(prefix="rungs-slurm-", dir="/tmp", ignore_cleanup_errors=True) as cluster:
        try:
            why_not = grade_on_cluster(made, whole, out, Path(cluster))
        finally:
            subprocess.run([CLUSTER, "stop", cluster], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=False)
    if why_not:
        step("--slurm", why_not, 0)
    else:
        lines = differing(before, projection(out))
        for old, new in lines[:5]:
            print(f"  here: {old}\n  --slurm: {new}")
        shutil.copytree(whole / "decisions", out / "decisions")
        other = [row["id"] for here, row in zip(rows, csv_of(out, work, (0,))) if here["score"] != row["score"]]
        step("--slurm", f"{count_records(out)} records", len(lines) + len(other))
    print(f"in all {time.monotonic() - start:.0f} s\n")
    table(*steps)
    return 1 if faults else 0


# ------------------------------------------------------------------------------------------------- flat


def children_of():
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                children.setdefault(int(text_of(f"/proc/{entry}/stat").rsplit(")", 1)[1].split()[1]), []).append(int(entry))
            except (OSError, IndexError):
                pass
    return children


def is_grader(pid):
    """Whether a process is the grader or a fork of it: not a compiler or a worker."""
    try:
        return os.readlink(f"/proc/{pid}/exe").startswith(str(BUILD / "bin" / "rungs"))
    except OSError:
        return False


def memory_of(pid):
    """Resident KiB of a process, and its share of what it has together with others."""
    try:
        resident = int(re.search(r"^VmRSS:\s*(\d+)", text_of(f"/proc/{pid}/status"), re.MULTILINE).group(1))
        return resident, int(re.search(r"^Pss:\s*(\d+)", text_of(f"/proc/{pid}/smaps_rollup"), re.MULTILINE).group(1))
    except (OSError, AttributeError):
        return 0, 0


def size_of(folder):
    """Bytes on the disk of all below a folder, and the number of files."""
    bytes_, files = 0, 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                bytes_ += os.lstat(os.path.join(place, name)).st_blocks * 512
                files += 1
            except OSError:
                pass
    return bytes_, files


def sample(grader, out):
    pid = grader.process.pid
    try:
        descriptors = len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return None
    resident, _ = memory_of(pid)
    below, todo, family = children_of(), [pid], 0
    while todo:
        one = todo.pop()
        todo += below.get(one, [])
        family += memory_of(one)[1] if is_grader(one) else 0
    if resident == 0:
        return None
    cache, cached = size_of(out / "cache")
    everything, files = size_of(out)
    threads = len(os.listdir(f"/proc/{pid}/task")) if os.path.isdir(f"/proc/{pid}/task") else 0
    return {"descriptors": descriptors, "grader, MiB": resident / 1024, "grader and its wardens, MiB": family / 1024,
            "threads": threads, "out without cache, MiB": (everything - cache) / 2**20,
            "out, files": files - cached, "cache, MiB": cache / 2**20, "cache, files": cached,
            "temporary files": size_of(grader.temporary)[1]}


def slope(xs, ys):
    """Least squares: of ys for each step of 1 in xs."""
    middle_x, middle_y = statistics.fmean(xs), statistics.fmean(ys)
    spread = sum((x - middle_x) ** 2 for x in xs)
    return sum((x - middle_x) * (y - middle_y) for x, y in zip(xs, ys)) / spread if spread else 0.0


def flat(args, work, seed):
    # Each submission is one file, with bytes of its own; all are honest, so that work is the same from first to last.
    rung = ["01_reduction/08_grid_stride"]
    made = MadeClass(work / "class", args.submissions, seed, kinds=["full"], asked=rung, odd_ones=False)
    out = work / "flat"
    print(f"{args.submissions} submissions of 01/08, each with bytes of its own; --jobs {args.jobs}; seed {seed}\n",
          flush=True)
    start = time.monotonic()
    grader = Grader(made, out, args.jobs, work / "tmp-flat")
    samples, finished = [], []  # (records, sample); when each record was there
    next_sample, shown = 0.0, 0
    pause = 1.0 if args.submissions < 100 else 3.0
    while not grader.ended():
        now = time.monotonic()
        done = count_records(out)
        finished += [now] * (done - len(finished))
        if now >= next_sample:
            next_sample = now + pause
            if (found := sample(grader, out)) and done > 0:
                samples.append((done, found))
        if 10 * done // args.submissions > shown:
            shown = 10 * done // args.submissions
            print(f"  {done} of {args.submissions}, {now - start:.0f} s", flush=True)
        time.sleep(0.05 if args.submissions < 100 else 0.2)
    grader.finish()
    seconds = time.monotonic() - start
    done = count_records(out)
    finished += [time.monotonic()] * (done - len(finished))
    # In the last moments fewer rungs are judged at once than jobs.
    samples = [one for one in samples if one[0] <= args.submissions - args.jobs] or samples
    quarter = max(1, len(samples) // 4)
    if len(samples) < 4:
        raise Failure(f"only {len(samples)} samples; take more submissions, or be root: nobody else may look into a grader")
    print()
    rows = [["", "first quarter", "last quarter", "most", "per 100 submissions"]]
    means = {}
    for name in samples[0][1]:
        values = [found[name] for _, found in samples]
        means[name] = statistics.fmean(values[:quarter]), statistics.fmean(values[-quarter:])
        rise = 100 * slope([count for count, _ in samples], values)
        rows.append([name, f"{means[name][0]:.1f}", f"{means[name][1]:.1f}", f"{max(values):.1f}", f"{rise:+.2f}"])
    table(*rows)
    part = max(1, done // 4)
    first = (finished[min(part, done - 1)] - finished[0]) / part  # from the first record on: references come before it
    last = (finished[done - 1] - finished[done - 1 - part]) / part if done > part else first
    verdicts = {line.split("\t")[3] for line in projection(out)}
    table(["submissions", "seconds", "a submission, s", "first quarter, s", "last quarter, s", "verdicts"],
          [done, f"{seconds:.1f}", f"{seconds / done:.2f}", f"{first:.2f}", f"{last:.2f}", " ".join(sorted(verdicts))])
    shutil.rmtree(out, ignore_errors=True)

    subset = min(args.submissions, 12)
    several = MadeClass(work / "subset", subset, seed)
    outs = {}
    rows = [["", "seconds", "lines", "differing"]]
    for jobs in (1, 4):
        outs[jobs] = work / f"jobs{jobs}"
        if jobs == 4:
            give_seed(outs[4], outs[1])
        start = time.monotonic()
        Grader(several, outs[jobs], jobs, work / "tmp-jobs").finish()
        lines = differing(projection(outs[1]), projection(outs[jobs]))
        rows.append([f"--jobs {jobs}", f"{time.monotonic() - start:.1f}", len(projection(outs[jobs])), len(lines)])
    print(f"{subset} students ({several.described()}):\n")
    table(*rows)
    for old, new in lines[:20]:
        print(f"  --jobs 1: {old}\n  --jobs 4: {new}")
    # Memory and the cache settle once all threads have had the largest of their work; few submissions show that alone.
    leaks = [name for name, (before, after) in means.items() if args.submissions >= 100 and after > 1.25 * before + 5
             and name in ("descriptors", "grader, MiB", "grader and its wardens, MiB", "threads", "temporary files")]
    if leaks:
        print(f"not flat: {', '.join(leaks)}")
    elif args.submissions < 100:
        print("too few submissions to call it flat or not: it takes 100")
    return 1 if lines or leaks or done != args.submissions else 0


# ------------------------------------------------------------------------------------------- thresholds

FACTORS = [0.95, 0.98, 1.02, 1.05]
BUSY = [0, 2, 4]
RUNG, BASELINE, HANDED_IN = "10_vectorized", "04_interleaved", "08_grid_stride"


class ThresholdWorkbook:
    """A workbook of one exercise, whose thresholds are ours to set. Handed in is a slower rung under its name, so that
    thresholds on both sides of it are in reach of the reference."""

    def __init__(self, folder, size):
        self.folder = Path(folder)
        chapter = self.folder / "chapters" / "01_reduction"
        chapter.mkdir(parents=True)
        real = ROOT / "chapters" / "01_reduction"
        for file in real.glob("*.cuh"):
            shutil.copy(file, chapter)
        shutil.copy(real / f"{BASELINE}.cu", chapter)
        self.solution = self.folder / "solutions" / "01_reduction" / f"{RUNG}.cu"
        self.solution.parent.mkdir(parents=True)
        shutil.copy(ROOT / "solutions" / "01_reduction" / f"{RUNG}.cu", self.solution)
        shutil.copy(self.solution, chapter)
        for headers in ("include", "simt/include", "simt/model"):
            shutil.copytree(ROOT / "common" / headers, self.folder / "common" / headers)
        shutil.copy(ROOT / "common" / "packages.txt", self.folder / "common")
        tools = json.loads(text_of(BUILD / "toolchain.json"))
        for mode in ("cpu", "check", "cuda"):
            if tools.get(mode):
                tools[mode]["compile"] = [flag.replace(f"-I{ROOT}/", f"-I{self.folder}/")
                                          for flag in tools[mode]["compile"]]
        tools.update(root=str(self.folder), build=str(self.folder / "build"), cache=str(self.folder / "build" / "cache"))
        (self.folder / "build").mkdir()
        (self.folder / "build" / "toolchain.json").write_text(json.dumps(tools))
        launcher = HANDED_IN[3:], RUNG[3:]
        handed_in = self.folder / "submission" / "01_reduction" / f"{RUNG}.cu"
        handed_in.parent.mkdir(parents=True)
        handed_in.write_text(text_of(ROOT / "solutions" / "01_reduction" / f"{HANDED_IN}.cu")
                             .replace(f"reduction::{launcher[0]}(", f"reduction::{launcher[1]}("))
        timed = re.search(r"^\[\[timed\]\]\n(.*?)\n\n", text_of(real / "chapter.toml"), re.MULTILINE | re.DOTALL)
        self.timed = timed.group(1)
        if size:
            self.timed = re.sub(r"sizes = \[\d+\]", f"sizes = [{size}]", self.timed)

    def run(self, *words):
        return subprocess.run(
            [RUNGS, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=self.folder, check=False, timeout=240,
            env={**os.environ, "RUNGS_BUILD": str(self.folder / "build"), "XDG_STATE_HOME": str(self.folder / "state")})

    def write_manifest(self, zero, full):
        (self.folder / "chapters" / "01_reduction" / "chapter.toml").write_text(
            'title = "Reduction"\nsummary = "Add up n floats."\nnamespace = "reduction"\ncontract = "reduction.cuh"\n'
            '[problems]\nsum = "Sum"\n[[cases]]\nsizes = [0, 1, 257]\nkinds = ["uniform"]\n'
            f'[[timed]]\n{self.timed}\n[rungs.{BASELINE}]\nidea = "the baseline"\n[rungs.{RUNG}]\nidea = "what is judged"\n'
            f'points = 10\nhints = ["none"]\nspeed = {{ points = 5, baseline = "{BASELINE}", zero = {zero!r}, '
            f"full = {full!r} }}\n")

    def judge(self, zero, full):
        """One check of the submission on the GPU. @returns its result"""
        self.write_manifest(zero, full)
        result = self.folder / "result.json"
        if result.exists():
            result.unlink()
        run = self.run("check", f"01/{RUNG[:2]}", "--submission", self.folder / "submission", "--backend", "cuda", "--json", result)
        if not result.exists():
            raise Failure(f"rungs check ended with {run.returncode}:\n{(run.stdout + run.stderr)[-3000:]}")
        rung = json.loads(text_of(result))["rungs"][0]
        if not rung["speed"].get("judged") and rung["verdict"] not in ("UNSTABLE", "SUSPECT"):
            raise Failure(f"speed was not judged: {rung['verdict']}, {rung['reason']} {rung['speed'].get('why_not', '')}\n"
                          f"{(run.stdout + run.stderr)[-3000:]}")
        return rung


class BusyThreads:
    """So many threads that compute without end."""

    def __init__(self, count):
        self.processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]

    def __enter__(self):
        time.sleep(0.2 if self.processes else 0)
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()


def outcome_of(rung, which, factor):
    """"right", "wrong", or "none" where a human is asked to look. What is promised at `zero` is a verdict, SLOW or not;
    at `full` all the points for speed, or less."""
    if rung["verdict"] not in ("OK", "SLOW"):
        return "none"
    reached = rung["verdict"] == "OK" if which == "zero" else rung["points"] >= 15
    return "right" if reached == (factor > 1) else "wrong"


def upper_bound(wrong, of):
    """95 %, one-sided, of a probability that was seen `wrong` times (Clopper and Pearson)."""
    if wrong >= of:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(60):
        p = (low + high) / 2
        below = sum(math.comb(of, k) * p**k * (1 - p) ** (of - k) for k in range(wrong + 1))
        low, high = (p, high) if below > 0.05 else (low, p)
    return high


def modelled_is_fixed(seed, work):
    """On the CPU backend speed follows from counters. @returns the modelled speedups of a rung for several inputs"""
    seen = set()
    for i in range(3):
        result = work / "modelled.json"
        run = subprocess.run([RUNGS, "check", "01/08", "--submission", ROOT / "solutions", "--backend", "cpu", "--seed",
                              str(seed + i), "--json", result], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             cwd=ROOT, check=False, env={**os.environ, "XDG_STATE_HOME": str(work / "state")})
        if not result.exists():
            raise Failure(f"rungs check ended with {run.returncode}:\n{(run.stdout + run.stderr)[-3000:]}")
        seen.add(json.loads(text_of(result))["rungs"][0]["modelled"]["speedup"])
    return seen


def thresholds(args, work, seed):
    start = time.monotonic()
    if not args.cuda_only:
        # A copy: solutions/ is not taken from a submission.
        seen = modelled_is_fixed(seed, work)
        print(f"cpu backend, 01/08 three times with other inputs: modelled speedup {', '.join(map(str, sorted(seen)))}; "
              "it follows from counters, so no verdict depends on the machine's load\n", flush=True)
        if len(seen) > 1:
            raise Failure("the modelled speedup depends on the inputs")
    if not json.loads(text_of(BUILD / "toolchain.json")).get("cuda"):
        raise Failure("the build has no CUDA backend; thresholds of timed speed need one, and a GPU")
    workbook = ThresholdWorkbook(work / "workbook", args.size)
    chance = random.Random(seed)
    # A threshold in the middle of what is measured is not decided before the last pair: these are the best estimates.
    first = workbook.judge(1.01, 1.02)["speed"]
    speedup = first["speedup"]
    before = time.monotonic()
    best = [workbook.judge(1 + (speedup - 1) / 2, speedup / 0.98)["speed"] for _ in range(2)]
    longest = (time.monotonic() - before) / 2
    truth = [one["speedup"] for one in best]
    reference = truth[-1] / best[-1]["of_reference"]
    true = statistics.median(truth)
    print(f"true speedup of what is handed in: {true:.4f} times {BASELINE} "
          f"({', '.join(f'{one:.4f}' for one in truth)}; {best[-1]['pairs']} pairs each); the reference: {reference:.2f}")
    most_full = 0.9 * reference  # beyond 0.95 of it thresholds come down to it
    if most_full < 1.05 * true / min(args.factors):
        raise Failure("the reference is hardly faster than what is handed in, so thresholds would be moved to it")
    places = ["zero", "full"] if args.at == "both" else [args.at]
    cells = {(which, busy, factor): [] for which in places for busy in BUSY for factor in args.factors}
    estimates = {busy: [] for busy in BUSY}
    pairs = []
    costs = []
    rounds = 0
    while rounds < args.repeats:
        order = list(cells)
        chance.shuffle(order)
        for which, busy, factor in order:
            before = time.monotonic()
            if before - start + (statistics.fmean(costs) if costs else 0) + longest > args.seconds:
                break
            at = true / factor
            zero, full = (at, min(1.4 * at, most_full)) if which == "zero" else (1 + (at - 1) / 2, at)
            with BusyThreads(busy):
                rung = workbook.judge(zero, full)
            cells[which, busy, factor].append(outcome_of(rung, which, factor))
            if rung["speed"].get("judged"):
                estimates[busy].append(rung["speed"]["speedup"] / true)
                pairs.append(rung["speed"]["pairs"])
            costs.append(time.monotonic() - before)
        else:
            rounds += 1
            continue
        break
    after = workbook.judge(1 + (true - 1) / 2, true / 0.98)["speed"].get("speedup", float("nan"))
    if not costs:
        raise Failure(f"no time was left for verdicts after {time.monotonic() - start:.0f} s; give more --seconds")
    print(f"once more at the end: {after:.4f}, {100 * (after / true - 1):+.2f} %; {len(costs)} verdicts, "
          f"{statistics.fmean(costs):.1f} s and {statistics.fmean(pairs or [0]):.0f} pairs each\n")
    rows = [["threshold", "busy threads", *(f"{factor} x" for factor in args.factors)]]
    for which in places:
        for busy in BUSY:
            row = ["no points: SLOW" if which == "zero" else "all points", busy]
            for factor in args.factors:
                seen = cells[which, busy, factor]
                wrong, none = seen.count("wrong"), seen.count("none")
                row.append(f"{wrong} of {len(seen)}" + (f", {none} held" if none else ""))
            rows.append(row)
    print("wrong verdicts, at a true speedup of so many times the threshold:\n")
    table(*rows)
    rows = [["busy threads", "verdicts", "median", "spread", *(f"wrong at {factor} x" for factor in args.factors), "seen wrong"]]
    for busy in BUSY:
        values = estimates[busy]
        seen = [one for (_, load, _), all_ in cells.items() if load == busy for one in all_ if one != "none"]
        if len(values) < 3:
            continue
        middle, spread = statistics.fmean(values), statistics.stdev(values)
        chances = []
        for factor in args.factors:  # estimate / threshold = factor * values, and it is wrong on the other side of 1
            z = (factor * middle - 1) / max(factor * spread, 1e-9)
            chances.append(f"{100 * statistics.NormalDist().cdf(z if factor < 1 else -z):.2g} %")
        rows.append([busy, len(values), f"{statistics.median(values):.4f}", f"{100 * spread:.2f} %", *chances,
                     f"{seen.count('wrong')} of {len(seen)}, below {100 * upper_bound(seen.count('wrong'), len(seen)):.0f} % "
                     "(95 %)"])
    print("all speedups over the true one, and how often a verdict would be wrong if they are normally distributed:\n")
    table(*rows)
    wrong = [key for key, seen in cells.items() if "wrong" in seen and key[2] in (0.95, 1.05)]
    return 1 if wrong else 0


# --------------------------------------------------------------------------------------------- overhead


def overhead(args, work, seed):
    program = BUILD / "bin" / "rungs_launch_cost"
    if not program.exists():
        subprocess.run(["ninja", "-C", BUILD, "rungs_launch_cost"], stdout=sys.stderr, check=False)
    if not program.exists():
        raise Failure(f"{program} is missing; build it: ninja -C {BUILD} rungs_launch_cost")
    run = subprocess.run([program, str(args.launches)], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise Failure(run.stderr)
    about = json.loads(run.stdout)
    print(f"{args.launches} launches each, taking turns; held at {about['sandbox']}\n")
    rows = [["launch of /bin/true", "median, ms", "least", "90 %", "most"]]
    for name, values in about["milliseconds"].items():
        ordered = sorted(values)
        rows.append([name, f"{statistics.median(ordered):.2f}", f"{ordered[0]:.2f}", f"{ordered[int(0.9 * len(ordered))]:.2f}",
                     f"{ordered[-1]:.2f}"])
    table(*rows)
    medians = {name: statistics.median(values) for name, values in about["milliseconds"].items()}
    rows = [["confinement adds", "median, ms", "budget, ms"]]
    more = {name: medians[name] - medians["unconfined"] for name in medians if name != "unconfined"}
    rows += [[name, f"{value:.2f}", 15] for name, value in more.items()]
    table(*rows)
    return 0 if max(more.values()) <= 15 else 1


# ------------------------------------------------------------------------------------------------- main


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("a number from 1 on")
    return value


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cores = len(os.sched_getaffinity(0))
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--seed", type=int)
    common.add_argument("--work", type=Path)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verb = verbs.add_parser("killed", parents=[common])
    verb.add_argument("students", type=positive)
    verb.add_argument("kills", type=positive)
    verb.add_argument("jobs", type=positive, nargs="?", default=cores)
    verb.add_argument("--seconds", type=float, default=math.inf)
    verb = verbs.add_parser("chain", parents=[common])
    verb.add_argument("students", type=positive, nargs="?", default=60)
    verb.add_argument("jobs", type=positive, nargs="?", default=cores)
    verb = verbs.add_parser("flat", parents=[common])
    verb.add_argument("submissions", type=positive)
    verb.add_argument("jobs", type=positive, nargs="?", default=cores)
    verb = verbs.add_parser("thresholds", parents=[common])
    verb.add_argument("repeats", type=positive, nargs="?", default=1000)
    verb.add_argument("--seconds", type=float, default=270)
    verb.add_argument("--size", type=positive)
    verb.add_argument("--factors", type=float, nargs="+", choices=FACTORS, default=FACTORS)
    verb.add_argument("--at", choices=["zero", "full", "both"], default="zero")
    verb.add_argument("--cuda-only", action="store_true")
    verb = verbs.add_parser("overhead", parents=[common])
    verb.add_argument("launches", type=positive, nargs="?", default=200)
    args = parser.parse_args()
    if not RUNGS.exists():
        raise Failure(f"{RUNGS} is missing; build first: ./rungs grade --help")
    seed = args.seed if args.seed is not None else random.SystemRandom().randrange(1_000_000)
    work = args.work
    if work:
        work.mkdir(parents=True)  # results of another run are not mixed with these
        work = work.resolve()
    else:
        work = Path(tempfile.mkdtemp(prefix="rungs-figures-"))
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    print(f"{' '.join(sys.argv[1:])}: {machine()}, {time.strftime('%Y-%m-%d', time.gmtime())}", flush=True)
    try:
        measure = {"killed": killed, "chain": chain, "flat": flat, "thresholds": thresholds, "overhead": overhead}
        return measure[args.verb](args, work, seed)
    finally:
        if Grader.running and not Grader.running.ended():
            Grader.running.kill()
        if not args.work:
            shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"class_figures: {failure}", file=sys.stderr)
        sys.exit(3)
