// Damaged input for what reads, in the judge's own process, bytes that students or their programs have made:
// it is read, or refused as its header says, and nothing else happens.
//
// Each test tries the same damages in every run (archives have the time in them). With RUNGS_FUZZ_SECONDS it
// goes on for so long, from the round RUNGS_FUZZ_FROM on or from one that is drawn, and says where it is: a
// round depends on its number alone.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "class/archive.hpp"
#include "class/assignment.hpp"
#include "class/csv.hpp"
#include "class/policy.hpp"
#include "class/record.hpp"
#include "judge/build/build.hpp"
#include "judge/build/diagnostics.hpp"
#include "judge/build/object_gate.hpp"
#include "judge/build/preprocessed.hpp"
#include "judge/checks.hpp"
#include "judge/counts.hpp"
#include "judge/predict.hpp"
#include "judge/result/clean_text.hpp"
#include "judge/result/findings.hpp"
#include "judge/result/report_json.hpp"
#include "judge_fixture.hpp"
#include "made_class.hpp"
#include "protocol/archive_frame.hpp"
#include "report/advice.hpp"
#include "report/pictures.hpp"
#include "rungs/catch.hpp"
#include "simt/inspect/columns.h"

using namespace rungs;
using namespace rungs::judge;
namespace fs = std::filesystem;

namespace {

/// What stands for much in texts that programs read.
const std::vector<std::string> marks = {
    "",
    "\"",
    "\\",
    "\n",
    "\r\n",
    "\t",
    " ",
    ",",
    ":",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "<",
    ">",
    "/",
    "../",
    "#",
    "'",
    "=",
    "%",
    "null",
    "true",
    "-",
    "-1",
    "1e999",
    "1e-999",
    "0",
    "4294967296",
    "18446744073709551615",
    "-9223372036854775809",
    "1e308",
    "nan",
    "\\u0000",
    "\\ud800",
    "\xff",
    "\xc0\xaf",
    "\xf4\x90\x80\x80",
    "\xe2\x80\xae",
    "\x1b[31m",
    "#line 1 \"a\"",
    "/*",
    "*/",
    "R\"(",
};

/// Round `number`'s damage of one of the samples.
std::string damaged(const std::vector<std::string>& samples, std::uint64_t number) {
    std::mt19937_64 random(number);
    const auto below = [&](std::size_t n) {
        return static_cast<std::size_t>(random() % std::max<std::size_t>(n, 1));
    };
    std::string text = samples[below(samples.size())];
    for (std::size_t k = below(6) + 1; k > 0; --k) {
        const std::size_t at = below(text.size() + 1), piece = below(64) + 1;
        switch (below(8)) {
            case 0:
                text.resize(at);
                break;
            case 1:
                text.erase(at, piece);
                break;
            case 2:
                text.insert(at, marks[below(marks.size())]);
                break;
            case 3:
                text.insert(at, text.substr(below(text.size()), piece));
                break;
            case 4: {  // a number becomes another
                const std::size_t digit = text.find_first_of("0123456789", at);
                if (digit == std::string::npos) break;
                const std::size_t end = std::min(text.find_first_not_of("0123456789.", digit), text.size());
                text.replace(digit, end - digit, marks[below(marks.size())]);
                break;
            }
            case 5:
                text.insert(at, std::string(below(2000), marks[1 + below(marks.size() - 1)][0]));
                break;
            default:
                for (std::size_t i = at; i < std::min(text.size(), at + below(8) + 1); ++i)
                    text[i] = static_cast<char>(below(256));
        }
    }
    return text;
}

/// Lets `read` see `rounds` damages, or as many as there is time for. It throws for what it must not do.
void fuzz(const char* what, std::uint64_t rounds, const std::function<void(std::uint64_t round)>& read) {
    const char* const asked = std::getenv("RUNGS_FUZZ_SECONDS");
    const char* const from = std::getenv("RUNGS_FUZZ_FROM");
    std::uint64_t round = from ? std::strtoull(from, nullptr, 0) : asked ? std::random_device()() : 0;
    const auto go = [&] {
        CAPTURE(round);
        CHECK_NOTHROW(read(round));
        ++round;
    };
    if (!asked) {
        for (std::uint64_t i = 0; i < rounds; ++i) go();
        return;
    }
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
    for (double told = -10; seconds() < std::strtod(asked, nullptr); go()) {
        if (seconds() < told + 10) continue;
        told = seconds();
        std::fprintf(stderr, "%s: at round %llu\n", what, static_cast<unsigned long long>(round));
    }
    std::fprintf(stderr, "%s: up to round %llu\n", what, static_cast<unsigned long long>(round));
}

/// As fuzz(), with damaged copies of the samples.
void fuzz(const char* what, std::uint64_t rounds, const std::vector<std::string>& samples,
          const std::function<void(const std::string&)>& read) {
    fuzz(what, rounds, [&](std::uint64_t round) { read(damaged(samples, round)); });
}

/// What is shown is fit to be shown.
void shown(const std::string& text, std::size_t most = 4000) {
    if (text.size() > most)
        throw std::length_error(
            fmt::format("a text of {} bytes is too long: {}", text.size(), text.substr(0, 300)));
    if (clean_utf8(text) != text) throw std::domain_error("a text that is not clean");
}

/// A worker in check mode, and what it reports of a call.
struct Reported : Court {
    Reported() {
        build = build_worker(trial(solution()), Backend::cpu, Mode::check);
        REQUIRE_FALSE(build.executable.empty());
        CheckedSession session(build.executable, options, Watched{});
        const Case which = manifest.check_cases_of(rung(), options.seed).front();
        CheckedCall call;
        REQUIRE_FALSE(session.call(which, exam->make(which), 0, 60, false, call));
        report = call.report.dump();
        blocks = blocks_of(call.report);
        REQUIRE_FALSE(blocks.empty());
    }

