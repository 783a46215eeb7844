// No rung may be another program in check mode: what its compiler sees is the same there.

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "judge/build/build.hpp"
#include "judge/build/preprocessed.hpp"
#include "judge_fixture.hpp"
#include "modes_of_build.hpp"
#include "program_fixture.hpp"
#include "rungs/catch.hpp"

namespace rungs::judge {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;

Toolchain toolchain_under_test() { return read_toolchain(fs::path(RUNGS_BUILD) / "toolchain.json"); }

/// All headers that stand in for the toolkit's, as lines of a source. (surface_functions.h and the
/// like are among them.)
std::string all_headers() {
    const fs::path folder = fs::path(RUNGS_ROOT) / "common/simt/include";
    std::string lines;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        const std::string name = entry.path().lexically_relative(folder).string();
        if (entry.is_regular_file() && name.rfind("simt/", 0) != 0) lines += "#include <" + name + ">\n";
    }
    return lines;
}

std::string preprocessed(const BackendTools& tools, const std::string& options, const std::string& source) {
    const TemporaryFolder folder;
    std::string command = tools.compiler + " " + options;
    for (const std::string& flag : tools.compile) command += " '" + flag + "'";
    command += " -w -x c++ -E '" + folder.write("source.cpp", source).string() + "'";
    std::FILE* pipe = popen(command.c_str(), "re");
    REQUIRE(pipe != nullptr);
    std::string text;
    for (char buffer[65536]; std::fgets(buffer, sizeof buffer, pipe);) text += buffer;
    REQUIRE(pclose(pipe) == 0);
    const std::string mine = folder.path().string();
    for (std::size_t at = 0; (at = text.find(mine, at)) != std::string::npos;) text.erase(at, mine.size());
    return text;
}

/// What is in files of ours, and in others. Neither what only check mode includes first, whose
/// declarations are those of the C library.
std::pair<std::string, std::string> ours_and_others(const std::string& text) {
    std::string ours, others;
    std::string* to = &others;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind("# ", 0) == 0) {
            static std::string dropped;
            const bool is_ours = line.find("/common/simt/include/") != std::string::npos;
            to = line.find("/simt/intercept.h") != std::string::npos ? &dropped : is_ours ? &ours : &others;
        } else if (line.find_first_not_of(" \t") != std::string::npos) {
            *to += line + '\n';
        }
    }
    return {ours, others};
}

/// Letters, digits and single signs of `text`, apart.
std::vector<std::string> tokens_of(const std::string& text) {
    std::vector<std::string> tokens;
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end = i + 1;
        if (is_word(text[i])) {
            while (end < text.size() && is_word(text[end])) ++end;
        } else if (text[i] == '"' || text[i] == '\'') {
            while (end < text.size() && text[end] != text[i]) end += text[end] == '\\' ? 2 : 1;
            ++end;
        }
        if (!std::isspace(static_cast<unsigned char>(text[i]))) tokens.push_back(text.substr(i, end - i));
        i = end;
    }
    return tokens;
}

/// The declarations of `text`, a line each, without the bodies of functions.
std::vector<std::string> declarations(const std::string& text) {
    const std::vector<std::string> tokens = tokens_of(text);
    std::vector<std::string> found;
    std::string now;
    bool calls = false, has_scope = false;  // it has had '(', and before that a word that opens a scope
    int angles = 0;                         // of template<...>
    const auto end_of_declaration = [&] {
        // Says that the checks do not look into a function, and nothing of what it is.
        constexpr const char* unseen =
            "__attribute__ ( ( no_sanitize ( \"thread\" ) , no_sanitize_coverage ) ) ";
        if (const std::size_t at = now.find(unseen); at != std::string::npos)
            now.erase(at, std::string(unseen).size());
        if (!now.empty()) found.push_back(std::exchange(now, {}));
        calls = has_scope = false;
        angles = 0;
    };
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const std::string& token = tokens[i];
        if (angles > 0 || (token == "<" && i > 0 && tokens[i - 1] == "template")) {
            if (token == "<") ++angles;
            if (token == ">") --angles;
        } else if (token == "__attribute__") {  // its parentheses are no function's
            int depth = 0;
            do {
                now += tokens[i] + ' ';
                ++i;
                if (tokens[i] == "(") ++depth;
                if (tokens[i] == ")") --depth;
            } while (depth > 0);
            now += ") ";
            continue;
        } else if (token == "(") {
            calls = true;
        } else if (!calls && (token == "namespace" || token == "class" || token == "struct" ||
                              token == "union" || token == "enum" || token == "extern")) {
            has_scope = true;
        }
        if (token == "{" && calls && !has_scope) {
            for (int depth = 0; i < tokens.size(); ++i) {
                if (tokens[i] == "{") ++depth;
                if (tokens[i] == "}" && --depth == 0) break;
            }
            now += "{ }";
            end_of_declaration();
            continue;
        }
        now += token + ' ';
        if (token == ";" || token == "{" || token == "}") end_of_declaration();
    }
    end_of_declaration();
    return found;
}

}  // namespace

