/// @file
/// cu2cpp: translates CUDA C++ so that a C++ compiler and the CPU backend's runtime can run it.

#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>

#include "cu2cpp/project.h"

namespace {

constexpr const char* usage =
    "usage: cu2cpp INPUT.cu -o OUTPUT.cpp [-I DIR]... [--header-dir DIR] [--depfile FILE] [--rdc]\n"
    "              [--relaxed-constexpr] [--loops] [--explain-loops] [--dropped-errors] [--lenient]\n"
    "       cu2cpp --check INPUT.cu [-I DIR]...\n"
    "\n"
    "Translates CUDA C++ into C++ for the CPU backend. Lines keep their numbers; what cannot be\n"
    "translated is refused with file, line and reason.\n"
    "\n"
    "  -o FILE            the C++ file to write\n"
    "  -I DIR             where to look for headers in quotes, after the file's own folder, and <name.cuh>\n"
    "  --header-dir DIR   where translated headers go (default: OUTPUT.cpp.headers)\n"
    "  --depfile FILE     write the files that were read, in Makefile syntax\n"
    "  --rdc              device code links across files, as with nvcc -rdc=true\n"
    "  --relaxed-constexpr  device code may call constexpr functions of the host, as with nvcc's\n"
    "                     --expt-relaxed-constexpr\n"
    "  --loops            kernels become loops over lanes where that can be; for run mode: compile what "
    "comes\n"
    "                     out with -include simt/lanes.h\n"
    "  --explain-loops    say on standard error what became of each kernel with a barrier, and why\n"
    "  --dropped-errors   for check mode: mark the calls of the runtime whose error the program drops\n"
    "  --lenient          for what others wrote: let texture references pass, which CUDA 12 removed "
    "(compile\n"
    "                     what comes out with -include simt/texture_reference.h), and take the device's\n"
    "                     where constants depend on `__CUDA_ARCH__`, with a note\n"
    "  --check            translate, report, write nothing\n"
    "\n"
    "Exit status: 0 translated; 1 refused, or a file cannot be read or written; 2 wrong use.\n";

int wrong_use(const std::string& what) {
    std::fprintf(stderr, "cu2cpp: %s\n%s", what.c_str(), usage);
    return 2;
}

int run(const cu2cpp::Job& job, bool explain) {
    cu2cpp::Project project(job);
    const auto& diagnostics = project.analyse();
    // Also of a program that is refused: the messages may be about any of the files.
    if (!job.depfile.empty()) project.write_depfile();
    if (!diagnostics.empty()) {
        for (const auto& diagnostic : diagnostics) std::fprintf(stderr, "%s\n", diagnostic.text().c_str());
        project.remove_output();
        return 1;
    }
    for (const auto& what : project.notes()) std::fprintf(stderr, "%s\n", what.text("note").c_str());
    if (explain)
        for (const auto& kernel : project.loops()) std::fprintf(stderr, "%s\n", kernel.text("note").c_str());
    if (!job.output.empty()) project.write();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    cu2cpp::Job job;
    bool check = false;
    bool explain = false;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        const auto value = [&](std::string_view option) -> const char* {
            if (argument != option) return nullptr;
            return i + 1 < argc ? argv[++i] : "";
        };
        if (argument == "--help" || argument == "-h") {
            std::fputs(usage, stdout);
            return 0;
        }
        if (argument == "--check") {
            check = true;
        } else if (argument == "--rdc") {
            job.relocatable = true;
        } else if (argument == "--relaxed-constexpr") {
            job.relaxed_constexpr = true;
        } else if (argument == "--dropped-errors") {
            job.dropped_errors = true;
        } else if (argument == "--loops") {
            job.loops_over_lanes = true;
        } else if (argument == "--lenient") {
            job.lenient = true;
        } else if (argument == "--explain-loops") {
            job.loops_over_lanes = explain = true;
        } else if (const char* output = value("-o")) {
            if (!job.output.empty()) return wrong_use("-o is given twice");
            job.output = output;
            if (job.output.empty()) return wrong_use("-o needs a file name");
        } else if (const char* dir = value("-I")) {
            if (*dir == '\0') return wrong_use("-I needs a folder");
            job.include_dirs.emplace_back(dir);
        } else if (argument.substr(0, 2) == "-I") {
            job.include_dirs.emplace_back(argument.substr(2));
        } else if (const char* header_dir = value("--header-dir")) {
            job.header_dir = header_dir;
            if (job.header_dir.empty()) return wrong_use("--header-dir needs a folder");
        } else if (const char* depfile = value("--depfile")) {
            job.depfile = depfile;
            if (job.depfile.empty()) return wrong_use("--depfile needs a file name");
        } else if (argument.size() > 1 && argument[0] == '-') {
            return wrong_use("unknown option '" + std::string(argument) + "'");
        } else if (!job.input.empty()) {
            return wrong_use("one input at a time, but '" + std::string(argument) + "' follows '" +
                             job.input.string() + "'");
        } else {
            job.input = argument;
        }
    }
    if (job.input.empty()) return wrong_use("no input file");
    if (check)
        job.output.clear();
    else if (job.output.empty())
        return wrong_use("no output file: give -o OUTPUT.cpp, or --check");
    std::error_code ignored;
    if (!check && std::filesystem::equivalent(job.input, job.output, ignored)) {
        return wrong_use("input and output are the same file");
    }
    try {
        return run(job, explain);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        std::error_code gone;
        if (!check && std::filesystem::is_regular_file(job.output, gone))
            std::filesystem::remove(job.output, gone);
        return 1;
    }
}