    Build build;
    std::string report;
    std::vector<std::uint64_t> blocks;
};

}  // namespace

TEST_CASE("damaged reports of a worker are read or refused", "[fuzz][judge]") {
    const Reported real;
    const std::string finding =
        R"({"findings": [{"tool": "racecheck", "severity": "error", "kind": "read-write", "kernel": "k",
            "side": {"file": "a.cu", "line": 3, "column": 0, "function": "k", "access": "write", "thread": [1, 2, 3],
                     "block": [0, 0, 0]}, "message": "m", "advice": "a", "count": 1}]})";
    fuzz("reports", 3000, {real.report, finding}, [&](const std::string& text) {
        nlohmann::json report;
        try {
            report = parse_report(text);
        } catch (const std::runtime_error&) {
            return;
        }
        try {
            std::vector<QuotedFinding> findings = findings_of(report);
            quote_source(findings, "a.cu", "one\ntwo\nthree\n");
            sort_findings(findings);
            for (const QuotedFinding& found : findings) {
                shown(in_one_line(found));
                shown(cause_of(found).text);
                who(found.side);
            }
        } catch (const std::runtime_error&) {
        }
        try {
            blocks_of(report);
        } catch (const std::runtime_error&) {
        }
        try {
            const Tally tally = tally_of(report, real.name);
            for (const Advice& advice : advise(tally, nullptr)) shown(advice.text);
            for (const CounterRow& row : compare(tally, &tally)) shown(row.what + row.mine + row.reference);
            lanes_svg(tally.trace);
            timeline_svg(tally.trace);
            for (const TraceStep& step : tally.trace.steps) {
                sectors_svg(step);
                banks_svg(step);
            }
            if (!tally.profile.launches.empty()) modelled_seconds(real.options, tally);
        } catch (const std::runtime_error&) {
        }
    });
}

TEST_CASE("a damaged program's line tables are read or left", "[fuzz][judge]") {
    const Reported real;
    const TemporaryFolder folder;
    const std::string program = (folder / "program").string();
    const std::string whole = TemporaryFolder::content_of(real.build.executable);
    const std::set<std::uint64_t> ran(real.blocks.begin(), real.blocks.end());
    REQUIRE_FALSE(simt::check::lines_run(simt::check::ProgramFile(real.build.executable.string()),
                                         real.name + ".cu", ran)
                      .empty());
    std::string places;
    for (const std::uint64_t block : ran) places += fmt::format("0x{:x}\nk\n{}.cu:20\n", block, real.name);
    fuzz("line tables", 60, [&](std::uint64_t round) {
        std::mt19937_64 random(round);
        std::string bytes = whole;
        // Headers at both ends say where everything is.
        for (std::uint64_t k = random() % 40 + 1; k > 0; --k) {
            const std::uint64_t place = random() % 3;
            const std::size_t at =
                random() % (place == 2 ? bytes.size() : std::min<std::size_t>(bytes.size(), 4096));
            bytes[place == 1 ? bytes.size() - 1 - at : at] = static_cast<char>(random());
        }
        if (random() % 8 == 0) bytes.resize(random() % bytes.size());
        std::ofstream(program, std::ios::binary | std::ios::trunc) << bytes;
        const simt::check::ProgramFile damaged(program);
        simt::check::lines_run(damaged, real.name + ".cu", ran);
        simt::check::with_columns(damaged, places);
    });
}

