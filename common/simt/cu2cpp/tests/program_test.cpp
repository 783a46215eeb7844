/// @file
/// The program cu2cpp as builds and graders call it: files in, files out, exit status, messages; and what
/// compilers make of its output.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "cu2cpp/project.h"
#include "cu2cpp/tests/tools.h"
#include "testing/catch.h"
#include "testing/commands.h"

using namespace cu2cpp_tools;
using namespace simt_testing;
namespace fs = std::filesystem;

namespace {

struct Folder : TestFolder {
    Folder() : TestFolder("cu2cpp test") {}
};

std::string read(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::string shell_quoted(const fs::path& path) { return "'" + path.string() + "'"; }

Outcome cu2cpp_run(const std::string& arguments) { return run(std::string(SIMT_CU2CPP) + " " + arguments); }

Outcome translate_file(const fs::path& input, const fs::path& output, const std::string& more = {}) {
    return cu2cpp_run(shell_quoted(input) + " -o " + shell_quoted(output) + " " + more);
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// Every C++ compiler at hand: the one that builds this, and the usual two.
std::vector<std::string> compilers() {
    std::vector<std::string> found{SIMT_CXX};
    for (const std::string name : {"g++", "clang++"}) {
        if (run("command -v " + name).status == 0 && !contains(SIMT_CXX, name)) found.push_back(name);
    }
    return found;
}

/// Stands in for the runtime where only the shape of the output matters.
constexpr const char* stub_runtime = R"(#pragma once
#define __global__
#define __device__
namespace simt {
struct Configured {
    template <class... A> void operator()(A...) const {}
    template <class... A> void run(A...) const {}
};
struct Kernel { Configured operator[](int) const { return {}; } };
template <class F> Kernel kernel(const char*, F) { return {}; }
template <class F> Kernel kernel(const char*, F, void (*)()) { return {}; }
inline int cfg(int, int) { return 0; }
}
)";

}  // namespace

TEST_CASE("A file is translated with its lines in place", "[simt][cu2cpp][program]") {
    const Folder folder;
    const fs::path input = folder.write("a.cu", "__global__ void k() {}\nint main() { k<<<1, 1>>>(); }");
    const fs::path output = folder / "deep/er/a.cpp";
    REQUIRE(translate_file(input, output).status == 0);
    const std::string text = read(output);
    CHECK(starts_with(text, "#include <cuda_runtime.h>\n"));
    CHECK(contains(
        text, "\n#line 1 \"" + input.string() + "\"\n__global__ void k() {}\nint main() { ::simt::kernel("));
    CHECK(text.back() == '\n');
    CHECK(folder.file_count() == 2);  // nothing temporary is left
}

TEST_CASE("An empty file is a valid file", "[simt][cu2cpp][program]") {
    const Folder folder;
    CHECK(translate_file(folder.write("a.cu", ""), folder / "a.cpp").status == 0);
    CHECK(contains(read(folder / "a.cpp"), "#line 1 "));
    CHECK(translate_file(folder.write("b.cu", "\xEF\xBB\xBFint x;\n"), folder / "b.cpp").status == 0);
    CHECK(contains(read(folder / "b.cpp"), "\"\nint x;\n"));
}

TEST_CASE("Compilers name the line of the .cu file", "[simt][cu2cpp][program]") {
    const Folder folder;
    folder.write("cuda_runtime.h", stub_runtime);
    folder.write("h.cuh",
                 "#pragma once\n#define RUN(kernel) \\\n  kernel<<<1, 1>>>()\n__device__ int "
                 "unused(int);\nint x = wrong_in_header;\n");
    const fs::path input = folder.write("a.cu",
                                        "#include \"h.cuh\"\n"
                                        "__global__ void k() {}\n"
                                        "#pragma unroll\n"
                                        "void f() {\n"
                                        "  k<<<1,\n"
                                        "      1>>>(  // two lines\n"
                                        "  );\n"
                                        "  RUN(k);\n"
                                        "  int a = wrong_here;\n"
                                        "  k<<<wrong_too, 1>>>();\n"
                                        "}\n"
                                        "static_assert(__LINE__ == 12);\n");
    REQUIRE(translate_file(input, folder / "a.cpp").status == 0);
    for (const std::string& compiler : compilers()) {
        CAPTURE(compiler);
        const Outcome outcome = run(compiler + " -std=c++17 -fsyntax-only -I " + shell_quoted(folder / "") +
                                    " " + shell_quoted(folder / "a.cpp"));
        CAPTURE(outcome.text);
        CHECK(outcome.status != 0);
        CHECK(contains(outcome.text, (folder / "h.cuh").string() + ":5:9: error"));
        CHECK(contains(outcome.text, (folder / "a.cu").string() + ":9:11: error"));
        CHECK(contains(outcome.text, (folder / "a.cu").string() + ":10:"));
        CHECK_FALSE(contains(outcome.text, "a.cu:12:"));
        CHECK_FALSE(contains(outcome.text, "a.cpp:"));
    }
}

TEST_CASE("Headers with CUDA syntax are translated along", "[simt][cu2cpp][program][header]") {
    const Folder folder;
    folder.write("src/kernel.cuh",
                 "#pragma once\n#include \"plain.h\"\n#include \"../other/kernel.cuh\"\n__global__ void k() "
                 "{ __shared__ int a; }\n");
    folder.write("src/plain.h", "int plain();\n");
    folder.write("src/wrapper.h", "#include \"kernel.cuh\"\nint wrapper();\n");
    folder.write("other/kernel.cuh", "__constant__ int c;\n#include \"../src/kernel.cuh\"\n");
    folder.write("include/far.cuh", "inline void far() { f<<<1, 1>>>(); }\n");
    folder.write("include/plain_far.h", "\n");
    const fs::path input = folder.write(
        "src/a.cu",
        "#include \"wrapper.h\"\n#include \"kernel.cuh\"\n#include \"far.cuh\"\n#include \"plain_far.h\"\n"
        "#include \"plain.h\"\n#include \"missing.h\"\n#include <far.cuh>\n#include <plain_far.h>\n"
        "#include <wrapper.h>\n");
    const fs::path output = folder / "out/a.cpp";
    const Outcome outcome =
        translate_file(input, output,
                       "-I " + shell_quoted(folder / "include") + " --header-dir " +
                           shell_quoted(folder / "out/h") + " --depfile " + shell_quoted(folder / "out/a.d"));
    CAPTURE(outcome.text);
    REQUIRE(outcome.status == 0);
    const std::string text = read(output);
    CHECK_FALSE(contains(text, "#include \"wrapper.h\""));
    CHECK_FALSE(contains(text, "#include \"kernel.cuh\""));
    CHECK(contains(text, "#include \"" + (folder / "src/plain.h").string() + "\"\n"));
    CHECK(contains(text, "#include \"plain_far.h\"\n"));  // unchanged, and on the compiler's own path
    CHECK(contains(text, "#include \"missing.h\"\n"));
    CHECK_FALSE(contains(text, "<far.cuh>"));           // the copy
    CHECK(contains(text, "#include <plain_far.h>\n"));  // others wrote it
    CHECK(contains(text, "#include <wrapper.h>\n"));    // in a folder that was not named
    REQUIRE(translate_file(input, folder / "out/named.cpp", "-I " + shell_quoted(folder / "src")).status ==
            0);
    CHECK_FALSE(contains(read(folder / "out/named.cpp"), "<wrapper.h>"));

    std::size_t copies = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder / "out/h")) {
        if (!entry.is_regular_file()) continue;
        ++copies;
        CHECK(contains(read(entry.path()), "#line 1 \""));
        CHECK_FALSE(contains(read(entry.path()), "\n#include \"kernel.cuh\""));  // the copy, not the original
    }
    CHECK(copies == 4);  // wrapper.h, both kernel.cuh, far.cuh

    const std::string depends = read(folder / "out/a.d");
    CHECK(contains(depends, "a.cpp:"));
    for (const std::string name : {"src/a.cu", "src/wrapper.h", "src/kernel.cuh", "src/plain.h",
                                   "other/kernel.cuh", "include/far.cuh", "include/plain_far.h"}) {
        CAPTURE(name);
        CHECK(contains(depends, name));
    }
    CHECK(contains(depends, "cu2cpp\\ test"));

    SECTION("a second run rewrites no header that is the same") {
        fs::path copy;
        for (const auto& entry : fs::recursive_directory_iterator(folder / "out/h")) {
            if (entry.is_regular_file()) copy = entry.path();
        }
        const auto before = fs::last_write_time(copy) - std::chrono::hours(1);
        fs::last_write_time(copy, before);
        REQUIRE(translate_file(input, output,
                               "--header-dir " + shell_quoted(folder / "out/h") + " -I" +
                                   shell_quoted(folder / "include"))
                    .status == 0);
        CHECK(fs::last_write_time(copy) == before);
    }
}

