// Which hand-ins look alike: a class with copies of every kind, and what is found of them.
#include <cstdlib>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "class/export.hpp"
#include "class/similarity.hpp"
#include "judge/build/toolchain.hpp"
#include "made_class.hpp"
#include "rungs/catch.hpp"

using namespace rungs;
using namespace rungs::classroom;
using namespace rungs::test;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

constexpr const char* original =
    R"(// My tree: each warp folds its 32 values first, then warp 0 folds what the eight warps have left over.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

static constexpr unsigned threads_per_block = 256;
static constexpr unsigned warps_per_block = threads_per_block / 32;

/// Folds a row of shared memory whose length is a power of two, all threads of the block taking part.
__device__ void fold_row(float* row, unsigned length) {
    while (length > 1) {
        length >>= 1;
        __syncthreads();
        if (threadIdx.x < length) row[threadIdx.x] = row[threadIdx.x] + row[threadIdx.x + length];
    }
    __syncthreads();
}

/// The terms that one block is responsible for, a stride of one block apart, in a register of each thread.
template <class Terms>
__device__ float own_share(Terms terms, std::size_t n) {
    float collected = 0.0f;
    const std::size_t begin = std::size_t{blockIdx.x} * threads_per_block * 4;
    for (unsigned piece = 0; piece < 4; ++piece) {
        const std::size_t where = begin + piece * threads_per_block + threadIdx.x;
        if (where < n) collected += terms(where);
    }
    return collected;
}

template <class Terms>
__global__ void shared_tree_kernel(Terms terms, float* sum, std::size_t n) {
    __shared__ float row[threads_per_block];
    row[threadIdx.x] = own_share(terms, n);
    fold_row(row, threads_per_block);
    if (threadIdx.x == 0 && row[0] != 0.0f) atomicAdd(sum, row[0]);
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof *sum, stream));
    if (n == 0) return;
    const std::size_t per_block = std::size_t{threads_per_block} * 4;
    const auto grid = static_cast<unsigned>((n + per_block - 1) / per_block);
    shared_tree_kernel<<<grid, threads_per_block, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Products{v, w}, sum, n, stream);
}
)";

std::string replaced_all(std::string text, const std::string& what, const std::string& with) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
        text.replace(at, what.size(), with);
    return text;
}

/// The same with other names, and without a comment.
std::string renamed() {
    std::string text = original;
    for (const auto& [what, with] : {std::pair("warps_per_block", "W"),
                                     {"threads_per_block", "T"},
                                     {"fold_row", "reduceShared"},
                                     {"own_share", "gather"},
                                     {"collected", "acc"},
                                     {"piece", "k"},
                                     {"where", "idx"},
                                     {"length", "len"},
                                     {"per_block", "chunk"},
                                     {"row", "buf"}})
        text = replaced_all(text, what, with);
    for (std::size_t at = 0; (at = text.find("//")) != std::string::npos;)
        text.erase(at, text.find('\n', at) - at);
    return text;
}

/// The same with two functions in the other order.
std::string reordered() {
    const std::string text = original;
    const std::size_t one = text.find("/// Folds"), other = text.find("/// The terms that"),
                      rest = text.find("template <class Terms>\n__global__");
    return text.substr(0, one) + text.substr(other, rest - other) + text.substr(one, other - one) +
           text.substr(rest);
}

std::string attack(const char* name) {
    return TemporaryFolder::content_of(fs::path(RUNGS_ROOT) / "autograder/attacks" /
                                       (std::string(name) + ".cu"));
}

struct CopiedClass : MadeClass {
    CopiedClass() {
        const fs::path root = RUNGS_ROOT;
        const auto chapter = fs::path("01_reduction") / "03_shared_tree.cu";
        put("ada", original);
        put("cleo", replaced_all(original, " && row[0] != 0.0f", ""));
        put("dan", renamed());
        put("eve", reordered());
        put("fay", TemporaryFolder::content_of(root / "solutions" / chapter) + "\n// mine\n");
        put("gus", attack("156_honest_butterfly"));
        put("hal", attack("279_honest_two_dimensions"));
        put("jon", replaced_all(original, "    ", "\t") + "\n");
        folder.write("hand-ins/ben/2/01_reduction/03_shared_tree.cu",
                     TemporaryFolder::content_of(root / "chapters" / chapter));
    }