TEST_CASE("damaged listings of symbols are read", "[fuzz][judge]") {
    const std::vector<std::string> samples = {
        "_ZN9reduction11shared_treeEPKfPfmP11CUstream_st T 0000000000000000 0000000000000110\n"
        "_ZL18shared_tree_kernelPKfPfm t 20 30\nmemset U\n_ZTV1A V 0 28\n_ZNSt6vectorIfSaIfEE9push_backERKf "
        "W 0 5\n",
        "main T 0\n__tsan_read4 T 0 4\nDW.ref.__gxx_personality_v0 V 0 8\n_ZGVZ1fvE1x b 0 8\n"};
    fuzz("symbols", 3000, samples, [](const std::string& text) {
        const std::vector<Symbol> symbols = parse_symbols(text);
        const std::vector<std::string> wanted = launchers(symbols, "reduction::shared_tree");
        shown(clean_utf8(objection(symbols, wanted, strong_names(symbols))), 3 * text.size() + 4000);
        private_symbols(symbols, wanted, true);
        for (const Symbol& symbol : symbols) demangle(symbol.name);
    });
}

TEST_CASE("damaged sources and messages are read", "[fuzz][judge]") {
    const Court court;
    const std::string source = TemporaryFolder::content_of(court.solution());
    const std::vector<std::string> samples = {source,
                                              "# 1 \"./03_shared_tree.cu\"\n# 5 \"/usr/include/math.h\" 1 "
                                              "3\nint x;\n# 2 \"./03_shared_tree.cu\" 2\n" +
                                                  source,
                                              "./03_shared_tree.cu:7:5: error: 'x' was not declared in this "
                                              "scope\n    7 |     x = 1;\n      |     ^\n"
                                              "/usr/include/c++/12/bits/stl_vector.h:3:1: note: here\n#if "
                                              "A(1) && __has_include(<x>)\n#define A(x) x\n"};
    fuzz("sources", 2000, samples, [](const std::string& text) {
        line_directive(text);
        hidden_condition(text);
        compiler_condition(text);
        shown(clean_utf8(objection_to_words(text, {"03_shared_tree.cu", "reduction.cuh"})),
              3 * text.size() + 4000);
        const std::string trimmed = trim_diagnostics(text, {{"/usr/", ""}});
        shown(trimmed, 1U << 20);
        shown(messages_about(trimmed, "03_shared_tree.cu"), 1U << 20);
        shown(first_error(trimmed), 1U << 20);
        shown(one_line(text, 300), 310);
        const std::string clean = clean_utf8(text);
        if (clean_utf8(clean) != clean) throw std::domain_error("what is clean changes once more");
        shown(clean_name(text), 1U << 20);
    });
}

TEST_CASE("damaged answers are read or refused", "[fuzz][judge]") {
    const Manifest manifest = read_manifest(fs::path(RUNGS_ROOT) / "chapters/03_jacobi");
    const auto rung = std::find_if(manifest.rungs.begin(), manifest.rungs.end(),
                                   [](const RungEntry& entry) { return entry.kind == Kind::predict; });
    REQUIRE(rung != manifest.rungs.end());
    const std::string answers = TemporaryFolder::content_of(manifest.folder / rung->file());
    fuzz("answers", 3000, {answers}, [&](const std::string& text) {
        try {
            read_answers(*rung, text, "answers");
            read_answers(*rung, with_answer(*rung, text, "answers", 0, "17"), "answers");
        } catch (const Rejected& why) {
            shown(clean_utf8(why.what()), 3 * text.size() + 4000);
        }
    });
}

TEST_CASE("damaged files of an instructor are read or refused", "[fuzz][class]") {
    using namespace rungs::classroom;
    const TemporaryFolder folder;
    const rungs::test::MadeClass made;
    const std::string assignment = TemporaryFolder::content_of(fs::path(made.path()) / "assignment.json");
    const classroom::Assignment whole = assignment_of(nlohmann::json::parse(assignment));
    fuzz("assignment.json", 2000, {assignment}, [](const std::string& text) {
        const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
        if (json.is_discarded()) return;
        try {
            assignment_of(json);
        } catch (const ClassError&) {
        }
    });
    const std::vector<std::string> rosters = {
        "id,name,email,login,extension\nada,Ada,a@b.org,alove,90\n"
        "ben,\"B, \"\"en\"\"\",,,2026-03-01T12:00:00+01:00\n",
        "\xef\xbb\xbfid;name\r\n\"a\nb\";x\r\n"};
    fuzz("tables", 2000, rosters, [](const std::string& text) {
        try {
            parse_csv(text, "roster.csv");
        } catch (const ClassError&) {
        }
    });
    fuzz("rosters", 200, rosters, [&](const std::string& text) {
        try {
            read_roster(folder.write("roster.csv", text), whole);
        } catch (const ClassError&) {
        }
    });
    fuzz("assignment.toml", 300,
         {"title = \"Sums\"\ndue = 2026-11-20T00:00:00Z\nroster = \"roster.csv\"\nleast_sandbox = \"S0\"\n"
          "rungs = [\"01\", \"03/04\"]\n[late]\npercent_per_day = 20\nmost_days = 2\n[weights]\n01 = 2\n"},
         [&](const std::string& text) {
             try {
                 read_policy(folder.write("assignment.toml", text));
             } catch (const ClassError&) {
             }
         });
}