TEST_CASE("What a header declares reaches the file that includes it", "[simt][cu2cpp][program][header]") {
    const Folder folder;
    folder.write("h.h", "#define SHAPE <<<1, 32>>>\nextern __constant__ float c[4];\n");
    const fs::path good = folder.write("good.cu", "#include \"h.h\"\n__constant__ float c[4];\n");
    REQUIRE(translate_file(good, folder / "good.cpp").status == 0);
    CHECK(contains(read(folder / "good.cpp"), "\n__constant__ float c[4]; static const"));
    const fs::path bad = folder.write("bad.cu", "#include \"h.h\"\nvoid f() { k SHAPE (1); }\n");
    const Outcome outcome = translate_file(bad, folder / "bad.cpp");
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.text, (folder / "bad.cu").string() + ":2:14: error: macro `SHAPE`"));
    CHECK(contains(outcome.text, (folder / "h.h").string() + ":1 hides"));
}

TEST_CASE("A refused header refuses the file, but under an #if only the compilation",
          "[simt][cu2cpp][program][header]") {
    const Folder folder;
    folder.write("ptx.cuh", "__device__ void f() {\n  asm(\"bar.arrive 0, 64;\");\n}\n");
    const Outcome refused = translate_file(folder.write("a.cu", "#include \"ptx.cuh\"\n"), folder / "a.cpp",
                                           "--depfile " + shell_quoted(folder / "a.d"));
    CHECK(refused.status == 1);
    CHECK(contains(refused.text, (folder / "ptx.cuh").string() + ":2:3: error: inline PTX"));
    CHECK_FALSE(fs::exists(folder / "a.cpp"));
    CHECK(contains(read(folder / "a.d"), "ptx.cuh"));  // a reader of the message knows what it may be about
    REQUIRE(
        translate_file(folder.write("b.cu", "#ifdef PTX\n#include \"ptx.cuh\"\n#endif\n"), folder / "b.cpp")
            .status == 0);
    CHECK(contains(read(folder / "b.cpp"), "#ifdef PTX\n#error "));
}

