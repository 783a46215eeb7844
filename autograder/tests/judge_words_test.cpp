// Small parts of the judge: names, points, hashes, foreign text, symbols, the toolchain file.

#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <string>

#include <fmt/format.h>

#include "judge/build/build.hpp"
#include "judge/build/diagnostics.hpp"
#include "judge/build/hash.hpp"
#include "judge/build/object_gate.hpp"
#include "judge/build/source.hpp"
#include "judge/build/toolchain.hpp"
#include "judge/judge.hpp"
#include "judge/result/result.hpp"
#include "rungs/catch.hpp"
#include "rungs/exam.hpp"
#include "rungs/temporary_folder.hpp"

using namespace rungs;
using namespace rungs::judge;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

TEST_CASE("SHA-256 gives the standard's examples", "[judge][hash]") {
    // The first is the standard's own example; add() puts the length first, so that the same text is the same
    // name and moving a boundary changes it.
    CHECK(Sha256().hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(Sha256().add("ab").add("c").hex() != Sha256().add("a").add("bc").hex());
    CHECK(Sha256().add("abc").hex() == Sha256().add("abc").hex());
    // printf '\x03\0\0\0\0\0\0\0abc' | sha256sum
    CHECK(Sha256().add("abc").hex() == "ce91dc5eec0139adf091900d225971d6ad246a845bad791b5693a9d0d55dd391");
}

TEST_CASE("every verdict has a name, and an owner", "[judge][result]") {
    std::set<std::string> names;
    for (int i = 0; i <= static_cast<int>(Verdict::not_run); ++i) {
        const auto verdict = static_cast<Verdict>(i);
        CHECK(verdict_of(name_of(verdict)) == verdict);
        names.insert(name_of(verdict));
    }
    CHECK(names.size() == 19);
    CHECK(owner_of(Verdict::infra) == Owner::ours);
    CHECK(owner_of(Verdict::not_run) == Owner::ours);
    CHECK(owner_of(Verdict::suspect) == Owner::review);
    CHECK(owner_of(Verdict::timeout) == Owner::student);
    CHECK_THROWS_AS(verdict_of("PASSED"), std::invalid_argument);
}

TEST_CASE("points for speed are linear, clamped and finite", "[judge][result]") {
    const SpeedRule rule{5, "04_interleaved", 1.5, 3.0};
    CHECK(points_for(rule, 0.1) == 0);
    CHECK(points_for(rule, 1.5) == 0);
    CHECK(points_for(rule, 2.25) == 2.5);
    CHECK(points_for(rule, 2) == 1.67);  // in hundredths, of 1.6666...
    CHECK(points_for(rule, 3.0) == 5);
    CHECK(points_for(rule, 1e9) == 5);
    CHECK(points_for(rule, std::numeric_limits<double>::infinity()) == 0);
    CHECK(points_for(rule, std::numeric_limits<double>::quiet_NaN()) == 0);
}

TEST_CASE("nobody has to be faster than the reference", "[judge][result]") {
    const SpeedRule rule{5, "04_interleaved", 2.0, 4.0};
    const auto points = [&](double reference, double speedup) {
        return points_for(reachable(rule, reference).value(), speedup);
    };
    CHECK(points(6.0, 4.0) == 5);
    CHECK(points(6.0, 3.0) == Catch::Approx(2.5));
    // This GPU gives the reference half of what the rule asks for: the gain that counts is a third
    // of the rule's.
    CHECK(points(2.0, 1.9) == Catch::Approx(5));
    CHECK(points(2.0, 1.6) == Catch::Approx(2.5));
    CHECK(points(2.0, 1.3) == Catch::Approx(0));
    // Who is no faster than the baseline gets nothing, whatever the GPU.
    CHECK(points(1.1, 1.0) == 0);
    // If the reference is not faster either, it cannot be said.
    CHECK_FALSE(reachable(rule, 1.05));
    CHECK_FALSE(reachable(rule, 0.7));
    // A reference that was not timed changes nothing.
    CHECK(reachable(rule, 0)->full == 4.0);
    CHECK(reachable(rule, std::numeric_limits<double>::quiet_NaN())->full == 4.0);
}

TEST_CASE("a summit's points follow the logarithm from the baseline to the reference", "[judge][result]") {
    SpeedRule rule{30, "08_grid_stride", 1.0, HUGE_VAL};
    rule.to_reference = true;
    const auto points = [&](double reference, double speedup) {
        return points_for(reachable(rule, reference).value(), speedup);
    };
    CHECK(points(4 / 0.95, 1.0) == 0);
    CHECK(points(4 / 0.95, 0.5) == 0);
    CHECK(points(4 / 0.95, 2.0) == Catch::Approx(15));
    CHECK(points(4 / 0.95, 4.0) == Catch::Approx(30));
    CHECK(points(4 / 0.95, 40.0) == 30);  // ahead of the reference
    CHECK_FALSE(reachable(rule, 1.05));
    CHECK(points(0, 2.0) == 0);  // a reference that was not timed is no scale
}

TEST_CASE("foreign text comes in one line", "[judge][diagnostics]") {
    CHECK(one_line("\x1b[31mred\tgr\xc3\xb6\xc3\x9f") == "\xEF\xBF\xBD[31mred gr\xc3\xb6\xc3\x9f");
    CHECK(one_line("a\nb\n") == "a b");
    CHECK(one_line(std::string(1000, 'x')).size() == 300);
}

TEST_CASE("a cause is one line that steers nothing, whoever has named the file in it", "[judge][words]") {
    RungResult result;
    result.decide({.kind = Verdict::compile_error, .text = "includes \x1b]0;title\a/etc\n01_atomic  OK"});
    CHECK(result.reason() == "includes \xEF\xBF\xBD]0;title\xEF\xBF\xBD/etc 01_atomic  OK");
}

TEST_CASE("where no number tells how far off it is, the cause does", "[judge][words]") {
    Correctness correctness;
    correctness.error = std::numeric_limits<double>::infinity();
    correctness.tolerance = 1;
    CHECK(wrong_outputs(correctness).text == "error inf, allowed 1");
    correctness.cause = "x was never stepped";
    CHECK(wrong_outputs(correctness).text == "x was never stepped");
    CHECK(wrong_outputs(correctness).likely.empty());
    correctness.error = 3;
    CHECK(wrong_outputs(correctness).text == "error 3, allowed 1");
    CHECK(wrong_outputs(correctness).likely == "x was never stepped");
}

TEST_CASE("compiler messages are about the student's file", "[judge][diagnostics]") {
    const std::string text =
        "In file included from /usr/include/c++/12/vector:64,\n"
        "                 from 03_shared_tree.cu:3:\n"
        "/usr/include/c++/12/bits/stl_vector.h:99:3: error: deep inside\n"
        "   99 |   code\n"
        "      |   ^~~~\n"
        "/srv/xyz/03_shared_tree.cu:12:5: error: 'foo' was not declared\n"
        "   12 |     foo();\n"
        "compilation terminated.\n";
    const std::string kept = trim_diagnostics(text, {{"/srv/xyz/", ""}});
    CHECK(kept.find("stl_vector") == std::string::npos);
    CHECK(kept.find("03_shared_tree.cu:12:5: error: 'foo' was not declared\n   12 |     foo();\n") !=
          std::string::npos);
    CHECK(first_error(kept) == "03_shared_tree.cu:12:5: error: 'foo' was not declared");
    CHECK(first_error("in function 'void errors()':\n") == "");

    std::string many;
    for (int i = 1; i <= 1000; ++i) many += "x.cu:" + std::to_string(i) + ":1: error: no\n";
    CHECK(trim_diagnostics(many, {}, 5) ==
          "x.cu:1:1: error: no\nx.cu:2:1: error: no\nx.cu:3:1: error: no\n"
          "x.cu:4:1: error: no\nx.cu:5:1: error: no\n(995 more lines)\n");

    CHECK(messages_about("r.cu:1:1: fatal error: a\n    1 | b\nx.h:1:1: error: c\n    1 | d\n", "r.cu") ==
          "r.cu:1:1: fatal error: a\n    1 | b\n");

    // A template's fault is reported once, without the way to it.
    const std::string once =
        "x.cu: In function 'void kernel(Terms)':\n"
        "x.cu:4:5: warning: always true\n"
        "    4 |     for (;;)\n";
    CHECK(trim_diagnostics(
              once + "x.cu:9:1:   required from here\nx.cu:4:5: warning: always true\n" +
                  "    4 |     for (;;)\nIn function 'void f()',\n    inlined from 'void g()' at x.cu:3:1:\n",
              {}) == once);

    // What the translation of a shared array is called is nobody's business.
    const std::string call = "template<class T> T& simt::shared(SharedKey&, const char*)";
    CHECK(
        trim_diagnostics("x.cu:4:9: error: no matching function for call to "
                         "'shared<simt_type_tile>(simt::SharedKey&, const char [5])'\n"
                         "    4 |     __shared__ float tile[n];\n"
                         "x.cu: In substitution of '" +
                             call +
                             " [with T = float [n]]':\n"
                             "x.cu:4:9: error: 'float [n]' is a variably modified type\n"
                             "x.cu:4:9: error:   trying to instantiate '" +
                             call + "'\n",
                         {}) ==
        "x.cu:4:9: error: the size of `__shared__` array 'tile' is known only at run time; write a constant; "
        "or declare `extern __shared__ float name[];` and give the size in bytes as the launch's third "
        "argument\n    4 |     __shared__ float tile[n];\n");
}

TEST_CASE("names of files that a compiler has read may hold blanks and signs", "[judge][gate]") {
    using Files = std::vector<std::string>;
    CHECK(files_of_rule("rung.o: ./a.cpp \\\n /usr/include/b.h c.h\n") ==
          Files{"./a.cpp", "/usr/include/b.h", "c.h"});
    CHECK(files_of_rule("rung.o: /my\\ courses/\xc3\x9c/a.h b\\#1.h c$$d\\e.h\n") ==
          Files{"/my courses/\xc3\x9c/a.h", "b#1.h", "c$d\\e.h"});
    CHECK(files_of_rule("rung.o: a\\\\\\ b c\\\\ d") == Files{"a\\ b", "c\\", "d"});
    CHECK(files_of_rule("rung.o:\n").empty());
    CHECK(files_of_rule("").empty());
}

TEST_CASE("a case is described with the names of its sizes", "[judge][words]") {
    const auto told = [](const std::string& chapter, const Case& which) -> std::string {
        const std::unique_ptr<Exam> exam =
            exam_of(read_manifest(std::filesystem::path(RUNGS_ROOT) / "chapters" / chapter));
        return describe(*exam, which, exam->make(which));
    };
    CHECK(told("01_reduction", {"sum", {257}, "uniform", 42}) ==
          "sum of 257 floats, kind uniform, seed 0x2a");
    CHECK(told("01_reduction", {"sum", {1}, "uniform", 1}) == "sum of 1 float, kind uniform, seed 0x1");
    CHECK(told("04_red_black", {"red_black", {6, 1}, "random", 1}) ==
          "red_black of floats, n = 6, iterations = 1, kind random, seed 0x1");
    CHECK(told("07_pcg", {"apply_double", {3, 5}, "random", 1}) ==
          "apply_double of doubles, d = 3, side = 5, kind random, seed 0x1");
}

TEST_CASE("an object file that reaches too far is refused", "[judge][gate]") {
    const std::vector<std::string> wanted{"_ZN9reduction3sumEPKf"};
    const auto why = [&](const std::string& nm) { return objection(parse_symbols(nm), wanted); };
    const std::string launcher = "_ZN9reduction3sumEPKf T 0 20\n";
    CHECK(why(launcher) == "");
    CHECK(why(launcher + "_Z6helperv T 0 20\nprintf U\n_ZSt4moveIiE W 0 8\ncount b 0 4\n") == "");
    CHECK(why("").find("does not define reduction::sum(float const*)") != std::string::npos);
    CHECK(why(launcher + "main T 0 10\n").find("main") != std::string::npos);
    CHECK(why(launcher + "clock_gettime T 0 10\n").find("system") != std::string::npos);
    CHECK(why(launcher + "clock_gettime W 0 10\n").find("system") != std::string::npos);
    CHECK(why(launcher + "_Znwm T 0 10\n").find("operator new") != std::string::npos);
    CHECK(why(launcher + "_Znwm W 0 10\n").find("operator new") != std::string::npos);
    CHECK(why(launcher + "cudaMalloc T 0 10\n").find("CUDA") != std::string::npos);
    CHECK(why(launcher + "rungs_entries R 0 10\n").find("grader") != std::string::npos);
    CHECK(why(launcher + "pick i 0 10\n").find("IFUNC") != std::string::npos);
    CHECK(why(launcher + "huge B 0 10000000000\n").find("static data") != std::string::npos);
    // Hooks of check mode must not be replaced, not even for the rung's own file; calling them
    // is the compiler's.
    CHECK(why(launcher + "__tsan_read4 U\n") == "");
    for (const char* type : {"T", "t", "W", "w", "A"}) {
        CHECK(why(launcher + "__tsan_read4 " + type + " 0 10\n").find("check mode") != std::string::npos);
    }
    CHECK(why(launcher + "__ubsan_handle_out_of_bounds t 0 10\n").find("check mode") != std::string::npos);
    CHECK(why(launcher + "_ZN4simt5check5clearEv U\n").find("simt::check::clear()") != std::string::npos);
    CHECK(why(launcher + "__real_cudaMemcpy U\n").find("belongs to the grader") != std::string::npos);
    CHECK(why(launcher + "__wrap_cudaMemcpy U\n").find("belongs to the grader") != std::string::npos);
    CHECK(why(launcher + "_ZN4simt8set_seedEm U\n").find("simt::set_seed") != std::string::npos);
    CHECK(why(launcher + "_ZN4simt8run_gridERKNS_4GridE U\n") == "");
    CHECK(why(launcher + "index D 0 4\n") == "");  // an honest `__device__ int index`

    // Weak and unique definitions take the place of others as well; an inline function's are honest.
    for (const char* type : {"W", "V", "u", "A"}) {
        CHECK(why(launcher + "clock_gettime " + type + " 0 10\n").find("system") != std::string::npos);
        CHECK(why(launcher + "_Znwm " + type + " 0 10\n").find("operator new") != std::string::npos);
    }
    CHECK(why(launcher + "_ZZ6helpervE5table u 0 4\n_ZTI3Sum V 0 10\n_ZN4simt4sizeEv W 0 4\n") == "");
    CHECK(why(launcher + "pad R 0 10000000000\n").find("static data") != std::string::npos);
    const std::set<std::string> ours =
        strong_names(parse_symbols("_ZN4simt8run_gridERKNS_4GridE T 0 9\nsimt_memcpy T 0 9\nlook W 0 9\n"));
    CHECK(ours.size() == 2);
    for (const char* type : {"T", "t", "W", "V", "u", "d"}) {
        const std::string object = launcher + "simt_memcpy " + type + " 0 9\n";
        CHECK(objection(parse_symbols(object), wanted, ours).find("the grader") != std::string::npos);
    }
    CHECK(objection(parse_symbols(launcher + "_ZN4simt8run_gridERKNS_4GridE W 0 9\n"), wanted, ours)
              .find("the CPU backend") != std::string::npos);
    CHECK(objection(parse_symbols(launcher + "simt_memcpy U\n"), wanted, ours) == "");
    // A weak name that nobody defines is a question, which check mode answers in another way.
    for (const char* type : {"w", "v"}) {
        const std::string object = launcher + "simt_memcpy " + type + "\n__gmon_start__ " + type + "\n";
        CHECK(objection(parse_symbols(object), wanted, ours).find("whether there is") != std::string::npos);
        CHECK(objection(parse_symbols(launcher + "rungs_note_scratch w\n"), wanted, {"rungs_note_scratch"}) ==
              "");
    }
    // What brings memory of a GPU's to the host is noted; by other ways it would not be.
    CHECK(why(launcher + "cudaMemcpy U\ncudaMemcpy2DAsync U\ncudaMemcpy2DToArray U\ncudaGraphAddNode U\n"
                         "cudaGraphAddKernelNode U\ncudaMallocAsync U\n") == "");
    for (const char* name :
         {"cudaMemcpy3D", "cudaMemcpyPeerAsync", "cudaMemcpy2DFromArray", "cudaMemcpyAsync_ptsz",
          "cudaMemcpy_ptds", "cudaMemcpyBatchAsync", "cudaGraphAddMemcpyNode1D",
          "cudaGraphMemcpyNodeSetParams", "cudaGetDriverEntryPointByVersion", "cudaMemPoolCreate",
          "cudaMemGetDefaultMemPool", "cudaImportExternalMemory"}) {
        CHECK(why(launcher + name + " U\n").find("copy by cudaMemcpy, ") != std::string::npos);
    }
    for (const char* name : {"cuda", "cudaMemcpy3", "cudaMemPoolCreateX", "cudaxMemcpy_ptds", "udaMemcpy3D"})
        CHECK(why(launcher + name + " U\n") == "");
    CHECK(why(launcher + "memcpy U\nstrlen U\n") == "");
    CHECK(why(launcher + "wmemcpy U\n").find("cannot follow") != std::string::npos);
    // With sizes that are checked: Ubuntu's compilers ask for them, and so may a rung.
    for (const char* name :
         {"__strncpy_chk", "__memcpy_chk", "__memmove_chk", "__memset_chk", "__wmemcpy_chk"})
        CHECK(why(launcher + name + " U\n").find("cannot follow") != std::string::npos);
    for (const char* name : {"__printf_chk", "__longjmp_chk", "_chk", "__chk", "__memcpy"})
        CHECK(why(launcher + name + " U\n") == "");

    const auto object =
        parse_symbols(launcher + "_Z6helperv T 0 20\n_ZSt1fv W 0 1\n_ZTI1A V 0 8\n_ZSt1gv U\n");
    CHECK(private_symbols(object, wanted, false) == std::vector<std::string>{"_Z6helperv"});
    CHECK(private_symbols(object, wanted, true) ==
          std::vector<std::string>{"_Z6helperv", "_ZSt1fv", "_ZTI1A"});
    CHECK(launchers(parse_symbols("_ZN9reduction3sumEPKf U\n_ZN9reduction4sum2EPKf U\n"), "reduction::sum") ==
          wanted);
    CHECK(renamed("_ZN9reduction3sumEPKfNS_4KindES1_", "sum", "shared_tree") ==
          "_ZN9reduction11shared_treeEPKfNS_4KindES1_");
}

TEST_CASE("a name of any length is refused in a sentence", "[judge][gate]") {
    const std::string launcher = "_ZN9reduction3sumEPKf T 0 20\n";
    const auto why = [&](const std::string& name, const char* type) {
        return objection(parse_symbols(launcher + name + " " + type + "\n"), {"_ZN9reduction3sumEPKf"});
    };
    // What takes names apart, here or in a library, goes a step deeper with each of these.
    for (const std::string start : {"cudaMemcpy3D", "_ZN", "_ZNK4simt", "_Z1f", "_ZN4simt", "cudaM", "__"}) {
        for (const char* letter : {"a", "K", "P", "0", "N1a", "1", "I", "S_", "_"}) {
            std::string name = start;
            while (name.size() < 300'000) name += letter;
            CAPTURE(start, letter);
            for (const char* type : {"U", "w", "T 0 9", "W 0 9", "t 0 9", "i 0 9", "?"}) {
                const std::string told = why(name, type);
                CHECK_THAT(told, ContainsSubstring("has a name of 30"));
                CHECK(told.size() < 200);
            }
            CHECK(demangle(name) == name);
        }
    }
    CHECK(why(std::string(4096, 'a'), "U") == "");
    CHECK(why(std::string(4097, 'a'), "U").find("has a name of 4097 bytes, aaa") == 0);
    CHECK(demangle("_Z1f" + std::string(4000, 'P') + "i").size() <= 4006);
}

TEST_CASE("a short name that stands for a long text is left as it is", "[judge]") {
    std::string twice = "_Z1fSt4pairIiiE";  // each part twice what the one before is
    for (const char* const back :
         {"S_",  "S0_", "S1_", "S2_", "S3_", "S4_", "S5_", "S6_", "S7_", "S8_", "S9_", "SA_", "SB_",
          "SC_", "SD_", "SE_", "SF_", "SG_", "SH_", "SI_", "SJ_", "SK_", "SL_", "SM_", "SN_"})
        twice += fmt::format("St4pairI{0}{0}E", back);
    std::string packed = "T_";  // each expansion a hundred times what it holds
    for (int depth = 0; depth < 4; ++depth) packed = "St4pairIDp" + packed + "T_E";
    packed = "_Z1fIJ" + std::string(100, 'i') + "EEvDp" + packed;
    for (const std::string& name : {twice, packed}) CHECK(demangle(name) == name);
    CHECK(demangle("_Z1f" + std::string(1000, 'n')).size() == 2003);
    CHECK(demangle("_ZN9reduction3sumEPKfS1_m") ==
          "reduction::sum(float const*, float const*, unsigned long)");

    // What is asked of names does not depend on it.
    std::string pointers;
    for (int i = 0; i < 40; ++i) pointers += "S1_";
    const std::string launcher = "_ZN9reduction3sumEPKf" + pointers;
    CHECK(launchers(parse_symbols(launcher + " U\n"), "reduction::sum") ==
          std::vector<std::string>{launcher});
    for (const std::string start :
         {"_ZN4simt5check3askEPKf", "_ZNK4simt5check3All3askEPKf", "_ZN4simt8set_seedEPKf"}) {
        const auto object = parse_symbols(start + pointers + " U\n");
        CHECK(objection(object, {}, {}).find("belongs to the grader") != std::string::npos);
    }
    CHECK(objection(parse_symbols("_ZN4simt7checker3askEv U\n"), {}, {}).empty());
}

TEST_CASE("a broken toolchain.json is named, with what to do", "[judge][toolchain]") {
    const TemporaryFolder folder;
    const fs::path file = folder / "toolchain.json";
    const auto complaint = [&](const std::string& text) -> std::string {
        std::ofstream(file) << text;
        try {
            read_toolchain(file);
        } catch (const ToolchainError& error) {
            return error.what();
        }
        return "";
    };
    const std::string head = R"({"root": "/", "build": "/", "cache": "/tmp", )";
    CHECK(complaint("{").find("is no JSON") != std::string::npos);
    CHECK(complaint("[]").find("must be a JSON object") != std::string::npos);
    CHECK(complaint("{}").find("'root' is missing") != std::string::npos);
    CHECK(complaint(head + R"("cpu": 3})").find("'cpu' must be an object") != std::string::npos);
    CHECK(complaint(head + R"("cpu": {"compiler": "/nowhere/g++", "compile": [], "archives": [], "link": [],
                    "describe": "x"}})")
              .find("the compiler '/nowhere/g++' does not exist") != std::string::npos);
    CHECK(complaint(head + R"("cpu": {"compiler": 1}})").find("wrong type") != std::string::npos);
    CHECK(complaint(head + R"("cpu": null, "cuda": null})") == "");
    fs::remove(file);
    try {
        read_toolchain(file);
        FAIL("a missing file was accepted");
    } catch (const ToolchainError& error) {
        CHECK(std::string(error.what()).find("build again") != std::string::npos);
    }
}

TEST_CASE("a submission stands in for exercises, never for given rungs", "[judge][source]") {
    Manifest manifest;
    manifest.chapter = "01_reduction";
    RungEntry exercise, given;
    exercise.name = "03_shared_tree";
    exercise.points = 10;
    given.name = "01_atomic";
    CHECK(source_of(manifest, exercise, "/r", Whose::student) ==
          "/r/chapters/01_reduction/03_shared_tree.cu");
    CHECK(source_of(manifest, exercise, "/r", Whose::solution) ==
          "/r/solutions/01_reduction/03_shared_tree.cu");
    CHECK(source_of(manifest, exercise, "/r", Whose::student, "/nowhere/s") ==
          "/nowhere/s/03_shared_tree.cu");
    CHECK(source_of(manifest, given, "/r", Whose::solution, "/nowhere/s") ==
          "/r/chapters/01_reduction/01_atomic.cu");
}