TEST_CASE("declarations are found without the bodies of functions", "[judge][gate]") {
    CHECK(declarations(
              "namespace a { template <class T> inline T f(T x) noexcept { if (x) { g(); } return x; } }") ==
          declarations("namespace a { template <class T> inline T f(T x) noexcept { return h(x); } }"));
    CHECK(declarations("struct S { S(int x) : x_(x) { f(); } int x_ = 1; };") ==
          declarations("struct S { S(int x) : x_(x) {} int x_ = 1; };"));
    CHECK(declarations("struct __attribute__((aligned(8))) S { int x; };") !=
          declarations("struct __attribute__((aligned(8))) S { int x, y; };"));
    CHECK(declarations("void f() { }") != declarations("void f() noexcept { }"));
    CHECK(declarations("extern const int a;") != declarations("extern int a;"));
    CHECK(declarations("template <int n> constexpr int v = n;").size() == 1);
}

TEST_CASE("a compiler sees the same of all headers in both modes, except the bodies of functions",
          "[judge][gate]") {
    if (const std::string why = why_no_check_mode(); !why.empty()) RUNGS_SKIP(why);
    if (const std::string why = why_no_preludes(); !why.empty()) RUNGS_SKIP(why);
    const Toolchain toolchain = toolchain_under_test();
    const BackendTools* const run = toolchain.tools(Backend::cpu, Mode::run);
    const BackendTools* const check = toolchain.tools(Backend::cpu, Mode::check);
    REQUIRE((run && check));
    REQUIRE_FALSE(run->preludes.empty());
    const std::string source = "#include <cuda_runtime.h>\n" + all_headers();
    const auto [ours, others] = ours_and_others(preprocessed(*run, "", source));
    const auto [checked_ours, checked_others] = ours_and_others(preprocessed(*check, "", source));
    CHECK(others.size() > 100'000);
    CHECK((others == checked_others));  // too long to be shown
    const std::vector<std::string> one = declarations(ours), other = declarations(checked_ours);
    CHECK(one.size() > 1000);
    for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i) REQUIRE(one[i] == other[i]);
    CHECK(one.size() == other.size());
}

// There the judge compares all of a rung's text, for a rung can lead headers astray.
TEST_CASE("what a rung includes behind the prelude is the same text in both modes", "[judge][gate]") {
    if (const std::string why = why_no_check_mode(); !why.empty()) RUNGS_SKIP(why);
    if (const std::string why = why_no_preludes(); !why.empty()) RUNGS_SKIP(why);
    const Toolchain toolchain = toolchain_under_test();
    std::string seen[2];
    for (const Mode mode : {Mode::run, Mode::check}) {
        const BackendTools* const tools = toolchain.tools(Backend::cpu, mode);
        REQUIRE(tools);
        REQUIRE_FALSE(tools->preludes.empty());
        const std::string prelude = tools->least_prelude();
        std::string text = preprocessed(*tools, "-fpch-preprocess -include " + prelude, all_headers());
        const std::size_t at = text.find(prelude);
        REQUIRE(at != std::string::npos);
        text.erase(at, prelude.size());
        seen[mode == Mode::check] = std::move(text);
    }
    CHECK(seen[0].size() > 1000);
    const auto [one, other] = std::mismatch(seen[0].begin(), seen[0].end(), seen[1].begin(), seen[1].end());
    CAPTURE(std::string(one, std::min(one + 200, seen[0].end())));
    CHECK((one == seen[0].end() && other == seen[1].end()));
}

TEST_CASE("two summaries tell where a rung differs", "[judge][gate]") {
    const std::vector<std::string> own{"a.cu"};
    const std::string text = "# 1 \"a.h\"\nint b;\n# 1 \"./a.cu\"\nint a;\n\nint c = \"x\";\n";
    const std::string other = "# 1 \"a.h\"\nint d;\n# 1 \"./a.cu\"\nint a;\n\nint c = \"x\";\n";
    const auto compared = [&](const std::string& one, const std::string& two, bool whole) {
        return difference(summary(one, own, whole), summary(two, own, whole));
    };
    CHECK_FALSE(compared(text, text, true).found);
    CHECK_FALSE(compared(text, other, false).found);
    CHECK(compared(text, other, true).found);
    CHECK(compared(text, other, true).line == 0);
    const std::string changed = replaced(text, "\"x\"", "x");
    CHECK(compared(text, changed, false).line == 3);
    CHECK(compared(changed, text, true).line == 3);
    CHECK(compared(text, text + "int e;\n", false).line == 4);
    CHECK(compared(text + "int e;\n", text, false).line == 4);
}

