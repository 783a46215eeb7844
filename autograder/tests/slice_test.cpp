// Which of the expensive cases a run of the tests tries.

#include <algorithm>
#include <string>
#include <vector>

#include "cases/slice.hpp"
#include "rungs/catch.hpp"

namespace rungs {
namespace {

std::vector<Slice::Case> made(int count) {
    std::vector<Slice::Case> cases;
    for (int i = 0; i < count; ++i)
        cases.push_back({"case " + std::to_string(i), {"folder/" + std::to_string(i)}});
    return cases;
}

std::ptrdiff_t tried(const std::vector<bool>& chosen) {
    return std::count(chosen.begin(), chosen.end(), true);
}

TEST_CASE("without a slice all cases are tried", "[slice]") {
    CHECK(tried(Slice().choose("cases", made(100))) == 100);
    CHECK(Slice().choose("cases", {}).empty());
}

TEST_CASE("a slice is an eighth, the same for the same key, and at least one case", "[slice]") {
    const Slice slice("0123abcd", {});
    const auto chosen = slice.choose("cases", made(800));
    CHECK(tried(chosen) > 60);
    CHECK(tried(chosen) < 140);
    CHECK(chosen == Slice("0123abcd", {}).choose("cases", made(800)));
    CHECK(chosen != slice.choose("other cases", made(800)));
    for (int count : {1, 2, 7}) CHECK(tried(slice.choose("few", made(count))) >= 1);
    CHECK(slice.choose("none", {}).empty());
}

TEST_CASE("many keys try every case", "[slice]") {
    std::vector<bool> once(200);
    for (int key = 0; key < 60; ++key) {
        const auto chosen = Slice("key " + std::to_string(key), {}).choose("cases", made(200));
        for (std::size_t i = 0; i < once.size(); ++i) once[i] = once[i] || chosen[i];
    }
    CHECK(tried(once) == 200);
}

TEST_CASE("a case whose input has changed is tried, but not more of them than another eighth", "[slice]") {
    const auto cases = made(160);
    const auto before = Slice("a key", {}).choose("cases", cases);
    const std::size_t left_out = std::find(before.begin(), before.end(), false) - before.begin();
    const std::string name = std::to_string(left_out);
    CHECK(Slice("a key", {"folder/" + name}).choose("cases", cases)[left_out]);
    CHECK(Slice("a key", {"folder/" + name + "/file.cu"}).choose("cases", cases)[left_out]);
    CHECK(Slice("a key", {"case " + name}).choose("cases", cases)[left_out]);
    CHECK_FALSE(Slice("a key", {"folder/" + name + "0"}).choose("cases", cases)[left_out]);
    std::set<std::string> all;
    for (int i = 0; i < 160; ++i) all.insert("folder/" + std::to_string(i));
    CHECK(tried(Slice("a key", all).choose("cases", cases)) <= tried(before) + 20);
}

}  // namespace
}  // namespace rungs