    void put(const std::string& student, const std::string& text) const {
        folder.write("hand-ins/" + student + "/1/01_reduction/03_shared_tree.cu", text);
    }

    std::vector<RungSimilarity> compared() const {
        judge::Toolchain toolchain = judge::read_toolchain(fs::path(RUNGS_BUILD) / "toolchain.json");
        toolchain.cache = folder / "cache";
        return find_similar(read_gradebook(path()), toolchain, nullptr, [](const AskedRung&) {});
    }
};

bool has_tester() { return std::system("sim_c++ -v >/dev/null 2>&1 && sim_text -v >/dev/null 2>&1") == 0; }

}  // namespace

TEST_CASE("copies are found whatever was done to them, and work of one's own is not", "[class][similar]") {
    if (!has_tester()) RUNGS_SKIP("the package similarity-tester is not installed");
    const CopiedClass made;
    const std::vector<RungSimilarity> rungs = made.compared();
    REQUIRE(rungs.size() == 2);
    CHECK(rungs[1].hand_ins == 0);
    CHECK(rungs[1].pairs.empty());
    const RungSimilarity& found = rungs[0];
    CHECK(found.hand_ins == 7);
    CHECK(found.untouched == 1);
    CHECK(found.more == 0);
    // But for blanks.
    CHECK(found.equal == std::vector<std::vector<std::string>>{{"ada", "jon"}});
    std::map<std::pair<std::string, std::string>, const AlikePair*> pairs;
    for (const AlikePair& pair : found.pairs) {
        CAPTURE(pair.student, pair.other, pair.words, pair.structure);
        CHECK(pairs.emplace(std::pair(pair.student, pair.other), &pair).second);
        CHECK(!pair.lines.empty());
    }
    for (const auto& [one, other] : {std::pair("ada", "cleo"),
                                     {"ada", "dan"},
                                     {"ada", "eve"},
                                     {"cleo", "dan"},
                                     {"cleo", "eve"},
                                     {"dan", "eve"},
                                     {"fay", ""}}) {
        CAPTURE(one, other);
        REQUIRE(pairs.count({one, other}) == 1);
        CHECK(pairs[{one, other}]->structure >= 0.9);
    }
    CHECK(pairs.size() == 7);
    CHECK(pairs[{"ada", "cleo"}]->words >= 0.9);
    CHECK(pairs[{"ada", "eve"}]->words >= 0.9);
    CHECK(pairs[{"fay", ""}]->words >= 0.9);
    CHECK(pairs[{"ada", "dan"}]->words < 0.6);  // names are words
    CHECK(found.usual_structure < 0.7);
    CHECK(found.usual_words < 0.6);
    // Two functions changed places: lines of one file are others of the other.
    const std::vector<AlikeLines>& lines = pairs[{"ada", "eve"}]->lines;
    CHECK(lines.size() >= 2);
    CHECK(std::any_of(lines.begin(), lines.end(),
                      [](const AlikeLines& one) { return one.first != one.other_first; }));

    const nlohmann::ordered_json json = to_json(rungs);
    CHECK(json == to_json(made.compared()));
    CHECK(json["rungs"][0]["pairs"].back().contains("words"));
    const std::string page = class_page(read_gradebook(made.path()), "1", json);
    CHECK_THAT(page, ContainsSubstring("evidence for a talk") && ContainsSubstring("the solution") &&
                         ContainsSubstring("the same text"));
    CHECK_THAT(class_page(read_gradebook(made.path()), "1", nullptr),
               !ContainsSubstring("evidence for a talk"));
    CHECK_THROWS_AS(class_page(read_gradebook(made.path()), "1", nlohmann::ordered_json{{"rungs", 5}}),
                    ClassError);
}

TEST_CASE("without the similarity tester, the error says what to install", "[class][similar]") {
    const CopiedClass made;
    const std::string before = std::getenv("PATH");
    setenv("PATH", made.path().c_str(), 1);
    CHECK_THROWS_WITH(made.compared(), ContainsSubstring("similarity-tester"));
    setenv("PATH", before.c_str(), 1);
}
