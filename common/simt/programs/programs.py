#!/usr/bin/env python3
"""Builds and runs CUDA programs that others wrote, and prints what became of them.

usage: programs.py FOLDER [REPOSITORY...] [options]

  --limit S    seconds of a processor that each run may take: 40
  -j N         programs at a time: 1
  --again TEXT forget what is known of programs whose path has TEXT in it ("": of none)
  --bin FOLDER where simt++ is: build/default/bin
  --list       print the programs only

FOLDER holds the repositories of programs.toml, each in OWNER+NAME: one that is not there is cloned. REPOSITORY is a
part of such a name; without it all are taken. FOLDER/results keeps for each program what its builds and runs said, and
programs.tsv, the table by program. What is there is not done again.

A program is a .cu file with main() that neither includes a library of the GPU vendor's, nor graphics, nor MPI, itself
or through its own headers. Where main() is in one file of a folder only, and the folder has CUDA in it, the other
sources of the folder belong to it, except those that are included. Folders that have a folder with their solution are
exercises, and left out. Where programs.toml says `cmake`, a program is a folder with a CMakeLists.txt of its own and
such sources. A program gets the arguments that `make run` gives it, in its own folder. One that does not even begin, or
is too slow, is not run in check mode.
"""

import argparse
import concurrent.futures
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES, HEADERS = (".cu", ".c", ".cc", ".cpp"), (".h", ".hpp", ".cuh")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
MAIN = re.compile(r"^\s*(?:(?:int|void|auto)\s+)?main\s*\(", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
FOREIGN = re.compile(
    r"cu(blas|sparse|fft|rand|solver|dnn|tensor|file|\w*(gl_|d3d|egl))|nv(ml|rtc|jpeg|graph|bench|vm)|npp|nccl|opencv"
    r"|(thrust|cub|cutlass|cute|GL|GLFW|X11|SDL2?|vulkan)/|glut|glew|helper_gl|rendercheck|mpi\.h|nvshmem|d3d|torch/"
    r"|pybind11/", re.IGNORECASE)
OUTCOMES = ("ran well", "too slow", "refused", "not ours", "not compiled", "failed")
CHECKED = ("clean", "findings", "too slow", "failed")
RUN = re.compile(r"^run:.*\n\t[^\n]*\./\$\(?\w+\)?([^\n]*)", re.MULTILINE)  # of a Makefile
SAID_NO = re.compile(r"^simt: error=|\b(fail(s|ed|ure)?|mismatch(es)?|incorrect|wrong|(do|does|did)(n't| not) match)\b",
                     re.IGNORECASE)
SAID_NONE = re.compile(r"\b(0|no|none|not|without)\b.{0,20}\b(fail\w*|mismatch\w*)|(fail\w*|mismatch\w*)\s*[:=]\s*0\b",
                       re.IGNORECASE)


def text_of(path):
    return COMMENT.sub(" ", path.read_text(encoding="utf-8", errors="replace"))


def includes(path, folders, seen):
    """The names that a file includes, itself or through headers of its repository."""
    for quote, name in INCLUDE.findall(text_of(path)):
        yield name
        for folder in [path.parent, *folders] if quote == '"' or folders else []:
            header = (folder / name).resolve()
            if header.is_file() and header not in seen:
                seen.add(header)
                yield from includes(header, folders, seen)
                break


@dataclass
class Program:
    repository: str
    name: str  # its file or folder, from the root of the repository
    folder: Path
    sources: list  # none: CMake's
    options: list
    known: dict  # what programs.toml says of it

    def arguments(self):
        makefile = self.folder / "Makefile"
        if "arguments" not in self.known and makefile.is_file() and (run := RUN.search(text_of(makefile))):
            return run.group(1).split()
        return self.known.get("arguments", [])


def programs_of(repository, root):
    options = [option.format(root=root) for option in repository.get("options", [])]
    folders = [Path(option[2:]) for option in options if option.startswith("-I")]
    known = dict(repository.get("programs", {}))
    with_cuda = {path.parent for path in root.rglob("*.cu")}
    if not repository.get("cmake"):
        with_cuda |= {(root / name).parent for name in known}
    places = sorted(folder.relative_to(root).as_posix() for folder in with_cuda)
    places = [place for place in places if re.match(repository.get("folders", ""), place)]
    for place in places[::repository.get("every", 1)]:
        folder = root / place
        files = sorted(path for path in folder.iterdir() if path.suffix in SOURCES)
        mains = [path for path in files if MAIN.search(text_of(path))]
        if any(child.name.lower().startswith("solution") and child.is_dir() for child in folder.iterdir()):
            continue  # an exercise
        if repository.get("cmake"):
            found = {place: files} if (folder / "CMakeLists.txt").is_file() else {}
        elif len(mains) == 1:
            included = {Path(name).name for path in folder.iterdir() if path.suffix in (*SOURCES, *HEADERS)
                        for _, name in INCLUDE.findall(text_of(path))}
            found = {mains[0].relative_to(root).as_posix(): [path for path in files if path.name not in included]}
        else:
            found = {path.relative_to(root).as_posix(): [path] for path in mains if path.suffix == ".cu"}
        made_of = {name: [] for name, of_it in known.items() if "sources" in of_it and (root / name).parent == folder}
        found = made_of or found
        for name, sources in found.items():
            of_it = known.pop(name, {})
            sources = [folder / source for source in of_it.get("sources", [])] or sources
            if not any(FOREIGN.match(header) for source in sources for header in includes(source, folders, set())):
                yield Program(repository["name"], name, folder, [] if repository.get("cmake") else sources,
                              options + of_it.get("options", []), of_it)
    if known:
        sys.exit(f"programs.py: {repository['name']} has no program {', '.join(known)}")


def copy_of(repository, folder):
    """The folder of a repository's commit, which is cloned where it is not there."""
    root = folder / repository["name"].replace("/", "+")
    if not root.exists():
        subprocess.run(["git", "clone", "-q", f"https://github.com/{repository['name']}", root], check=True)
        subprocess.run(["git", "-C", root, "checkout", "-q", repository["commit"]], check=True)
    head = subprocess.run(["git", "-C", root, "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
    if head != repository["commit"]:
        sys.exit(f"programs.py: {root} is at {head or 'no commit'}, not at {repository['commit']}")
    if inputs := repository.get("inputs"):
        from_there = copy_of(inputs, folder) / inputs["folder"]
        for path in from_there.rglob("*"):
            link = root / inputs["folder"] / path.relative_to(from_there)
            if path.is_file() and not link.exists():
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(path)
    return root


def run(command, log, folder, limit):
    """Status and seconds of a processor; None for a status where the limit was reached. What it said is in `log`."""
    with open(log, "wb") as output:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        # A processor's time does not depend on what else the machine has to do.
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (limit, limit + 1))
        end = time.monotonic() + 10 * limit  # of one that sleeps, or whose children work
        pid = 0
        while pid == 0 and time.monotonic() < end:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            time.sleep(0.01 if pid == 0 else 0)
        try:
            os.killpg(process.pid, signal.SIGKILL)  # children too
        except ProcessLookupError:
            pass
        if pid == 0:
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = round(usage.ru_utime + usage.ru_stime, 2)
    slow = pid == 0 or process.returncode == -signal.SIGXCPU or seconds >= limit
    return None if slow else process.returncode, seconds


def build(program, mode, folder, bin_folder):
    """The executable, or None; the log is in build.log."""
    check = ["--check", "--json", str(folder / "findings.json")] if mode == "check" else []
    log, executable = folder / "build.log", folder / "program"
    if program.sources:
        command = [bin_folder / "simt++", "-v", *check, *program.options, *program.sources, "-lm", "-o", executable]
        status, _ = run(command, log, program.folder, 600)
        return executable if status == 0 else None
    toolchain = bin_folder.parent / "simt" / "toolchain.cmake"
    flags = " ".join(["-v", *check, *program.options])
    configure = ["cmake", "-S", program.folder, "-B", folder / "build", "-D", f"CMAKE_TOOLCHAIN_FILE={toolchain}",
                 "-D", "CMAKE_BUILD_TYPE=Release", "-D", f"CMAKE_CUDA_FLAGS={flags}"]
    if run(configure, log, folder, 600)[0] != 0:
        return None
    if run(["cmake", "--build", folder / "build"], log, folder, 600)[0] != 0:
        return None
    built = [path for path in sorted((folder / "build").iterdir()) if path.is_file() and os.access(path, os.X_OK)]
    return next((path for path in built if path.name == program.folder.name), built[0] if built else None)


def why_not_built(log):
    """An outcome and the first line that says why."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    translating = False
    for line in lines:
        if re.match(r"\S*/cu2cpp ", line):
            translating = True
        elif re.match(r"\S*/\S*(c\+\+|g\+\+)\S* ", line):
            translating = False
        elif "vendor's own libraries" in line or re.search(r"fatal error: .*No such file|CMake Error", line):
            return "not ours", line
        elif re.search(r"\berror:|undefined reference|multiple definition", line):
            ours = translating or re.search(r"static assertion failed: (CUDA|the CPU backend|inline PTX)", line)
            return "refused" if ours else "not compiled", line
    return "not compiled", lines[-1] if lines else ""


def attempt(program, mode, folder, options):
    """Builds and runs a program in one mode; what became of it."""
    folder.mkdir(parents=True, exist_ok=True)
    executable = build(program, mode, folder, options.bin)
    if not executable:
        outcome, reason = why_not_built(folder / "build.log")
        return {"outcome": outcome if mode == "run" else "failed", "reason": reason}
    log, findings = folder / "run.log", folder / "findings.json"
    findings.unlink(missing_ok=True)
    status, seconds = run([executable, *program.arguments()], log, program.folder, options.limit)
    executable.unlink()
    said = log.read_text(encoding="utf-8", errors="replace").splitlines()
    result = {"outcome": "ran well", "reason": "", "seconds": seconds}
    if status is None:
        result["outcome"] = "too slow"
    elif mode == "run":
        no = [line for line in said if SAID_NO.search(line) and not SAID_NONE.search(line)]
        if status != 0 or no:
            result |= {"outcome": "failed", "reason": f"status {status}: {(no or said or [''])[-1].strip()}"}
    elif findings.is_file():
        found = json.loads(findings.read_text())["findings"]
        errors = {finding["kind"] for finding in found if finding["severity"] == "error"}
        result |= {"outcome": "findings" if errors else "clean", "findings": sorted(errors)}
    else:
        result |= {"outcome": "failed", "reason": f"in check mode, status {status}: {(said or [''])[-1].strip()}"}
    return result


def judge(program, options):
    """The results of both modes, from their file where they are in it."""
    folder = options.folder.resolve() / "results" / program.repository.replace("/", "+") / program.name.replace("/", "--")
    file = folder / "result.json"
    again = options.again and options.again in f"{program.repository}/{program.name}"
    result = json.loads(file.read_text()) if file.is_file() and not again else {}
    if not result:
        result["run"] = attempt(program, "run", folder / "run", options)
        if result["run"]["outcome"] in ("ran well", "failed"):
            result["check"] = attempt(program, "check", folder / "check", options)
        file.write_text(json.dumps(result, indent=1))
    if "outcome" in program.known:
        result["run"] |= {key: program.known[key] for key in ("outcome", "reason")}
    if result["run"]["outcome"] not in ("ran well", "failed"):
        result.pop("check", None)
    if "check" in result and "findings" in program.known:
        result["check"]["reason"] = program.known["findings"]
    return result | {"program": program.name}


def cells(results):
    """A line's numbers: programs, then each outcome in run mode and in check mode."""
    ran = Counter(result["run"]["outcome"] for result in results)
    checked = Counter(result["check"]["outcome"] for result in results if "check" in result)
    return [len(results), *(ran[outcome] for outcome in OUTCOMES), *(checked[outcome] for outcome in CHECKED)]


def print_table(results):
    print("| repository, commit | programs |", " | ".join(OUTCOMES), "| checked:", " | ".join(CHECKED), "|")
    print("|:--|" + "--:|" * (1 + len(OUTCOMES) + len(CHECKED)))
    for name, of_repository in results.items():
        print(f"| {name} |", " | ".join(map(str, cells(of_repository))), "|")
    everything = cells([result for of_repository in results.values() for result in of_repository])
    print("| **all** |", " | ".join(f"**{number}**" for number in everything), "|")


def print_programs(results, file):
    print("repository", "program", *(f"{mode}: {what}" for mode in ("run", "check") for what in ("outcome", "seconds")),
          "errors that check mode found", "why", sep="\t", file=file)
    for name, of_repository in results.items():
        for result in of_repository:
            check = result.get("check", {})
            why = "; ".join(filter(None, [result["run"]["reason"], check.get("reason", "")]))
            print(name, result["program"], result["run"]["outcome"], result["run"].get("seconds", ""),
                  check.get("outcome", ""), check.get("seconds", ""), ", ".join(check.get("findings", [])),
                  why.replace("\t", " "), sep="\t", file=file)


def main():
    parser = argparse.ArgumentParser(usage="programs.py FOLDER [REPOSITORY...] [options]", add_help=False)
    parser.add_argument("folder", type=Path)
    parser.add_argument("repositories", nargs="*")
    parser.add_argument("--bin", type=Path, default=HERE.parents[2] / "build/default/bin")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--limit", type=int, default=40)
    parser.add_argument("--again", default="")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    if len(sys.argv) == 1 or set(sys.argv) & {"-h", "--help"}:
        sys.exit(__doc__)
    options = parser.parse_args()
    options.bin = options.bin.resolve()
    if not options.list and not (options.bin / "simt++").is_file():
        sys.exit(f"programs.py: there is no simt++ in {options.bin}; build it, or name its folder with --bin")
    known = tomllib.loads((HERE / "programs.toml").read_text(encoding="utf-8"))["repository"]
    parts = options.repositories or [""]
    chosen = [repository for repository in known if any(part in repository["name"] for part in parts)]
    if not chosen:
        sys.exit("programs.py: programs.toml has no such repository")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    results = {}
    for repository in chosen:
        programs = list(programs_of(repository, copy_of(repository, options.folder.resolve())))
        if options.list:
            print(*(f"{program.repository}\t{program.name}" for program in programs), sep="\n")
            continue
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            title = f"{repository['name']} `{repository['commit'][:10]}`"
            results[title] = list(pool.map(lambda program: judge(program, options), programs))
    if not options.list:
        print_table(results)
        with open(options.folder / "results" / "programs.tsv", "w", encoding="utf-8") as file:
            print_programs(results, file)


if __name__ == "__main__":
    main()
