// Mistakes that the judge makes in a reference, and how it recognises one by the values that it gives.
#include <algorithm>
#include <sstream>

#include "judge/likely/mutants.hpp"
#include "judge_fixture.hpp"

using namespace rungs;
using namespace rungs::judge;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

const std::string reference = R"(// A comment that says a < b.

#include "topic.cuh"

static int given(int a) { return a + 1; }

// TODO 3.1: the kernel.
// BEGIN SOLUTION
template <class T>
__global__ void kernel(const T* v, const T* w, T* sum, int n) {
    __shared__ T part[256 + 1];
    const int i = blockIdx.x * 256 + threadIdx.x;
    T mine = 0;
    for (int k = 0; k < n; ++k) mine += v[k] - T(2) * w[k];
    if (i > 0 && i < n) part[i] = mine;
    __syncthreads();
    const auto fold = [&](int a, int b) { part[a] = part[a] + part[b]; };
    fold(i, i + 1);
    sum[i] = part[i];
}
// END SOLUTION

void topic::launcher(const float* v, const float* w, float* sum, int n, cudaStream_t stream) {
    // TODO 3.2: the launch.
    // BEGIN SOLUTION
    kernel<float><<<(n + 255) / 256, 256, 0, stream>>>(v, w, sum, n);
    CUDA_CHECK(cudaGetLastError());
    // END SOLUTION
}
)";

Schemata mutated(const std::set<std::size_t>& left_out = {}) {
    return mutate(reference, {"launcher"}, left_out);
}

/// The mutant that says this; it must be there.
std::size_t number_of(const Schemata& schemata, const std::string& what) {
    for (std::size_t i = 0; i < schemata.mutants.size(); ++i)
        if (schemata.mutants[i].what.find(what) != std::string::npos) return i + 1;
    std::string all;
    for (const Mutant& mutant : schemata.mutants) all += mutant.what + "\n";
    FAIL("no mutant says '" << what << "':\n" << all);
    return 0;
}

std::size_t lines_of(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("a reference has the mistakes that people make", "[likely]") {
    const Schemata schemata = mutated();
    for (const char* what :
         {"the sign of `T(2) * w[k]` is reversed", "the factor `T(2)` is missing",
          "`T(2) * w[k]` is not subtracted", "`mine` is replaced, where the new value should be combined",
          "`mine` is an integer", "`<` in `k < n` is `<=`", "the condition `i > 0` is missing",
          "a barrier, `__syncthreads()`, is missing", "`w` is used where `v` should be",
          "`threadIdx.y` is used for `threadIdx.x`", "the arguments `v` and `w` of the kernel are exchanged",
          "`255` is not added", "the division by `256` is missing", "the launch of `kernel` is missing",
          "the number 0 in `i > 0 && i < n` is 1"}) {
        INFO(what);
        CHECK(number_of(schemata, what) > 0);
    }
    const Mutant& factor = schemata.mutants[number_of(schemata, "the factor `T(2)` is missing") - 1];
    CHECK(factor.where == "TODO 3.1");
    CHECK(factor.line == 14);
    CHECK(reference.substr(factor.begin, factor.end - factor.begin) == "T(2) *");
    CHECK(schemata.mutants[number_of(schemata, "the launch of") - 1].where == "TODO 3.2");
}

TEST_CASE("what is given, constant or declared has no mistakes", "[likely]") {
    const Schemata schemata = mutated();
    CHECK_THAT(schemata.text, ContainsSubstring("static int given(int a) { return a + 1; }") &&
                                  ContainsSubstring("__shared__ T part[256 + 1];") &&
                                  ContainsSubstring("CUDA_CHECK(cudaGetLastError());") &&
                                  ContainsSubstring("// A comment that says a < b."));
    for (const Mutant& mutant : schemata.mutants) {
        INFO(mutant.what);
        CHECK(mutant.line >= 12);
        CHECK_FALSE(mutant.what.empty());
        CHECK_FALSE(mutant.where.empty());
    }
}

TEST_CASE("each launcher counts its calls, and no other function does", "[likely]") {
    const std::string text = mutated().text, counts = "const RungsCall rungs_call;";
    const std::size_t at = text.find(counts);
    REQUIRE(at != std::string::npos);
    CHECK(at > text.find("void topic::launcher("));
    CHECK(text.find(counts, at + 1) == std::string::npos);
}

TEST_CASE("each line of a mutated reference has its suspects, and those may be left out", "[likely]") {
    const Schemata all = mutated();
    REQUIRE(all.suspects.size() == lines_of(all.text));
    const std::size_t sign = number_of(all, "the sign of `T(2) * w[k]` is reversed");
    std::istringstream lines(all.text);
    std::string line;
    std::size_t own = 0;
    for (std::size_t i = 0; std::getline(lines, line); ++i) {
        if (line.find("== " + std::to_string(sign) + " ?") == std::string::npos) continue;
        CHECK(all.suspects[i] == std::vector<std::size_t>{sign});
        ++own;
    }
    CHECK(own == 1);
    const Schemata fewer = mutated({sign});
    CHECK(fewer.mutants.size() == all.mutants.size());
    CHECK(fewer.text.find("== " + std::to_string(sign) + " ?") == std::string::npos);
    CHECK(fewer.suspects.size() < all.suspects.size());
    CHECK(mutate("void f() {}\n", {"f"}).mutants.empty());
    CHECK_NOTHROW(mutate("// BEGIN SOLUTION\n)) ( <<< { \" \n// END SOLUTION\n", {"f"}));
}

TEST_CASE("wrong values are recognised as those of a mistake in the reference", "[likely][judge]") {
    struct {
        const char *chapter, *rung, *from, *to, *told;
    } const mistakes[] = {
        {"04_red_black", "05_colour_split", "own[c] = (b[c] + sum)", "own[c] = (b[c] - sum)",
         "the sign of `sum` is reversed (TODO 5.1)"},
        {"07_pcg", "09_smoother", "(r[i] + around) / (2 * d)", "(r[i] + around) / d",
         "the factor `2` is missing (TODO 9.1)"},
    };
    for (const auto& mistake : mistakes) {
        Court court(mistake.rung, mistake.chapter);
        court.options.checks = false;
        court.options.name_mistakes = true;
        const std::string right = TemporaryFolder::content_of(court.solution());
        const RungResult result = court.judge_text(replaced(right, mistake.from, mistake.to));
        INFO(mistake.rung << ": " << result.reason());
        CHECK(result.verdict == Verdict::wrong);
        CHECK_THAT(result.correctness.cause,
                   ContainsSubstring("the same values come out if ") && ContainsSubstring(mistake.told));
    }
}
