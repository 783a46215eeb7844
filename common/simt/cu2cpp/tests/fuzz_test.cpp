/// @file
/// Damaged sources: whatever is in a file, the translator ends, keeps lines, and does not crash. Seeds
/// are fixed, so a failure comes back.

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "cu2cpp/lexer.h"
#include "cu2cpp/tests/tools.h"
#include "testing/catch.h"

using namespace cu2cpp_tools;

namespace {

std::vector<std::string> corpus() {
    std::vector<std::string> texts;
    const std::filesystem::path folder = SIMT_SAMPLES;
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());  // the same order everywhere
    for (const auto& path : paths) {
        std::ifstream stream(path, std::ios::binary);
        texts.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    }
    return texts;
}

/// What must hold for every text.
void check(const std::string& text) {
    cu2cpp::TranslateOptions options;
    options.loops_over_lanes = true;
    const cu2cpp::Translation result = cu2cpp::translate(text, "fuzz.cu", options);
    const std::string out = cu2cpp::apply(text, result.edits);
    if (count_lines(out) != count_lines(text)) {
        CAPTURE(text);
        CHECK(count_lines(out) == count_lines(text));
    }
    if (!result.diagnostics.empty()) return;
    // No launch is left, other than in text that an #if may leave out.
    for (const cu2cpp::Token& token : cu2cpp::lex(out).tokens) {
        if (token.conditional || !(token.is("<<<") || token.is("__shared__"))) continue;
        CAPTURE(text, out);
        FAIL("untranslated " << token.text);
    }
}

}  // namespace

TEST_CASE("Damaged sources never break the translator", "[simt][cu2cpp][fuzz]") {
    static const std::vector<std::string> pieces = {
        "<<<",        ">>>",         "<",           ">",
        "(",          ")",           "{",           "}",
        "[",          "]",           ";",           ",",
        "\"",         "'",           "/*",          "*/",
        "//",         "\\\n",        "\n",          "#if 0\n",
        "#if A\n",    "\n#else\n",   "\n#endif\n",  "\n#define M(a) ",
        "##",         "R\"x(",       ")x\"",        "__shared__ ",
        "extern ",    "__device__ ", "__global__ ", "__constant__ ",
        "template <", "operator",    "::",          "asm(\"a.b\")",
        "=",          "struct ",     "\r\n",        "\xFF",
        "_Pragma(",   "NULL",        "texture<"};
    std::mt19937 random(20240607);
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % (n == 0 ? 1 : n)); };
    const std::vector<std::string> texts = corpus();
    REQUIRE(texts.size() >= 3);
    for (int round = 0; round < 3000; ++round) {
        std::string text = texts[below(texts.size())];
        if (below(4) == 0) {  // a part of it, so that beginnings and ends are met in the middle of things
            const std::size_t from = below(text.size());
            text = text.substr(from, below(text.size() - from) + 1);
        }
        for (std::size_t k = below(8) + 1; k > 0; --k) {
            const std::size_t at = below(text.size());
            switch (below(4)) {
                case 0:
                    text.erase(at, below(12) + 1);
                    break;
                case 1:
                    text.insert(at, pieces[below(pieces.size())]);
                    break;
                case 2:
                    text.insert(at, text.substr(below(text.size()), below(40)));
                    break;
                default:
                    if (!text.empty()) text[at] = static_cast<char>(1 + below(255));
            }
        }
        check(text);
    }
}

TEST_CASE("Random runs of words never break the translator", "[simt][cu2cpp][fuzz]") {
    static const std::vector<std::string> words = {"<<<",        ">",
                                                   ">",          "<",
                                                   "(",          ")",
                                                   "{",          "}",
                                                   "[",          "]",
                                                   ";",          ",",
                                                   "k",          "T",
                                                   "1",          "\"s\"",
                                                   "__shared__", "__device__",
                                                   "__global__", "__constant__",
                                                   "extern",     "static",
                                                   "template",   "::",
                                                   "=",          "*",
                                                   "struct",     "operator",
                                                   ":",          "#define X ",
                                                   "\n",         "\\\n",
                                                   "alignas(8)", "cudaLaunchKernel",
                                                   "(void*)",    "typename",
                                                   "decltype",   "...",
                                                   "##",         "namespace",
                                                   "friend",     "->",
                                                   "enum",       "asm",
                                                   "if"};
    std::mt19937 random(7);
    for (int round = 0; round < 5000; ++round) {
        std::string text;
        for (std::size_t k = random() % 60; k > 0; --k) text += words[random() % words.size()] + " ";
        check(text);
    }
    SUCCEED("check() fails where it has to");
}

TEST_CASE("The time grows with the size, not with its square", "[simt][cu2cpp][fuzz]") {
    const auto repeated = [](const std::string& piece, std::size_t bytes) {
        std::string text;
        while (text.size() < bytes) text += piece;
        return text;
    };
    // The processor's time, so that it does not matter what else the machine does.
    const auto seconds = [&](const std::string& text) {
        const std::clock_t start = std::clock();
        check(text);
        return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    };
    const std::size_t size = 1U << 18U;
    for (const std::string piece : {"k<<<1, 2>>>(a);",
                                    "k<",
                                    "k<<<",
                                    ">",
                                    "(",
                                    "{",
                                    "k<k<<<",
                                    "__shared__ int a;",
                                    "__shared__ ",
                                    "#if A\n{\n",
                                    "#if A\n{\n#else\n{\n#endif\n",
                                    "#define A __shared__\n",
                                    "a ",
                                    "'",
                                    "\"",
                                    "/* */",
                                    "\\\n",
                                    "template <",
                                    "f(a)<b>(",
                                    "struct a ",
                                    "__device__ int a;",
                                    "a<b,",
                                    "__device__ ( ",
                                    "[] __device__ ",
                                    "asm(\"a.b\");",
                                    "cudaLaunchKernel(",
                                    ") ",
                                    "a::",
                                    "k<<<(",
                                    "{}",
                                    "= {",
                                    "int a[] = {1, 2};",
                                    "}"}) {
        CAPTURE(piece);
        const std::string small = repeated(piece, size / 8);
        const double once = std::min(seconds(small), seconds(small));
        // 8 times as much is 8 times the time, and 64 times if it grew with the square; what is too short to
        // be measured is not slow. A second look is for a machine that was slow at the first.
        const std::string large = repeated(piece, size);
        const double most = 24 * std::max(once, 0.01);
        CHECK((seconds(large) < most || seconds(large) < most));
    }
}