TEST_CASE("damaged records of a class are read or refused", "[fuzz][class]") {
    using namespace rungs::classroom;
    const rungs::test::MadeClass made;
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(made.path()))
        if (entry.is_regular_file() && entry.path().extension() == ".json") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    REQUIRE(files.size() > 10);
    fuzz("records", 300, [&](std::uint64_t round) {
        const fs::path& file = files[round % files.size()];
        const std::string whole = TemporaryFolder::content_of(file);
        std::ofstream(file, std::ios::binary | std::ios::trunc) << damaged({whole}, round);
        try {
            const Gradebook book = read_gradebook(made.path());
            projection(book);
        } catch (const ClassError&) {
        }
        std::ofstream(file, std::ios::binary | std::ios::trunc) << whole;
    });
}

TEST_CASE("damaged archives are read or refused", "[fuzz][class]") {
    using namespace rungs::classroom;
    const TemporaryFolder folder;
    folder.write("in/a/03_shared_tree.cu", "int x;\n");
    folder.write("in/b.cu", std::string(3000, 'y'));
    const std::string in = shell_quoted((folder / "in").string());
    std::vector<std::pair<std::string, std::string>> samples;
    for (const auto& [name, module] : {std::pair<std::string, std::string>("x.tar", "tarfile"),
                                       {"x.tar.gz", "tarfile"},
                                       {"x.tar.xz", "tarfile"},
                                       {"x.zip", "zipfile"}}) {
        const std::string pack = "cd " + in + " && python3 -m " + module + " -c ../" + name + " a b.cu";
        REQUIRE(std::system(pack.c_str()) == 0);
        samples.emplace_back(name, TemporaryFolder::content_of(folder / name));
    }
    fuzz("archives", 40, [&](std::uint64_t round) {
        const auto& [name, whole] = samples[round % samples.size()];
        std::size_t bytes = 0;
        const std::string why = read_archive(
            folder.write(name, damaged({whole}, round)), {}, [](const std::string&) { return true; },
            [&](const std::string& path, std::string taken) {
                shown(path);
                bytes += taken.size();
            });
        if (bytes > ArchiveLimits{}.total_bytes) throw std::length_error("more than is allowed");
        shown(clean_utf8(why));
    });
}

TEST_CASE("damaged words of what reads an archive are heard or refused", "[fuzz][class]") {
    using namespace rungs::classroom;
    using protocol::ArchiveSays;
    std::string honest;
    for (const auto& [says, text] : {std::pair<ArchiveSays, std::string>(ArchiveSays::folder, "a/"),
                                     {ArchiveSays::file, "a/03_shared_tree.cu"},
                                     {ArchiveSays::bytes, "int x;\n"},
                                     {ArchiveSays::file, "b.cu"},
                                     {ArchiveSays::bytes, std::string(3000, 'y')},
                                     {ArchiveSays::bytes, std::string(100, 'z')},
                                     {ArchiveSays::end, ""}}) {
        const protocol::ArchiveFrame frame{says, static_cast<std::uint32_t>(text.size()), honest.size()};
        honest.append(reinterpret_cast<const char*>(&frame), sizeof frame) += text;
    }
    const TemporaryFolder folder;
    const judge::Reader repeats{.program = "/bin/sh", .words = {"-c", "exec cat <&3 >&4"}};
    const auto bytes_of = [&](const std::string& said, std::string& why) {
        std::size_t bytes = 0;
        why = read_archive(
            folder.write("said", said), {}, [](const std::string&) { return true; },
            [&](const std::string& path, const std::string& taken) {
                shown(path);
                bytes += taken.size();
            },
            nullptr, repeats);
        return bytes;
    };
    std::string why;
    CHECK(bytes_of(honest, why) == 3107);
    CHECK(why.empty());
    fuzz("frames", 40, {honest}, [&](const std::string& said) {
        if (bytes_of(said, why) > said.size()) throw std::length_error("more than was said");
        shown(clean_utf8(why));
    });
}