TEST_CASE("All refusals come in one run, and no output stays", "[simt][cu2cpp][program][refusal]") {
    const Folder folder;
    const fs::path input = folder.write(
        "a.cu",
        "#include <cublas.h>\nvoid f() {\n  k<<<1, 1;\n  __shared__ int a = 1;\n}\ntexture<float> t;\n");
    folder.write("a.cpp", "old");
    const Outcome outcome =
        translate_file(input, folder / "a.cpp", "--depfile " + shell_quoted(folder / "a.d"));
    CHECK(outcome.status == 1);
    CHECK(count_lines(outcome.text) == 4);
    std::size_t from = 0;
    for (const std::string place : {":1:10: error: ", ":3:4: error: ", ":4:20: error: ", ":6:1: error: "}) {
        const std::size_t at = outcome.text.find(input.string() + place);
        CAPTURE(place);
        REQUIRE(at != std::string::npos);
        CHECK(at >= from);
        from = at;
    }
    CHECK_FALSE(fs::exists(folder / "a.cpp"));
    CHECK(folder.file_count() == 2);  // the input and, for a reader of the refusals, the list of files
    CHECK(contains(read(folder / "a.d"), "/a.cu"));
    CHECK(cu2cpp_run("--check " + shell_quoted(input)).status == 1);
}