TEST_CASE("a text that could name a macro is known", "[judge][gate]") {
    const std::set<std::string, std::less<>> macros{"EDOM", "errno"};
    for (const char* text : {"#ifdef EDOM\n", "errno", "a=EDOM;", "#ifdef ED\\\nOM\n",
                             "#define J(a, b) a##b\n", "a %:%: b", "(errno)"})
        CHECK(could_name(text, macros));
    for (const char* text : {"", "EDOMS", "AEDOM", "1EDOM", "#define S(a) #a\n", "errno_t x;"})
        CHECK_FALSE(could_name(text, macros));
}

TEST_CASE("the compiler takes a rung for the text that was looked at", "[judge][words]") {
    Court court;
    const std::string solution = read_rung(court.solution());
    // What a larger prelude defines is not there before the rung includes it. Which macros the system's
    // headers bring along differs from system to system.
    const BackendTools& tools = *court.options.toolchain.tools(Backend::cpu);
    const auto macros_of = [&](const std::string& includes) {
        std::vector<std::string> line{tools.compiler};
        line.insert(line.end(), tools.compile.begin(), tools.compile.end());
        const fs::path file = court.folder.write("asks.cpp", includes);
        const std::string answer = file.string() + ".macros";
        line.insert(line.end(), {"-w", "-dM", "-E", "-o", answer, file.string()});
        REQUIRE(test::Process(line, {}).finish().status == 0);
        std::istringstream lines(TemporaryFolder::content_of(answer));
        std::vector<std::string> names;
        for (std::string define, name, rest; lines >> define >> name && std::getline(lines, rest);)
            names.push_back(name.substr(0, name.find('(')));
        return names;
    };
    const std::string least = "#include \"" + tools.least_prelude() + "\"\n",
                      more = "#include <algorithm>\n#include <stdexcept>\n";
    const std::vector<std::string> there = macros_of(least), all = macros_of(least + more);
    std::set<std::string> seen(there.begin(), there.end());
    std::vector<std::string> asked;
    for (const std::string& name : all)
        if (name[0] != '_' && seen.insert(name).second) asked.push_back(name);
    std::string asks;
    if (!asked.empty()) {
        const std::string macro = asked[asked.size() / 2];
        asks = "#ifdef " + macro + "\n#error there\n#endif\n" + more + "#ifndef " + macro +
               "\n#error missing\n#endif\n";
    }
    // Nor does it change from one run of the compiler to the next.
    const std::string constant =
        "static_assert(sizeof __DATE__ == 12 && __TIME__[0] == '0' && __TIME__[6] == '0' && __TIME__[7] == "
        "'0');\n";
    for (const std::string& first : {asks, constant}) {
        const Build build = build_worker(
            court.trial(court.folder.write("03_shared_tree.cu", first + solution)), Backend::cpu);
        CHECK(build.reason == "");
    }
}

TEST_CASE("a rung that is another program in check mode is refused, whichever mode comes first",
          "[judge][words]") {
    if (const std::string why = why_no_check_mode(); !why.empty()) RUNGS_SKIP(why);
    Court court;
    REQUIRE(court.options.toolchain.tools(Backend::cpu, Mode::check));
    const auto both = [&](const std::string& text, Mode first, Mode second) {
        const fs::path source = court.folder.write("03_shared_tree.cu", text);
        const auto built = [&](Mode mode) { return build_worker(court.trial(source), Backend::cpu, mode); };
        const Build one = built(first), two = built(second);
        CHECK(one.reason == "");
        return two;
    };
    const std::string solution = read_rung(court.solution());
    int number = 0;
    for (const Mode first : {Mode::run, Mode::check}) {
        const Mode second = first == Mode::run ? Mode::check : Mode::run;
        const std::string mine = fmt::format("constexpr int number{} = {};\n", getpid(), ++number);
        CHECK(both(mine + solution, first, second).reason == "");
        const Build build = both(mine +
                                     "#define J(a, b) a##b\n#define T_(...) #__VA_ARGS__\n#define T(...) "
                                     "T_(__VA_ARGS__)\nconst char* watched = T(J(SIMT_CH, ECK));\n" +
                                     solution,
                                 first, second);
        CHECK(build.hides);
        CHECK_THAT(build.reason, ContainsSubstring("03_shared_tree.cu:5: this line"));
    }
}

}  // namespace rungs::judge
