// What the judge reads of a submission's making: preprocessed text, lists of symbols, reports and line
// tables, honest and hostile.

#include <elf.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "judge/build/build.hpp"
#include "judge/build/object_gate.hpp"
#include "judge/build/preprocessed.hpp"
#include "judge/confine/held_reader.hpp"
#include "judge/confine/sandbox.hpp"
#include "judge/counts.hpp"
#include "judge/judge.hpp"
#include "judge/result/findings.hpp"
#include "judge/result/report_json.hpp"
#include "rungs/catch.hpp"
#include "rungs/temporary_folder.hpp"
#include "simt/inspect/columns.h"

using namespace rungs;
using namespace rungs::judge;
namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;

namespace {

/// What `g++ -E` makes of a rung that consists of `lines`.
std::string preprocessed(const std::string& lines) {
    return "# 0 \"./r.cu.cpp\"\n# 1 \"/usr/include/x.h\" 1 3 4\nasm(\"nop\"); int no_sanitize;\n"
           "# 1 \"./r.cu\" 2\n" +
           lines + "\n# 7 \"/usr/include/y.h\" 1 3 4\n__asm__(\"nop\");\n";
}

std::string why(const std::string& lines) {
    return objection_to_words(preprocessed(lines), {"r.cu", "r.cu.cpp"});
}

/// Does `work` succeed with at most `bytes` more of memory than this process has?
bool succeeds_within(std::size_t bytes, const std::function<bool()>& work) {
    const pid_t child = fork();
    if (child == 0) {
        std::ifstream status("/proc/self/status");
        std::size_t used = 0;
        for (std::string word; status >> word;) {
            if (word == "VmData:" && status >> used) break;
        }
        const rlimit limit{(used << 10) + bytes, (used << 10) + bytes};
        bool succeeded = used > 0 && setrlimit(RLIMIT_DATA, &limit) == 0;
        try {
            succeeded = succeeded && work();
        } catch (const std::bad_alloc&) {
            succeeded = false;
        }
        _exit(succeeded ? 0 : 1);
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string repeated(const std::string& piece, std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += piece;
    return text;
}

/// An object file whose line table has a row for line 5, column 9 at address 0x1000 and `rows` more.
std::string object_with_rows(std::size_t rows) {
    const std::string header("\x01\x01\x01\xfb\x0e\x0d\0\1\1\1\1\0\0\0\1\0\0\1\0\0", 20);
    std::string program("\0\x09\x02\0\x10\0\0\0\0\0\0\x05\x09\x03\x04\x01", 16);
    program += std::string(rows, '\x22');  // each moves on by one instruction and two lines
    const auto number = [](auto value) {
        return std::string(reinterpret_cast<const char*>(&value), sizeof value);
    };
    const std::string unit =
        number(std::uint16_t{4}) + number(static_cast<std::uint32_t>(header.size())) + header + program;
    const std::string lines = number(static_cast<std::uint32_t>(unit.size())) + unit;
    const std::string names("\0.debug_line\0.shstrtab\0", 23);
    Elf64_Ehdr elf{};
    std::memcpy(elf.e_ident, ELFMAG, SELFMAG);
    elf.e_ident[EI_CLASS] = ELFCLASS64;
    elf.e_shoff = sizeof elf;
    elf.e_shnum = 3;
    elf.e_shstrndx = 2;
    std::array<Elf64_Shdr, 3> sections{};
    const std::size_t content = sizeof elf + sizeof sections;
    sections[1].sh_name = 1;
    sections[1].sh_offset = content;
    sections[1].sh_size = lines.size();
    sections[2].sh_name = 13;
    sections[2].sh_offset = content + lines.size();
    sections[2].sh_size = names.size();
    return number(elf) + number(sections) + lines + names;
}

}  // namespace

TEST_CASE("assembly and what hides from the checks are seen, however macros spell them", "[judge][gate]") {
    CHECK(why("int a = 1;") == "");
    CHECK(why("int a = 1'000, b = 0x1p-3, c = 'x';\nconst char* s = \"asm(\\\"nop\\\")\";") == "");
    CHECK_THAT(why("\n\nasm(\"nop\");"), ContainsSubstring("r.cu:3: 'asm' is assembly"));
    CHECK_THAT(why("void f() { __asm__ volatile (\"\" \"nop\" : : ); }"), ContainsSubstring("assembly"));
    CHECK_THAT(why("extern int x __asm (\"y\\n.incbin\");"), ContainsSubstring("assembly"));
    CHECK_THAT(why("asm(R\"(nop)\");"), ContainsSubstring("assembly"));
    CHECK_THAT(why("asm"), ContainsSubstring("assembly"));
    CHECK(why("void f(int x) { asm volatile (\"\" : \"+r\"(x) : : \"memory\"); asm(\" \"); }") == "");
    CHECK_THAT(why("__attribute__((no_sanitize(\"thread\"))) void f();"), ContainsSubstring("would hide"));
    CHECK_THAT(why("[[gnu::__no_sanitize_thread__]] void f();"), ContainsSubstring("would hide"));
    CHECK_THAT(why("#pragma clang attribute push(__attribute__((no_sanitize(\"all\"))))"),
               ContainsSubstring("would hide"));
    CHECK_THAT(why("void f(float* p) { __builtin_ia32_movntps(p, v); }"), ContainsSubstring("no GPU"));
    CHECK_THAT(why("int x __attribute__((section((\".data\\n.incbin\"))));"), ContainsSubstring("section"));
    CHECK(why("int section(int); int y = section(1);") == "");
    // Nothing in the text of a rung makes lines those of another file.
    CHECK_THAT(why("const char* s = R\"x(\n# 1 \"/usr/include/y.h\" 1 3\n)\" )x\"; asm(\"nop\");"),
               ContainsSubstring("r.cu:3: 'asm'"));
    CHECK_THAT(why("const char* s = \"\\\\\"; asm(\"nop\");"), ContainsSubstring("assembly"));
    CHECK_THAT(why("#pragma it's\nasm(\"nop\");"), ContainsSubstring("assembly"));
    for (const char* broken :
         {"\"", "'", "R\"", "R\"(", "R\"x(y)", "asm(", "asm(\"", "section(", "1'", "\\", "#"}) {
        const std::string text = std::string("# 1 \"r.cu\"\n") + broken;
        for (std::size_t size = 0; size <= text.size(); ++size) {
            CHECK_NOTHROW(objection_to_words(text.substr(0, size), {"r.cu"}));
        }
    }
}

TEST_CASE("a #line directive is found in every spelling", "[judge][gate]") {
    for (const char* spelling : {"#line 3 \"x\"", "# line 3", "#\tline 3 \"x\"", "%:line 3", " # 3 \"x\" 1 3",
                                 "#3", "/* a */ #line 3", "/*\n*/#/**/ /*\n*/line 3", "#li\\\nne 3",
                                 "#\\\n\\  \nline 3", "\xEF\xBB\xBF#line 3", "#\\\r\nline 3"}) {
        CAPTURE(spelling);
        CHECK(line_directive(spelling) > 0);
        CHECK(line_directive(std::string("int a;\n") + spelling + "\n") > 1);
    }
    CHECK(line_directive("int a; \\\n int b;\n#line 7\n") == 3);
    for (const char* honest :
         {"", "#", "%", "%:", "#define line 3", "#lines", "// #line 3", "#define S(line) #line", "a # line",
          "puts(\"#3\");", "#include \"line\"", "#if 0\n#endif"}) {
        CAPTURE(honest);
        CHECK(line_directive(honest) == 0);
    }
    // Long chains of comments take no time that grows with their square.
    CHECK(line_directive("#" + repeated("/*\n#/**/", 1U << 20)) > 0);
    CHECK(line_directive(repeated("#/*\n", 1U << 20)) > 0);
    CHECK(line_directive(repeated("#/*\n#define */", 1U << 20)) == 0);
}

TEST_CASE("an #if asks nothing that a macro hides", "[judge][gate]") {
    CHECK(hidden_condition(
              "#define BLOCK 256\n#if BLOCK > 128 && defined(__CUDA_ARCH__) /* a(b) */ // c(d)\n#endif\n") ==
          0);
    CHECK(hidden_condition(
              "#ifndef GUARD\n#define GUARD\n#define SQUARE(x) ((x) * (x))\n#endif\n#if GUARD\n") == 0);
    CHECK(hidden_condition("#if (__CUDACC_VER_MAJOR__ >= 12) && (1)\n#elif defined X\n") == 0);
    CHECK(compiler_condition("#if (__CUDACC_VER_MAJOR__ >= 12) && (1)\n#elif defined X\n") == 1);
    CHECK(compiler_condition("#define X 1\n#if X\n#elif defined(__CUDA_ARCH__)\n#endif\n") == 3);
    CHECK(compiler_condition("// #if __NVCC__\n#if X > 1 && Y\n#endif\n") == 0);
    for (const char* foreign :
         {"_GLIBCXX_TSAN", "__SANITIZE_THREAD__", "SIMT_UNSEEN", "RUNGS_SIMT_WHOLE_VECTORS"}) {
        CHECK(hidden_condition(std::string("\n#if ") + foreign + "\n#endif\n") == 2);
        CHECK(hidden_condition(std::string("#ifdef ") + foreign + "\n#endif\n") == 1);
        CHECK(hidden_condition(std::string("# ifndef /**/ ") + foreign + "\n#endif\n") == 1);
        CHECK(hidden_condition(std::string("#if 0\n%:elif 1 && !defined ") + foreign + "\n#endif\n") == 2);
        CHECK(hidden_condition(std::string("#if 0\n#elifdef \\\n") + foreign + "\n#endif\n") == 2);
    }
    CHECK(hidden_condition("#ifdef __CUDA_ARCH__\n#elif defined(MINE) && __cplusplus > 202002L\n#endif\n") ==
          0);
    CHECK(hidden_condition("int a;\n#if JOIN(__has_, include)(\"x\")\n") == 2);
    CHECK(hidden_condition("#elif \\\n A /* b */ (c)\n") == 1);
    CHECK(hidden_condition("#if A /* b\n*/ (c)\n") == 1);
    CHECK(hidden_condition("%: /**/ if A\t(c)\n") == 1);
    CHECK(hidden_condition("#define ASK JOIN(__has_, include)(\"x\")\n\n#if 1 && ASK\n") == 3);
    CHECK(hidden_condition("#define/**/ASK OTHER\n#if ASK\n") == 2);
    CHECK(hidden_condition("#if ASK\n#define ASK OTHER\n") == 1);
    CHECK(hidden_condition("#define ASK 0 + JOIN(__has_, include)(\"x\")\n#if ASK\n") == 2);
    CHECK(hidden_condition("#define ASK" + repeated("/**/", 1000) + "OTHER\n#if ASK\n") == 1);
    CHECK(hidden_condition("#if ASK" + repeated("/**/", 1000) + "(x)\n") == 1);
    for (const char* broken :
         {"#if", "#if (", "#if A", "#define", "#define A", "#if /*", "#define /*", "#if \"", "#elif\\"}) {
        CHECK_NOTHROW(hidden_condition(broken));
    }
}

TEST_CASE("lines that nm would not write are no symbols", "[judge][gate]") {
    const std::string launcher = "_ZN9reduction3sumEPKf T 0 20\n";
    for (const char* line : {"a b T 0 20\n", "a TT 0 20\n", "a T 0 zz\n", "a T 0 20 more\n", "\n"}) {
        CHECK_THAT(objection(parse_symbols(launcher + line), {"_ZN9reduction3sumEPKf"}),
                   ContainsSubstring("cannot be read"));
    }
}

TEST_CASE("a report that would fill the judge's memory is refused", "[judge][checks]") {
    constexpr std::size_t bytes = 4U << 20;  // as much as a worker can hand over
    const auto with = [](const std::string& extra) {
        return R"({"findings": [], "extra": [)" + extra + "0]}";
    };
    const auto findings_in = [](const std::string& report) { return findings_of(parse_report(report)); };
    CHECK(findings_in(with("1, 2, ")).empty());
    CHECK(findings_in(with(repeated("0,", 640000))).empty());  // the trace of ten thousand phases
    for (const char* piece : {"[],", "{},", "\"\",", "[0],", "{\"a\":{}},", "\"0123456789abcdef\",", "0,"}) {
        CAPTURE(piece);
        // Read or refused: 80 MiB are enough, beside those in which the report is made. (No child
        // has a large array.)
        CHECK(succeeds_within((80U + 24U) << 20, [&] {
            try {
                findings_in(with(repeated(piece, bytes)));
            } catch (const std::runtime_error&) {
            }
            return true;
        }));
    }
    CHECK_THROWS_AS(findings_in(with(repeated("[],", bytes))), std::runtime_error);
    CHECK_THROWS_AS(findings_in(with(repeated("[", 1000))), std::runtime_error);
}

TEST_CASE("the trace to draw is that of the rung's own kernel", "[judge][counts]") {
    const auto trace = [](const std::string& kernel, const std::string& file) {
        std::string offsets = "0";
        for (int lane = 1; lane < 32; ++lane) offsets += ", 0";
        return R"({"kernel": ")" + kernel +
               R"(", "block": 0, "warp": 0, "cut": false, "requests": [], "steps": [{"file": ")" + file +
               R"(", "line": 1, "array": "a", "space": "global", "access": "read", "width": 4, "phase": 0,
                  "base": 0, "lanes": 1, "offsets": [)" +
               offsets + "]}]}";
    };
    const auto chosen = [](const std::string& traces) {
        return tally_of(
                   parse_report(
                       R"({"launches": [], "copies": 0, "copied_bytes": 0, "bytes_to_host": 0, "fills": 0,
                                        "filled_bytes": 0, "profile": "", "traces": [)" +
                       traces + "]}"),
                   "03_descent")
            .trace.kernel;
    };
    const std::string start = trace("start_kernel", "03_descent.cu"), split = trace("split", "split.cuh"),
                      own = trace("descent_kernel<float>", "03_descent.cu");
    CHECK(chosen(start + ", " + own) == "descent_kernel<float>");
    CHECK(chosen(split + ", " + start) == "start_kernel");
    CHECK(chosen(split) == "split");
    CHECK(chosen("").empty());
}

TEST_CASE("a trace's widths and offsets are cut to what can be drawn", "[judge][counts]") {
    std::string offsets;
    for (int lane = 0; lane < 31; ++lane) offsets += "9223372036854775807, ";
    const std::string report =
        R"({"launches": [], "copies": 0, "copied_bytes": 0, "bytes_to_host": 0, "fills": 0, "filled_bytes": 0, "profile": "",
            "traces": [{"kernel": "k", "block": 0, "warp": 0, "cut": false, "requests": [], "steps": [
            {"file": "a.cu", "line": 1, "array": "a", "space": "global", "access": "read", "width": 4294967295,
             "phase": 0, "base": 127, "lanes": 4294967295, "offsets": [)" +
        offsets + "-9223372036854775808]}]}]}";
    const Tally tally = tally_of(parse_report(report));
    REQUIRE(tally.trace.steps.size() == 1);
    CHECK(tally.trace.steps[0].width == 4096);
    for (const long long offset : tally.trace.steps[0].offsets) {
        CHECK(std::abs(offset) <= (1LL << 40) + 127);
    }
}

TEST_CASE("a program is read by another one that is held, and its fault costs what it would have told",
          "[judge][columns][sandbox]") {
    const TemporaryFolder folder;
    const std::string path = folder.write("program", object_with_rows(10)).string();
    std::string why_not;
    const auto read_by = [&](const Reader& reader, const std::string& question = "") {
        why_not.clear();
        return read_numbers(reader, path, question, 3, why_not);
    };
    using Numbers = std::vector<std::uint32_t>;
    Reader columns = program_reader();
    columns.words = {"columns"};
    CHECK(read_by(columns, "0x1000\nf\na.cu:5\n") == Numbers{0, 0, 9});
    CHECK(read_by(columns, "0x1000\nf\na.cu:5\n0x1000\nf\na.cu:5\n") == Numbers{0, 0, 9});
    CHECK(why_not.empty());
    columns.words = {"rows"};
    CHECK(read_by(columns).empty());
    CHECK(why_not == "as its reader gave up, or ran out of memory");

    // A shell in its place.
    const auto shell = [&](const std::string& script, double seconds = 10) {
        return read_by({.program = "/bin/sh", .cpu_seconds = seconds, .words = {"-c", script}});
    };
    CHECK(shell("true").empty());
    CHECK(why_not.empty());
    const std::string judge = std::to_string(getpid());
    const bool hides = sandbox_level().name >= "S2", apart = sandbox_level().name >= "S3";
    for (const std::string& does :
         std::vector<std::string>{"kill -0 " + judge, "/bin/true & wait $!",
                                  std::string("true < ") + (hides ? "/etc/passwd" : "/none"),
                                  "test -e " + (apart ? path : "/none")}) {
        CAPTURE(does);
        shell(does + " && exit 0; exit 7");
        CHECK(why_not == "as its reader gave up, or ran out of memory");
    }
    shell("read -r line <&3; test -n \"$line\" && exit 0; exit 7");  // it has that file
    CHECK(why_not.empty());
    shell("exec tail /dev/zero");  // a line without an end
    CHECK(why_not == "as its reader gave up, or ran out of memory");
    shell("kill -BUS $$");
    CHECK(why_not == "as its reader was ended by signal 7");
    shell("while :; do :; done", 0);
    CHECK(why_not == "which takes more than 0 s");
    CHECK(read_by({.program = folder.path() / "none"}).empty());
    CHECK(why_not.find("none: No such file") != std::string::npos);
    CHECK(simt::check::with_columns("0x1000\n", Numbers{}) == "0x1000\n");
    std::atomic<bool> stop{true};
    CHECK_THROWS_AS(read_numbers(program_reader(), path, "", 1, why_not, &stop), Stopped);
}

TEST_CASE("a line table of any length takes memory only for what was asked", "[judge][columns]") {
    const TemporaryFolder folder;
    const std::string program = (folder.path() / "program").string();
    std::ofstream(program, std::ios::binary) << object_with_rows(12'000'000);
    CHECK(succeeds_within(16U << 20, [&] {
        const simt::check::ProgramFile file(program);
        return simt::check::with_columns(file, "0x1000\nf\na.cu:5\n") == "0x1000\nf\na.cu:5:9\n" &&
               simt::check::with_columns(file, "0x1001\nf\na.cu:7\n0x1000\nf\na.cu:5 (discriminator 2)\n") ==
                   "0x1001\nf\na.cu:7:9\n0x1000\nf\na.cu:5:9 (discriminator 2)\n";
    }));
    const std::string whole = object_with_rows(10);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        std::ofstream(program, std::ios::binary) << whole.substr(0, size);
        CHECK_NOTHROW(simt::check::with_columns(simt::check::ProgramFile(program), "0x1000\nf\na.cu:5\n"));
    }
}

TEST_CASE("what reads a student's bytes uses no regular expressions", "[judge][class]") {
    // Those of the standard library go a step deeper with every letter: a long name would end the process.
    int read = 0;
    for (const char* folder : {"judge", "class", "report", "program", "reader", "protocol", "worker"}) {
        for (const auto& entry :
             fs::recursive_directory_iterator(fs::path(RUNGS_ROOT) / "autograder" / folder)) {
            if (!entry.is_regular_file()) continue;
            ++read;
            const std::string text = TemporaryFolder::content_of(entry.path());
            CAPTURE(entry.path());
            for (const char* header : {"<regex>", "<regex.h>", "<boost/regex"})
                CHECK(text.find(header) == std::string::npos);
        }
    }
    CHECK(read > 100);
}