TEST_CASE("Unusable files end with a clear message", "[simt][cu2cpp][program][bad-input]") {
    const Folder folder;
    const fs::path good = folder.write("good.cu", "int x;\n");
    const auto refused = [&](const fs::path& input, const std::string& why) {
        const Outcome outcome = translate_file(input, folder / "out.cpp");
        CAPTURE(outcome.text);
        CHECK(outcome.status == 1);
        CHECK(contains(outcome.text, input.string() + ": error: "));
        CHECK(contains(outcome.text, why));
        CHECK_FALSE(fs::exists(folder / "out.cpp"));
    };
    refused(folder / "missing.cu", "no such file");
    refused(folder / "", "is a folder");
    refused(folder.write("zero.cu", std::string("int\0x;", 6)), "is not text: byte 3 is zero");
    refused(folder.write("utf16.cu", std::string("\xFF\xFEi\0n\0", 6)), "is UTF-16");
    refused("/dev/null", "is not a regular file");
    refused(fs::path(SIMT_CU2CPP), "is this a binary file?");
    SECTION("output") {
        CHECK(contains(translate_file(good, folder / "").text, "is a folder"));
        CHECK(contains(translate_file(good, folder / "good.cu/a.cpp").text, "cannot create its folder"));
        CHECK(translate_file(good, folder / "good.cu/a.cpp").status == 1);
        CHECK(translate_file(good, "/dev/full").status == 1);
        CHECK(translate_file(good, "/dev/null").status == 0);
        CHECK(fs::is_character_file("/dev/null"));
        CHECK(translate_file(good, good).status == 2);
        CHECK(read(good) == "int x;\n");
    }
}

TEST_CASE("Wrong use exits with 2", "[simt][cu2cpp][program][bad-input]") {
    for (const std::string arguments :
         {"", "a.cu", "-o", "a.cu -o", "a.cu -o ''", "a.cu b.cu -o c.cpp", "--wrong a.cu", "a.cu -o b -I",
          "a.cu -o b --header-dir", "a.cu -o b --depfile", "a.cu -o b -o c"}) {
        CAPTURE(arguments);
        const Outcome outcome = cu2cpp_run(arguments);
        CHECK(outcome.status == 2);
        CHECK(contains(outcome.text, "usage: cu2cpp"));
    }
    CHECK(cu2cpp_run("--help").status == 0);
    CHECK(contains(cu2cpp_run("--help").text, "Exit status"));
}

TEST_CASE("Samples run on the runtime, with every compiler", "[simt][cu2cpp][program][sample]") {
    const fs::path samples = SIMT_SAMPLES;
    const Folder folder;
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(samples)) {
        if (entry.path().extension() != ".cu") continue;
        ++count;
        const fs::path output = folder / (entry.path().stem().string() + ".cpp");
        const fs::path program = folder / entry.path().stem().string();
        CAPTURE(entry.path().string());
        const Outcome translated = translate_file(entry.path(), output);
        CAPTURE(translated.text);
        REQUIRE(translated.status == 0);
        for (const std::string& compiler : compilers()) {
            CAPTURE(compiler);
            const Outcome built =
                run(compiler + " -std=c++17 -O1 -Wall -Wextra -Werror -I '" + SIMT_INCLUDE + "' " +
                    shell_quoted(output) + " " + SIMT_LIBRARY + " -pthread -o " + shell_quoted(program));
            CAPTURE(built.text);
            REQUIRE(built.status == 0);
            const Outcome ran = run(shell_quoted(program));
            CHECK(ran.status == 0);
            CHECK(ran.text == "ok\n");
        }
    }
    CHECK(count >= 3);
}
